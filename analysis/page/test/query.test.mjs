// Sums, layouts and addresses: without a browser. `node --test analysis/page/test/`
import assert from 'node:assert/strict';
import { gzipSync, deflateRawSync } from 'node:zlib';
import test from 'node:test';
import { readColumn, readTrace } from '../src/data.mjs';
import { gunzip } from '../src/inflate.mjs';
import { layoutTree, shortName } from '../src/flame.mjs';
import { formatBytes, formatCount, formatNanos } from '../src/format.mjs';
import { bins, callTree, lowerBound, methodSums, sandwich, stacksOverTime } from '../src/query.mjs';
import { DEFAULTS, formatRoute, parseRoute, rangeOf } from '../src/route.mjs';

// main → a → b, main → a → a, main → c
function trace() {
  const columns = {
    'nodes.parent': [0, 1, 2, 2, 1], 'nodes.frame': [0, 1, 2, 1, 3],
    'cpu.t': [0, 10, 20, 30, 40], 'cpu.weight': [10, 10, 10, 10, 5], 'cpu.thread': [0, 0, 0, 1, 0], 'cpu.node': [3, 3, 4, 5, 2], 'cpu.state': [0, 0, 1, 0, 2],
  };
  return { kinds: { cpu: { unit: 'nanoseconds', labels: [] } }, frames: { text: ['main', 'a', 'b', 'c'] }, column: (name) => Float64Array.from(columns[name] || []) };
}

test('self and total of methods count recursion once, and waits are left out', () => {
  const tree = callTree(trace(), 'cpu');
  assert.equal(tree.total[0], 40);
  assert.equal(tree.waitingWeight, 5);
  const rows = Object.fromEntries(methodSums(tree).map((row) => [tree.texts(row.frame), [row.self, row.total, row.totalSamples]]));
  assert.deepEqual(rows, { main: [0, 40, 4], a: [10, 30, 3], b: [20, 20, 2], c: [10, 10, 1] });
});

test('a range, a thread and states leave out what is not theirs', () => {
  const total = (options) => callTree(trace(), 'cpu', options).total[0];
  assert.equal(total({ range: { from: 10, to: 30 } }), 20);
  assert.equal(total({ thread: 1 }), 10);
  assert.equal(total({ states: 'waiting' }), 5);
  assert.equal(total({ states: 'all' }), 45);
});

test('joined recursion is one frame', () => {
  const tree = callTree(trace(), 'cpu', { joinRecursion: true });
  const a = methodSums(tree).find((row) => tree.texts(row.frame) === 'a');
  assert.deepEqual([a.self, a.total], [10, 30]);
  assert.equal(tree.parent.length, 5);
});

test('callers and callees begin at the method and have its total', () => {
  const tree = callTree(trace(), 'cpu');
  const { callers, callees } = sandwich(tree, 1);
  assert.equal(callers.total[0], 30);
  assert.equal(callees.total[0], 30);
  assert.equal(callers.texts(callers.frame[callers.children[callers.children[0][0]][0]]), 'main');
});

test('rectangles of a tree lie inside their parents, heaviest first', () => {
  const tree = callTree(trace(), 'cpu');
  const rectangles = layoutTree(tree, 0, 400);
  const of = (node) => rectangles.find((rectangle) => rectangle.node === node);
  for (const { node, x, width } of rectangles.filter((one) => one.node !== 0)) {
    const parent = of(tree.parent[node]);
    assert.ok(parent.x <= x && x + width <= parent.x + parent.width + 1e-9);
  }
  assert.equal(of(0).width, 400);
});

test('stacks over time join frames that stay', () => {
  const rectangles = stacksOverTime(trace(), 'cpu', 0);
  const main = rectangles.filter((rectangle) => rectangle.frame === 0);
  assert.deepEqual(main.map((rectangle) => [rectangle.from, rectangle.to]), [[0, 30]]);
});

test('what lasts is spread over the parts that it lies in', () => {
  assert.deepEqual([...bins([0, 5], [10, 1], { from: 0, to: 10 }, 5, { lasts: true })], [2, 2, 3, 2, 2]);
  assert.deepEqual([...bins([0, 5], [10, 1], { from: 0, to: 10 }, 2)], [10, 1]);
  assert.equal(lowerBound([1, 3, 3, 7], 3), 1);
});

test('gzip is unpacked without the help of the browser', () => {
  const text = Buffer.from(Array.from({ length: 60000 }, (_, index) => `${index * 7919 % 1000} line\n`).join(''));
  for (const level of [0, 1, 9]) assert.deepEqual(Buffer.from(gunzip(new Uint8Array(gzipSync(text, { level })))), text);
  const fixed = gzipSync(Buffer.from('aaaaabbbbb'), { strategy: 4 });
  assert.equal(Buffer.from(gunzip(new Uint8Array(fixed))).toString(), 'aaaaabbbbb');
  assert.ok(deflateRawSync(text).length > 0);
});

test('columns are numbers of seven bits a byte, with signs where they are steps', () => {
  const bytes = Uint8Array.from([0, 127, 0x80, 1, 10, 3]);
  assert.deepEqual([...readColumn(bytes, { at: 0, count: 3, steps: false })], [0, 127, 128]);
  assert.deepEqual([...readColumn(bytes, { at: 4, count: 2, steps: true })], [5, 3]);
  const document_ = Buffer.from(JSON.stringify({ columns: { a: { at: 0, bytes: 1, count: 1, steps: false } } }));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(document_.length);
  assert.deepEqual([...readTrace(new Uint8Array(Buffer.concat([head, document_, Buffer.from([7])]))).column('a')], [7]);
});

test('an address says what is shown, and what is wrong in it is left out', () => {
  const route = { ...DEFAULTS, view: 'cpu', from: 5, to: 9, focus: 'a!<b>&c', recursion: true };
  assert.deepEqual(parseRoute(formatRoute(route)), route);
  assert.deepEqual(parseRoute('#view=gc&from=x&nonsense=1&to=7'), { ...DEFAULTS, view: 'gc', to: 7 });
  assert.equal(parseRoute('#from=9&to=5').from, null);
  assert.deepEqual(rangeOf({ from: null, to: 7 }, { from: 0, to: 10 }), { from: 0, to: 7 });
});

test('names and numbers are short', () => {
  assert.equal(shortName('App!My.Space.Type<System.Int32>.Run(int,string)'), 'Type<System.Int32>.Run');
  assert.equal(shortName('App!My.Type..ctor()'), 'Type..ctor');
  assert.equal(formatCount(1234567), '1,234,567');
  assert.equal(formatNanos(1234567), '1.235 ms');
  assert.equal(formatBytes(1536), '1.5 KiB');
});
