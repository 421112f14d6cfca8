// The view of a heap dump: its holders, types, dominator tree, and paths to objects.
import { el } from './dom.mjs';
import { countOf, formatBytes, formatCount, formatMoment, formatNanos, formatPercent, generationName } from './format.mjs';
import { isOfFramework } from './frames.mjs';
import { callTreeTable } from './stacks-view.mjs';
import { flameGraph } from './flame.mjs';
import { TreeBuilder } from './calls.mjs';
import { facts, table } from './table.mjs';

const HEAP_TABS = [
  ['types', 'Types'],
  ['tree', 'What keeps it alive'],
  ['statics', 'Static variables'],
  ['modules', 'Modules'],
  ['generations', 'Roots and generations'],
];
const bytesColumn = (title, key, most = null) => ({
  title,
  number: true,
  value: (row) => row[key],
  text: (row) => formatBytes(row[key]),
  bar: most ? (row) => row[key] / (most || 1) : null,
});
const countColumn = (title, key) => ({ title, number: true, value: (row) => row[key], text: (row) => formatCount(row[key]) });

// Returns the name of a type without namespaces, which fits into a rectangle.
function withoutNamespaces(name) {
  let depth = 0;
  const dots = [];
  for (let at = 1; at < name.length; at += 1) {
    if (name[at] === '<' || name[at] === '[') depth += 1;
    else if (name[at] === '>' || name[at] === ']') depth -= 1;
    else if (name[at] === '.' && depth === 0) dots.push(at);
  }
  return dots.length > 1 ? name.slice(dots[dots.length - 2] + 1) : name;
}

// Returns the dominator tree as the tree of a flame graph, whose widths are retained bytes.
function dominatorTree(heap) {
  const builder = new TreeBuilder();
  const names = [];
  const own = new Set();
  const numbers = new Map();
  const numberOf = ({ kind, name, module: module_ }) => {
    const text = kind === 'static' ? `static ${name}` : name;
    if (!numbers.has(text)) {
      numbers.set(text, names.length);
      if (kind === 'type' && !isOfFramework(module_ || name)) own.add(names.length);
      names.push(text);
    }
    return numbers.get(text);
  };
  const open = heap.tree.children.map((child) => [0, child]);
  builder.add(0, Math.max(0, heap.report.reachable_bytes - heap.tree.children.reduce((sum, child) => sum + child.retained_bytes, 0)), 0);
  while (open.length) {
    const [parent, node] = open.pop();
    const child = builder.child(parent, numberOf(node));
    // Objects without a node of their own count for the node that keeps them alive.
    const below = node.children.reduce((sum, kept) => [sum[0] + kept.retained_bytes, sum[1] + kept.retained_count], [0, 0]);
    builder.add(child, Math.max(0, node.retained_bytes - below[0]), Math.max(0, node.retained_count - below[1]));
    for (const kept of node.children) open.push([child, kept]);
  }
  return builder.finish({
    texts: (frame) => names[frame],
    shortOf: (frame) => withoutNamespaces(names[frame]),
    sortOf: () => 'type',
    moduleOf: () => '',
    isOwn: (frame) => own.has(frame),
    unit: 'bytes',
    thing: 'objects',
  });
}

// Returns the number of all rows of a list, of which the page may have only the first.
const allOf = (trace, how, rows) => trace.thinned.find((row) => row.name === 'heap' && row.how === how)?.all ?? rows.length;

// Returns the number of a list's rows, and what the page leaves out: `3,000 of 3,449, the others are smaller`.
const keptOf = (rows, all) =>
  rows.length < all ? `${formatCount(rows.length)} of ${formatCount(all)}, the others are smaller` : formatCount(all);

function typesOfHeap({ report, paths }, all, route, go) {
  const most = report.types[0]?.bytes;
  const chosen = report.types.find((row) => row.name === route.heap_type) ?? null;
  const columns = [
    { title: 'Type', value: (row) => row.name },
    countColumn('Objects', 'count'),
    bytesColumn('Bytes', 'bytes', most),
    { title: 'Of all', number: true, value: (row) => row.percent, text: (row) => formatPercent(row.percent) },
    bytesColumn('Keep alive', 'retained_bytes'),
    bytesColumn('Largest', 'largest_bytes'),
    { title: 'Module', value: (row) => row.module },
  ];
  return [
    chosen &&
      el(
        'section',
        { class: 'card', id: 'heap-type', 'aria-label': chosen.name },
        el('h3', null, `How objects of ${chosen.name} are held`),
        pathsOf(paths[chosen.name]),
        el('button', { type: 'button', onclick: () => go({ heap_type: null }, true) }, 'Close'),
      ),
    table({
      caption: `Types (${keptOf(report.types, all)})`,
      columns,
      rows: report.types,
      onrow: (row) => go({ heap_type: row.name }, true),
      sort: { column: 2, down: true },
    }),
  ];
}

// Returns the shortest paths from roots to objects of a type, most bytes first.
function pathsOf(groups) {
  if (!groups?.length)
    return el('p', { class: 'none' }, 'The page has the paths of the largest types. Those of others: nettrace heap paths.');
  return el(
    'ul',
    { class: 'paths' },
    groups.map((group) => {
      const kept = group.retained_bytes > group.bytes ? `, ${formatBytes(group.retained_bytes)} with all that they keep alive` : '';
      return el(
        'li',
        null,
        el('b', null, `${countOf(group.count, 'object')}, ${formatBytes(group.bytes)}${kept}: `),
        [
          `${group.root_kind.replaceAll('_', ' ')}${group.root_name ? ` ${group.root_name}` : ''}`,
          ...group.steps.map((step) => `${step.type_name}${step.is_repeated ? ' (several in a row)' : ''}`),
        ].join(' → '),
        group.steps_left_out > 0 && ` (${formatCount(group.steps_left_out)} steps left out)`,
      );
    }),
  );
}

export function heapView(trace, route, range, extent, go) {
  const heap = trace.reports.heap;
  if (!heap)
    return el(
      'p',
      { class: 'none' },
      'No heap dump in this trace. Record one with nettrace heap --process-id PID -o FILE; ' +
        'of a trace from standard input the page has none.',
    );
  const { report } = heap;
  const types = allOf(trace, 'first_types', report.types);
  const tab = HEAP_TABS.some(([key]) => key === route.heap_tab) ? route.heap_tab : 'types';
  const panel = el('div', { id: 'heappanel', role: 'tabpanel', 'aria-labelledby': `heaptab-${tab}` });
  const dump = report.dumps.find((row) => row.index === report.dump);
  if (tab === 'types') panel.append(...typesOfHeap(heap, types, route, go).filter(Boolean));
  else if (tab === 'tree') {
    const tree = dominatorTree(heap);
    const graph = flameGraph(tree, { upright: false, search: '', label: 'What keeps what alive' });
    panel.append(
      el('p', null, 'Each type below what would have to go for it to be collected, from the roots down. A width is what would be freed.'),
      graph.box,
      callTreeTable(tree, tree.total[0] || 1, 'What keeps what alive', null, ['Keeps alive', 'Of reachable', 'By itself', 'Objects']),
    );
  } else if (tab === 'statics')
    panel.append(
      table({
        caption: `Static variables (${keptOf(report.statics, allOf(trace, 'first_statics', report.statics))})`,
        isNear: true,
        columns: [
          { title: 'Variable', value: (row) => row.name },
          { title: 'Type of its object', value: (row) => row.type_name },
          bytesColumn('Keeps alive', 'retained_bytes', report.statics[0]?.retained_bytes),
          bytesColumn('Bytes', 'bytes'),
          { title: 'Of a thread', value: (row) => (row.is_thread_static ? 'yes' : '') },
        ],
        rows: report.statics,
      }),
    );
  else if (tab === 'modules')
    panel.append(
      table({
        caption: `Modules (${formatCount(report.modules.length)})`,
        columns: [
          { title: 'Module', value: (row) => row.module || '(unknown)' },
          countColumn('Types', 'types'),
          countColumn('Objects', 'count'),
          bytesColumn('Bytes', 'bytes', report.modules[0]?.bytes),
          bytesColumn('Keep alive', 'retained_bytes'),
        ],
        rows: report.modules,
      }),
    );
  else {
    panel.append(
      table({
        caption: 'Roots',
        columns: [
          { title: 'Kind', value: (row) => row.kind.replaceAll('_', ' ') },
          countColumn('Roots', 'count'),
          countColumn('Objects', 'objects'),
          bytesColumn('Bytes', 'bytes'),
          bytesColumn('Keep alive', 'retained_bytes'),
        ],
        rows: report.roots,
      }),
      table({
        caption: 'Generations',
        columns: [
          { title: 'Generation', value: (row) => generationName(row.generation) },
          countColumn('Objects', 'count'),
          bytesColumn('Bytes', 'bytes'),
          bytesColumn('Reachable', 'reachable_bytes'),
        ],
        rows: report.generations,
      }),
    );
  }
  return el(
    'div',
    null,
    el('h2', null, 'Heap'),
    range &&
      el(
        'p',
        { class: 'notice', role: 'note' },
        `The dump was taken at ${dump ? formatMoment(dump.start_ns) : 'one moment'}: the range does not change it.`,
      ),
    facts([
      ['Objects', formatCount(report.objects), 'heap-objects', report.objects],
      ['Bytes', formatBytes(report.bytes), 'heap-bytes', report.bytes],
      [
        'Reachable',
        `${formatBytes(report.reachable_bytes)}, ${countOf(report.reachable_objects, 'object')}`,
        'heap-reachable',
        report.reachable_bytes,
      ],
      ['Types', formatCount(types), 'heap-types', types],
      dump && [
        'Taken',
        `${formatMoment(dump.start_ns)}${report.dumps.length > 1 ? `, the ${dump.index}. of ${report.dumps.length} dumps` : ''}`,
      ],
      report.pause_ns !== null && ['All threads stopped', formatNanos(report.pause_ns)],
      dump && !dump.complete && ['Complete', 'no: objects or references are missing'],
    ]),
    el(
      'div',
      { class: 'controls' },
      el(
        'div',
        { role: 'tablist', 'aria-label': 'How the heap is shown' },
        HEAP_TABS.map(([key, text]) =>
          el(
            'button',
            {
              type: 'button',
              role: 'tab',
              id: `heaptab-${key}`,
              'aria-selected': String(tab === key),
              'aria-controls': 'heappanel',
              onclick: () => go({ heap_tab: key }, true),
            },
            text,
          ),
        ),
      ),
    ),
    panel,
  );
}
