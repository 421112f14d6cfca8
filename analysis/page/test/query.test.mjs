// Tests of sums, layouts and addresses without a browser: `node --test analysis/page/test/*.test.mjs`
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { readColumn, readTrace } from '../src/data.mjs';
import { el, entitle, fit, printable, say, visible, widthOf, write } from '../src/dom.mjs';
import { layoutTree } from '../src/flame.mjs';
import { distributionsOf } from '../src/counters-view.mjs';
import { added, formatBytes, formatCount, formatNanos } from '../src/format.mjs';
import { counterLane } from '../src/lanes.mjs';
import { callTree, methodSums, sandwich, stacksOverTime } from '../src/calls.mjs';
import { ownFrame, ownText, shortText } from '../src/frames.mjs';
import { faultsOf, lockGroups, thinnedOf, waitSums } from '../src/query.mjs';
import { lowerBound } from '../src/ranges.mjs';
import { DEFAULTS, countersOf, formatRoute, parseRoute, rangeOf } from '../src/route.mjs';
import { begunIn, bins, blockedBy, countedRange, heldUpBy, placesOf, rangeSums, thrownIn, triggerPlaces } from '../src/sums.mjs';

// Returns frames with these texts and the columns of `more`.
function framesWith(text, more = {}) {
  const columns = (names, value) => Object.fromEntries(names.map((name) => [name, text.map(() => value)]));
  const texts = columns(['module', 'namespace', 'type', 'method'], '');
  const flags = columns(['kind', 'framework', 'carrier', 'machine', 'async', 'nobody'], 0);
  return { text, ...texts, ...flags, named: text.map(() => 1), ...more };
}

// Returns a trace with the stacks main → a → b, main → a → a and main → c.
function trace() {
  const columns = {
    'nodes.parent': [0, 1, 2, 2, 1],
    'nodes.frame': [0, 1, 2, 1, 3],
    'cpu.t': [0, 10, 20, 30, 40],
    'cpu.weight': [10, 10, 10, 10, 5],
    'cpu.thread': [0, 0, 0, 1, 0],
    'cpu.node': [3, 3, 4, 5, 2],
    'cpu.state': [0, 0, 1, 0, 2],
  };
  return {
    kinds: { cpu: { unit: 'nanoseconds', labels: [] } },
    frames: framesWith(['main', 'a', 'b', 'c']),
    has: (name) => name in columns,
    column: (name) => Float64Array.from(columns[name] || []),
  };
}

test('self and total of methods count recursion once, and waits are left out', () => {
  const tree = callTree(trace(), 'cpu');
  assert.equal(tree.total[0], 40);
  assert.equal(tree.waitingWeight, 5);
  const rows = Object.fromEntries(methodSums(tree).map((row) => [tree.texts(row.frame), [row.self, row.total, row.totalSamples]]));
  assert.deepEqual(rows, { main: [0, 40, 4], a: [10, 30, 3], b: [20, 20, 2], c: [10, 10, 1] });
});

test('a call tree has only the samples of its range, thread and states', () => {
  const total = (options) => callTree(trace(), 'cpu', options).total[0];
  assert.equal(total({ range: { from: 10, to: 30 } }), 20);
  assert.equal(total({ thread: 1 }), 10);
  assert.equal(total({ states: 'waiting' }), 5);
  assert.equal(total({ states: 'all' }), 45);
});

test('transforms fold, group and leave out frames, and never lose weight', () => {
  const whole = { ...trace(), threads: [] };
  whole.frames = { ...whole.frames, framework: [0, 1, 0, 0], module: ['m', 'f', 'm', 'm'] };
  const totals = (transforms, more = {}) => {
    const tree = callTree(whole, 'cpu', { transforms, ...more });
    return [tree.total[0], Object.fromEntries(methodSums(tree).map((row) => [tree.texts(row.frame), [row.self, row.total]]))];
  };
  assert.deepEqual(totals({ mine: true }), [40, { main: [10, 40], b: [20, 20], c: [10, 10] }]);
  assert.deepEqual(totals({ mine: true, own: '^[ab]$' }), [40, { b: [20, 20], a: [10, 30], '(not my code)': [10, 10] }]);
  assert.deepEqual(totals({ fold: '^[bc]$' }), [40, { a: [30, 30], main: [10, 40] }]);
  assert.deepEqual(totals({ group: '^[ab]$=[both]' }), [40, { '[both]': [30, 30], c: [10, 10], main: [0, 40] }]);
  assert.deepEqual(totals({ group: 'module' })[1], { m: [30, 40], f: [10, 30] });
  assert.deepEqual(totals({ exclude: '^c$' })[0], 30);
  assert.deepEqual(totals({ include: '^c$' }), [10, { c: [10, 10], main: [0, 10] }]);
  const inverted = callTree(whole, 'cpu', { inverted: true });
  assert.deepEqual(
    inverted.children[0].map((node) => [inverted.texts(inverted.frame[node]), inverted.total[node]]),
    [
      ['b', 20],
      ['a', 10],
      ['c', 10],
    ],
  );
});

test('an async method and what starts and resumes it are one frame', () => {
  const columns = {
    'nodes.parent': [0, 1, 2, 0, 4],
    'nodes.frame': [0, 1, 2, 1, 2],
    'cpu.t': [0, 1],
    'cpu.weight': [1, 2],
    'cpu.thread': [0, 0],
    'cpu.node': [3, 5],
    'cpu.state': [0, 0],
  };
  const whole = {
    kinds: { cpu: { unit: 'nanoseconds', labels: [] } },
    threads: [],
    frames: framesWith(['app!P.Run(int)', 'lib!AsyncMethodBuilderCore.Start()', 'app!P.Run()'], {
      carrier: [0, 1, 0],
      machine: [0, 0, 1],
      async: [1, 0, 1],
      framework: [0, 1, 0],
      module: ['app', 'lib', 'app'],
    }),
    column: (name) => Float64Array.from(columns[name] || []),
  };
  const tree = callTree(whole, 'cpu', { transforms: { async: true } });
  assert.deepEqual(
    methodSums(tree).map((row) => [tree.texts(row.frame), row.self, row.total]),
    [['app!P.Run()', 3, 3]],
  );
});

test('a state machine is joined with the method whose number it has', () => {
  const columns = {
    'nodes.parent': [0, 1, 2],
    'nodes.frame': [0, 1, 2],
    'cpu.t': [0],
    'cpu.weight': [1],
    'cpu.thread': [0],
    'cpu.node': [3],
    'cpu.state': [0],
  };
  const named = (text, machine, async) => ({
    kinds: { cpu: { unit: 'nanoseconds', labels: [] } },
    threads: [],
    frames: framesWith(text, { machine, async }),
    column: (name) => Float64Array.from(columns[name] || []),
  });
  const shown = (text, machine, async) =>
    methodSums(callTree(named(text, machine, async), 'cpu', { transforms: { async: true } }))
      .map((row) => row.frame)
      .sort();
  assert.deepEqual(shown(['app!P.Main()', 'app!P.All(int)', 'app!P.All()'], [0, 0, 0], [0, 1, 1]), [0, 1, 2]);
  assert.deepEqual(shown(['app!P.Main()', 'app!P<__Canon>.Read<T>(Stream)', 'app!P.Read()'], [0, 0, 1], [0, 1, 1]), [0, 2]);
});

test('collections belong to what triggered them, and waits to who had the lock', () => {
  const columns = {
    'nodes.parent': [0, 1],
    'nodes.frame': [0, 1],
    'triggers.t': [10, 20, 30],
    'triggers.node': [2, 1, 2],
    'span.Contention.start': [5, 9],
    'span.Contention.nanos': [100, 50],
    'span.Contention.thread': [0, 0],
    'span.Contention.detail': [0, 0],
    'span.Contention.key': [0, 0],
    'span.Contention.name': [0, 0],
    'span.Contention.owner': [8, 8],
    'cpu.t': [0, 10, 20],
    'cpu.weight': [7, 7, 7],
    'cpu.thread': [0, 1, 0],
    'cpu.for': [1, 0, 2],
  };
  const collections = [
    [11, 4, 0],
    [21, 8, 2],
    [31, 16, 1],
  ].map(([start_ns, pause_ns, generation]) => ({ start_ns, pause_ns, generation }));
  const whole = {
    kinds: { cpu: { unit: 'nanoseconds', labels: [], waits_for: ['task', 'lock'] } },
    threads: [
      { id: 7, label: 'thread 7' },
      { id: 8, label: 'thread 8' },
    ],
    reports: { gc: { collections } },
    frames: framesWith(['main', 'add']),
    texts: { spans: [''] },
    column: (name) => Float64Array.from(columns[name] || []),
  };
  const places = (range) => triggerPlaces(whole, range).map((row) => [row.own, row.count, row.pause, row.generations]);
  assert.deepEqual(places(null), [
    ['add', 2, 20, '0, 1'],
    ['main', 1, 8, '2'],
  ]);
  assert.deepEqual(places({ from: 15, to: 25 }), [['main', 1, 8, '2']]);
  assert.deepEqual(
    heldUpBy(whole, null).map((row) => [row.thread, row.label, row.count, row.total, row.max]),
    [[0, 'thread 8', 2, 150, 100]],
  );
  const managed = (number) => ({
    ...whole,
    threads: [
      { id: 8, label: 'thread 8', managed: 3 },
      { id: 9, label: 'thread 9', managed: number },
    ],
  });
  assert.deepEqual(
    heldUpBy(managed(8), null).map((row) => [row.owner, row.label]),
    [[1, 'thread 9']],
    '.NET 11 names managed threads',
  );
  assert.deepEqual(
    heldUpBy(managed(0), null).map((row) => [row.owner, row.label]),
    [[null, 'managed thread 8']],
  );
  assert.deepEqual(
    blockedBy(whole, { from: 0, to: 20 }).map((row) => [row.word, row.weight, row.samples]),
    [['task', 7, 1]],
  );
});

test('joined recursion is one frame', () => {
  const tree = callTree(trace(), 'cpu', { transforms: { recursion: true } });
  const a = methodSums(tree).find((row) => tree.texts(row.frame) === 'a');
  assert.deepEqual([a.self, a.total], [10, 30]);
  assert.equal(tree.parent.length, 5);
});

test('by thread, each thread is an outermost frame, and the sum stays', () => {
  const named = { ...trace(), threads: [{ label: 'thread 7' }, { label: 'thread 8' }] };
  const tree = callTree(named, 'cpu', { byThread: true });
  const own = tree.children[0].map((node) => [
    tree.texts(tree.frame[node]),
    tree.sortOf(tree.frame[node]),
    tree.total[node],
    tree.children[node].length,
  ]);
  assert.deepEqual(own, [
    ['thread 7', 'thread', 30, 1],
    ['thread 8', 'thread', 10, 1],
  ]);
  assert.equal(tree.total[0], callTree(trace(), 'cpu').total[0]);
  assert.equal(tree.sortOf(tree.frame[tree.children[tree.children[0][0]][0]]), 'method');
});

test('a place is the innermost call outside of the threading library', () => {
  const texts = ['CoreLib!System.Threading.Monitor.Enter(object)', 'app!P.Run(System.Threading.Lock)', 'lib!AsyncMethodBuilder.Start()'];
  const whole = {
    frames: framesWith(texts, { namespace: ['System.Threading', '', 'System.Runtime.CompilerServices'], carrier: [0, 0, 1] }),
  };
  assert.equal(ownFrame(whole, [0, 2, 1]), 1, 'what a frame is called with does not matter');
  assert.equal(ownFrame(whole, [0]), 0);
  assert.equal(ownFrame(whole, []), null);
  assert.equal(ownText(whole, [texts[0], texts[1]]), texts[1]);
  assert.equal(ownText(whole, [texts[0], 'app!Other()']), 'app!Other()', 'which the page does not have');
  assert.equal(ownText(whole, []), '');
  const places = placesOf(trace(), 'cpu', { from: 0, to: 35 });
  assert.deepEqual(
    places.map((place) => [place.own, place.weight, place.count, place.max]),
    [
      ['b', 20, 2, 10],
      ['a', 10, 1, 10],
      ['c', 10, 1, 10],
    ],
  );
});

test('a range has the sums of its rows', () => {
  const whole = { ...trace(), reports: {}, texts: { activities: [] } };
  const sums = rangeSums(whole, { from: 10, to: 41 });
  assert.deepEqual([sums.cpu, sums.waiting, sums.alloc], [{ weight: 30, count: 3 }, { weight: 5, count: 1 }, null]);
  assert.deepEqual([sums.gc.count, sums.contention.count, sums.jit.nanos], [0, 0, 0]);
});

test('the address lists the counters of the time line by number', () => {
  assert.deepEqual(countersOf(parseRoute('#view=counters&counters=3,5,x,,7')), [3, 5, 7]);
  assert.deepEqual(countersOf(parseRoute('')), []);
  assert.equal(formatRoute({ ...DEFAULTS, counters: '3,5' }), '#view=overview&counters=3%2C5');
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
  assert.deepEqual(
    main.map((rectangle) => [rectangle.from, rectangle.to]),
    [[0, 30]],
  );
});

test('a duration is spread over its bins', () => {
  assert.deepEqual([...bins([0, 5], [10, 1], { from: 0, to: 10 }, 5, { lasts: true })], [2, 2, 3, 2, 2]);
  assert.deepEqual([...bins([0, 5], [10, 1], { from: 0, to: 10 }, 2)], [10, 1]);
  assert.equal(lowerBound([1, 3, 3, 7], 3), 1);
});

test('a column is variable-length integers, with signs where they are steps', () => {
  const bytes = Uint8Array.from([0, 127, 0x80, 1, 10, 3]);
  assert.deepEqual([...readColumn(bytes, { at: 0, count: 3, steps: false })], [0, 127, 128]);
  assert.deepEqual([...readColumn(bytes, { at: 4, count: 2, steps: true })], [5, 3]);
  const document_ = Buffer.from(JSON.stringify({ columns: { a: { at: 0, bytes: 1, count: 1, steps: false } } }));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(document_.length);
  assert.deepEqual([...readTrace(new Uint8Array(Buffer.concat([head, document_, Buffer.from([7])]))).column('a')], [7]);
});

test('a route survives its address, and bad values of an address are ignored', () => {
  const route = { ...DEFAULTS, view: 'cpu', from: 5, to: 9, focus: 'a!<b>&c', recursion: true };
  assert.deepEqual(parseRoute(formatRoute(route)), route);
  assert.deepEqual(parseRoute('#view=gc&from=x&nonsense=1&to=7'), { ...DEFAULTS, view: 'gc', to: 7 });
  assert.equal(parseRoute('#from=9&to=5').from, null);
  assert.deepEqual(rangeOf({ from: null, to: 7 }, { from: 0, to: 10 }), { from: 0, to: 7 });
});

test('names and numbers are short', () => {
  const texts = ['App!My.Space.Type<System.Int32>.Run(int,string)', 'libc.so.6!read', '(recording)'];
  const frames = framesWith(texts, { type: ['Type<System.Int32>', '', ''], method: ['Run', 'read', '(recording)'] });
  assert.deepEqual(
    [0, 1, 2].map((frame) => shortText(frames, frame)),
    ['Type<System.Int32>.Run', 'read', '(recording)'],
  );
  assert.equal(formatCount(1234567), '1,234,567');
  assert.equal(formatNanos(1234567), '1.235 ms');
  assert.equal(formatNanos(93952), '93.952 µs');
  assert.equal(formatNanos(59999999999), '1 min 0.000 s');
  assert.equal(formatNanos(-3723004000000), '-1 h 2 min 3.004 s');
  assert.equal(formatBytes(1536), '1.5 KiB');
});

// Returns a trace with three waits for two locks, of which the page has only the longest two.
function waits() {
  const columns = {
    'span.Contention.start': [10, 50],
    'span.Contention.nanos': [100, 90],
    'span.Contention.thread': [0, 1],
    'span.Contention.name': [0, 0],
    'span.Contention.key': [1, 1],
    'span.Contention.detail': [0, 0],
  };
  const lock = (lock_id, count, total_ns, max_ns) => ({ lock_id, waits: { count, total_ns, max_ns } });
  return {
    reports: {
      contention: { waits: { count: 3, total_ns: 191, p99_ns: 99, max_ns: 100 }, locks: [lock('0xa', 2, 190, 100), lock('0xb', 1, 1, 1)] },
    },
    texts: { spans: ['wait', '0xa'] },
    thinned: [
      { part: 'spans', name: 'contention', how: 'longest', kept: 2, left_out: 1 },
      { part: 'samples', name: 'contention', how: 'added_up', bin_nanos: 1000000, left_out: 0 },
    ],
    column: (name) => Float64Array.from(columns[name] || []),
  };
}

test('waits of the whole trace are those of the report, and a range has notes on what is left out', () => {
  const trace = waits();
  const sums = (range) => {
    const { count, total, p99, max } = waitSums(trace, 'contention', 'Contention', range);
    return { count, total, p99, max };
  };
  assert.deepEqual(sums(null), { count: 3, total: 191, p99: 99, max: 100 });
  assert.deepEqual(sums({ from: 0, to: 20 }), { count: 1, total: 100, p99: 100, max: 100 });
  const locks = (range) => lockGroups(trace, range).map((row) => [row.lock, row.count, row.total, row.max, row.threads.size]);
  assert.deepEqual(locks(null), [
    ['0xa', 2, 190, 100, 2],
    ['0xb', 1, 1, 1, 0],
  ]);
  assert.deepEqual(locks({ from: 0, to: 20 }), [['0xa', 1, 100, 100, 1]]);
  assert.deepEqual(thinnedOf(trace, 'spans', 'contention'), [trace.thinned[0]]);
  assert.deepEqual(thinnedOf(trace, 'spans', 'jit'), []);
});

test('types and messages of exceptions have separate texts', () => {
  const columns = { 'thrown.t': [1, 2], 'thrown.type': [0, 0], 'thrown.message': [1, 0], 'thrown.node': [0, 0] };
  const { groups } = thrownIn(
    {
      ...trace(),
      texts: { exceptions: ['My.Exception'], messages: ['first', 'second'] },
      column: (name) => Float64Array.from(columns[name] || []),
    },
    null,
  );
  assert.deepEqual(
    groups.map((group) => [group.type, group.messages.map((row) => row.message)]),
    [['My.Exception', ['second', 'first']]],
  );
});

test('stacks that differ only in how the runtime dispatches the exception are one', () => {
  const columns = {
    'nodes.parent': [0, 1, 1, 3],
    'nodes.frame': [0, 1, 0, 2],
    'thrown.t': [1, 2, 3],
    'thrown.type': [0, 0, 0],
    'thrown.message': [0, 0, 0],
    'thrown.node': [1, 2, 4],
  };
  const { groups } = thrownIn(
    {
      ...trace(),
      texts: { exceptions: ['My.Exception'], messages: ['#'] },
      frames: framesWith(['main', 'EH.Throw', 'EH.Rethrow'], { dispatch: [0, 1, 1] }),
      column: (name) => Float64Array.from(columns[name] || []),
    },
    null,
  );
  assert.deepEqual(groups[0].stacks, [
    { frames: ['main'], count: 2 },
    { frames: ['main', 'main'], count: 1 },
  ]);
});

test('what has no row is counted in whole bins, and the range of these is known', () => {
  const columns = {
    'thrown.others.t': [10, 20, 30],
    'thrown.others.lasts': [5, 5, 5],
    'thrown.others.count': [3, 4, 5],
    'thrown.others.type': [0, 0, 0],
    'thrown.others.place': [1, 0, 1],
    'thrown.places.message': [0],
    'thrown.places.node': [0],
  };
  const many = {
    ...trace(),
    texts: { exceptions: ['My.Exception'], messages: ['first'] },
    sums: { 'thrown.others': { bin_ns: 10 } },
    column: (name) => Float64Array.from(columns[name] || []),
  };
  const counted = (range) => {
    const {
      groups,
      counted: { from, to },
    } = thrownIn(many, range);
    return [groups.map((group) => [group.count, group.messages.map((row) => row.count)]), [from, to]];
  };
  assert.deepEqual(counted({ from: 16, to: 30 }), [[[4, []]], [16, 30]], 'no bin is cut');
  assert.deepEqual(counted({ from: 12, to: 32 }), [[[12, [8]]], [10, 40]]);
  assert.deepEqual(counted({ from: 12, to: 14 }), [[[3, [3]]], [10, 20]], 'never 0 where there may be some');
  assert.deepEqual(counted({ from: 15, to: 21 }), [[[7, [3]]], [10, 30]], 'the last of a bin lies in the range');
  for (const range of [null, { from: 10, to: 30 }]) assert.equal(countedRange(many, 'thrown', range), range, 'bins begin and end there');
});

test('percentiles of requests are exact where they have rows, and else those of their buckets', () => {
  const columns = {
    'requests.t': [1, 2, 3],
    'requests.nanos': [1001, 501, 0],
    'requests.name': [0, 0, 0],
    'requests.failed': [0, 1, 0],
    'requests.others.t': [1],
    'requests.others.lasts': [0],
    'requests.others.count': [7],
    'requests.others.name': [0],
    'requests.others.failed': [0],
    'requests.others.bucket': [48],
    'requests.others.total': [455],
    'requests.others.max': [70],
  };
  const many = { texts: { activities: ['GET /'] }, column: (name) => Float64Array.from(columns[name] || []) };
  const [row] = begunIn(many, 'requests', null).groups;
  assert.deepEqual([row.count, row.failed, row.open, row.stopped, row.total, row.max, row.p99], [10, 1, 1, 9, 1955, 1000, 1000]);
  assert.equal(row.p50, 68, 'the middle of 64 to 72');
});

test('a counter that was never a number has nothing to draw', () => {
  const series = [
    { name: 'ratio', points: [{ ts_ns: 1, value: null }] },
    {
      name: 'good',
      points: [
        { ts_ns: 1, value: 1.5 },
        { ts_ns: 2, value: null },
      ],
    },
  ];
  const lanes = series.map((_, number) => counterLane({ reports: { counters: { series } } }, number));
  assert.equal(lanes[0], null);
  assert.deepEqual(lanes[1].line, [{ at: 1, value: 1.5 }]);
  assert.equal(counterLane({ reports: {} }, 0), null);
});

test('a histogram is one row with its count, its mean and its quantiles', () => {
  const series = { provider: 'P', name: 'delay', weights: 30, sum: 615, points: [] };
  const of = (Percentile, mean, more) => ({ ...series, tags: { kind: 'a', Percentile }, mean, ...more });
  const rows = distributionsOf([of('50', 21), of('99', 25), of('50', 1, { tags: { kind: 'b', Percentile: '50' }, weights: 0, sum: null })]);
  assert.deepEqual(
    rows.map((row) => [row.title, row.measured, row.mean, [...row.quantiles].map(([percentile, series]) => [percentile, series.mean])]),
    [
      ['delay {kind=a}', 30, 20.5, [[50, 21], [99, 25]]],
      ['delay {kind=b}', 0, null, [[50, 1]]],
    ],
  );
  assert.equal(rows[0].highest.tags.Percentile, '99');
});

test('the unit of an up-down counter tells that its values are what was added', () => {
  assert.deepEqual([{ base: 'session_start' }, { base: 'unknown' }, {}].map(added), ['added', 'added?', '']);
});

// Returns a document whose elements remember what is put into them.
function fakeDocument() {
  class Node {
    constructor(name) {
      Object.assign(this, { name, attributes: {}, children: [], data: '' });
    }
    append(child) {
      this.children.push(child);
    }
    setAttribute(key, value) {
      this.attributes[key] = value;
    }
    addEventListener() {}
    get text() {
      return this.data + this.children.map((child) => child.text).join('');
    }
  }
  const createTextNode = (data) => Object.assign(new Node('#text'), { data });
  return { Node, document: { createElement: (name) => new Node(name), createTextNode, title: '' } };
}

test('hidden characters of names are shown as U+FFFD on elements and canvases', () => {
  const { Node, document } = fakeDocument();
  Object.assign(globalThis, { Node, document });
  try {
    const name = 'gpj.\u202eexe\u200b';
    const cell = el('td', { title: name, value: name, 'aria-label': name }, name, [el('span', null, name), 5]);
    const shown = 'gpj.\ufffdexe\ufffd';
    assert.deepEqual(
      [cell.text, cell.attributes.title, cell.attributes['aria-label'], cell.value],
      [`${shown}${shown}5`, shown, shown, shown],
    );
    say(cell, name);
    entitle(name);
    assert.deepEqual([cell.textContent, document.title], [shown, shown]);
    const drawn = [];
    const context = { fillText: (text) => drawn.push(text), measureText: (text) => ({ width: drawn.push(text) && text.length * 6 }) };
    write(context, name, 0, 0);
    assert.equal(widthOf(context, name), shown.length * 6);
    assert.equal(fit(context, '🎉🎉🎉🎉', 24), '🎉…');
    fit(context, name, 30);
    assert.ok(
      drawn.every((text) => !/[\u202e\u200b]/.test(text)),
      drawn.join(' '),
    );
  } finally {
    delete globalThis.Node;
    delete globalThis.document;
  }
  // A message may have lines. A frame is a line itself, so it has none.
  assert.equal(visible('a\r\n\tb\u0085\u001b'), 'a\r\n\tb\ufffd\ufffd');
  assert.equal(printable('a\nb'), 'a\ufffdb');
});

test('the page hides the same characters as the command', () => {
  const rust = readFileSync(new URL('../../../export/src/hidden.rs', import.meta.url), 'utf8').split('/// The text with U+FFFD')[0];
  const ranges = [...rust.matchAll(/'\\u\{(\w+)\}'(?:\.\.='\\u\{(\w+)\}')?/g)].map(([, from, to]) => [
    parseInt(from, 16),
    parseInt(to ?? from, 16),
  ]);
  assert.ok(ranges.length > 12);
  for (let code = 0; code < 0xe1000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const isHidden = isControl || ranges.some(([from, to]) => from <= code && code <= to);
    const text = String.fromCodePoint(code);
    assert.equal(printable(text), isHidden ? '\ufffd' : text, code.toString(16));
  }
});

test('only dom.mjs writes texts', () => {
  const folder = new URL('../src/', import.meta.url);
  for (const name of readdirSync(folder).filter((one) => one !== 'dom.mjs')) {
    const found = readFileSync(new URL(name, folder), 'utf8').match(
      new RegExp(
        'textContent =|innerText|innerHTML|insertAdjacent|createTextNode|document\\.title|fillText|strokeText|measureText|' +
          "\\.setAttribute\\((?!'aria-expanded')|\\.title =",
      ),
    );
    assert.equal(found, null, `${name}: ${found}`);
  }
});

test('faults name losses, and count damage beyond the list', () => {
  const outcome = { lost: 0, losses_known: true, lost_threads: 0, complete: true, damage: [], damage_count: 0 };
  assert.deepEqual(faultsOf(outcome), []);
  const [lost, ...none] = faultsOf({ ...outcome, lost: 1200, lost_threads: 1 });
  assert.match(lost, /^1,200 events were lost while recording, on 1 thread:/);
  assert.deepEqual(none, []);
  const damage = Array.from({ length: 8 }, (_, at) => ({ offset: at * 1000, fault: 'bad', class: 'rest of block lost' }));
  const texts = faultsOf({ ...outcome, damage, damage_count: 70 });
  assert.deepEqual(
    [texts.length, texts[4], texts[5]],
    [6, 'Damaged at byte 4,000: bad (rest of block lost).', 'And 65 more damaged places: nettrace info lists them.'],
  );
  assert.equal(faultsOf({ ...outcome, damage: damage.slice(0, 5), damage_count: 5 }).length, 5);
  assert.equal(
    faultsOf({ ...outcome, damage: damage.slice(0, 6), damage_count: 6 })[5],
    'And 1 more damaged place: nettrace info lists them.',
  );
});
