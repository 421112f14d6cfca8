// Opens a heap snapshot with memlab; prints as JSON what it finds:
//   node memlab.cjs FILE.heapsnapshot
'use strict';
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const { getFullHeapFromFile } = require(path.join(home, 'node_modules/@memlab/heap-analysis'));

async function main(file) {
  // It shows its progress on standard output.
  const write = process.stdout.write;
  process.stdout.write = () => true;
  const heap = await getFullHeapFromFile(file).finally(() => { process.stdout.write = write; });
  const seen = { nodes: heap.nodes.length, edges: heap.edges.length, types: {}, retained: {} };
  heap.nodes.forEach((node) => {
    if (node.type !== 'object') return;
    const sums = seen.types[node.name] ||= [0, 0];
    sums[0] += 1;
    sums[1] += node.self_size;
    seen.retained[node.id] = node.retainedSize;
  });
  console.log(JSON.stringify(seen));
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
