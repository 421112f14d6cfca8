// Compares sums of the page with reports of the command: `node --test analysis/page/test/*.test.mjs`
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { callTree, groupSums, methodSums } from '../src/calls.mjs';
import { collectionTotals, exceptionGroups, lockGroups, occurrences, tasksOf, waitSums } from '../src/query.mjs';
import { eachSample, endpointNumber } from '../src/ranges.mjs';
import { phaseColumns } from '../src/request-parts.mjs';
import { begunIn, collectionsIn, endpointTime, eventCounts, spansOf, thrownIn } from '../src/sums.mjs';
import { dataOf, htmlOf, printed, reportOf } from './traces.mjs';

// A range with all rows. Unlike null, it makes the page add up rows instead of using a report's document.
const ALL = { from: -Infinity, to: Infinity };
const ROWS = ['-n', '1000000'];
const PART = { from: 500e6, to: 1500e6 };
const TIME = ['--time', '500ms..1500ms'];

const FILES = [
  'traces/net10-linux-x64/all.nettrace.gz',
  'traces/net10-linux-x64/killed-1.nettrace.gz',
  'traces/net10-linux-x64/waits.nettrace.gz',
  'traces/net3.1-linux-x64/lossy.nettrace.gz',
  'known/Dead-starve.nettrace.gz',
  'known/mono-monoprof.nettrace.gz',
  'known/shop-full.nettrace.gz',
];

// Returns self and total by name, one row for each name.
const byName = (rows, sums) => Object.fromEntries(rows.map((row) => [row.name, sums(row)]));

const ofTree = (tree) =>
  byName(
    methodSums(tree).map((row) => ({ ...row, name: tree.texts(row.frame) })),
    (row) => [row.self, row.selfSamples, row.total, row.totalSamples],
  );
const ofReport = (report) =>
  byName(
    report.methods.filter((row) => !row.addresses && !row.guessed),
    (row) => [row.self_ns, row.self_samples, row.total_ns, row.total_samples],
  );

// Compares the methods of a report with the page's. Returns their number.
function compareMethods(report, tree) {
  const [wanted, shown] = [ofReport(report), ofTree(tree)];
  const names = Object.keys(wanted);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, shown[name]])), wanted);
  const { weight, samples } = tree.recording;
  assert.deepEqual([tree.total[0] - weight, tree.totalSamples[0] - samples], [report.total_ns, report.samples]);
  return names.length;
}

// Returns the paths of calls with their weights.
function pathsOf(nodes) {
  const [paths, open] = [new Map(), []];
  for (const node of nodes) {
    open.length = node.depth;
    open.push(node.name);
    paths.set(open.join('\n'), [node.self_ns, node.total_ns, node.total_samples]);
  }
  return paths;
}

function pathsOfTree(tree) {
  const nodes = [];
  const visit = (node, depth) => {
    for (const child of tree.children[node] ?? []) {
      const name = tree.texts(tree.frame[child]);
      nodes.push({ depth, name, self_ns: tree.self[child], total_ns: tree.total[child], total_samples: tree.totalSamples[child] });
      visit(child, depth + 1);
    }
  };
  visit(0, 0);
  return pathsOf(nodes);
}

for (const name of FILES) {
  const file = `testdata/${name}`;
  const page = dataOf(htmlOf(file));
  const compared = (what, compare) =>
    test(`${what} of ${name}`, async () => compare(await page, (...words) => reportOf(words[0], file, ...ROWS, ...words.slice(1))));

  compared('methods, calls and states of samples', (trace, report) => {
    if (!trace.kinds.cpu) return;
    const top = report('topN');
    const tree = callTree(trace, 'cpu');
    compareMethods(top, tree);
    assert.equal(tree.waitingWeight, top.waiting_ns);
    assert.deepEqual(pathsOfTree(tree), pathsOf(reportOf('tree', file, '--min', '0').nodes));
    for (const states of ['all', 'managed', 'waiting'])
      compareMethods(report('topN', '--state', states), callTree(trace, 'cpu', { states }));
    compareMethods(report('topN', ...TIME), callTree(trace, 'cpu', { range: PART }));
    const modules = byName(
      groupSums(tree, (frame) => trace.frames.module[frame]),
      (row) => [row.self, row.total],
    );
    for (const row of report('topN', '--by', 'module').methods)
      if (row.name in modules) assert.deepEqual(modules[row.name], [row.self_ns, row.total_ns], row.name);
  });

  compared('frames that are folded, grouped and left out', (trace, report) => {
    if (!trace.kinds.cpu) return;
    const transforms = [
      [{ async: true }, '--fold-async'],
      [{ mine: true }, '--my-code'],
      [{ recursion: true }, '--fold-recursion'],
      [{ fold: 'System' }, '--fold', 'System'],
      [{ group: '^([^!]+)!=$1' }, '--group', '^([^!]+)!=$1'],
      [{ include: 'Main' }, '--frame', 'Main'],
      [{ exclude: 'Main' }, '--exclude', 'Main'],
    ];
    for (const [route, ...options] of transforms) compareMethods(report('topN', ...options), callTree(trace, 'cpu', { transforms: route }));
  });

  compared('threads', (trace, report) => {
    const wanted = report('threads').threads;
    const rows = trace.threads.map(() => ({ ns: [0, 0, 0], samples: 0 }));
    const [threads, state] = ['thread', 'state'].map((column) => trace.column(`cpu.${column}`));
    eachSample(trace, 'cpu', {}, (row, weight, samples) => {
      rows[threads[row]].ns[state[row]] += weight;
      rows[threads[row]].samples += samples;
    });
    const sums = (row) => [row.managed.ns, row.native.ns, row.waiting.ns, row.samples];
    const sorted = (list) => list.map(String).sort();
    const shown = rows.filter((row) => row.samples > 0).map((row) => [...row.ns, row.samples]);
    assert.deepEqual(sorted(shown), sorted(wanted.filter((row) => row.samples > 0).map(sums)));
  });

  compared('events', (trace) => {
    const stats = JSON.parse(printed(['stats', '--json', file]));
    const counts = eventCounts(trace, null);
    assert.equal(counts.all, stats.events);
    const totals = (rows) => rows.reduce((sums, [key, count]) => ({ ...sums, [key]: (sums[key] ?? 0) + count }), {});
    const shown = [...counts.types].map(([type, count]) => [
      `${trace.events.types[type].provider}/${trace.events.types[type].name}`,
      count,
    ]);
    assert.deepEqual(totals(shown), totals(stats.types.map((row) => [`${row.provider}/${row.name}`, row.events])));
  });

  compared('exceptions', (trace, report) => {
    const rows = ({ groups }) => groups.map((row) => [row.type, row.count, row.first, row.last]);
    for (const [range, options] of [
      [null, []],
      [PART, TIME],
    ]) {
      const wanted = report('exceptions', ...options);
      assert.deepEqual(
        new Set(rows(exceptionGroups(trace, range))),
        new Set(wanted.types.map((row) => [row.type, row.count, row.first_ns, row.last_ns])),
      );
      assert.equal(exceptionGroups(trace, range).count, wanted.count);
    }
    assert.deepEqual(rows(thrownIn(trace, ALL)), rows(exceptionGroups(trace, null)));
    // Messages and stacks are merged as in the report.
    const sorted = (list, words) => list.map((row) => [words(row), row.count].join('\n')).sort();
    const parts = ({ type, messages, stacks }) => [
      type,
      sorted(messages, (row) => row.message),
      sorted(stacks, (row) => row.frames.join()),
    ];
    const whole = report('exceptions').types;
    const shown = new Map(thrownIn(trace, null).groups.map((row) => [row.type, parts(row)]));
    for (const row of whole) assert.deepEqual(shown.get(row.type), parts(row));
  });

  compared('collections', (trace, report) => {
    const totals = ({ count, incomplete, pause, max, p50, p99, allocated, promoted }) => [
      count,
      incomplete,
      pause,
      max,
      p50,
      p99,
      allocated,
      promoted,
    ];
    const wanted = ({ totals: of }) =>
      [of.count, of.incomplete, of.pause_ns, of.max_pause_ns, of.p50_pause_ns, of.p99_pause_ns, of.allocated_bytes, of.promoted_bytes].map(
        (value) => value ?? 0,
      );
    assert.deepEqual(
      totals(collectionTotals(trace, null)).map((value) => value ?? 0),
      wanted(report('gc')),
    );
    assert.deepEqual(totals(collectionsIn(trace, ALL)), wanted(report('gc')));
    assert.deepEqual(totals(collectionsIn(trace, PART)).slice(0, 5), wanted(report('gc', ...TIME)).slice(0, 5));
  });

  compared('waits and locks', (trace, report) => {
    for (const [kind, category] of [
      ['contention', 'Contention'],
      ['waits', 'Waits'],
    ]) {
      const { waits } = report(kind);
      const { count, total, p99, max } = waitSums(trace, kind, category, null);
      assert.deepEqual([count, total, p99, max], [waits.count, waits.total_ns, waits.p99_ns, waits.max_ns], kind);
      // The page's spans include waits with only a start or only a stop in the trace.
      assert.ok(spansOf(trace, category, ALL).length >= count, kind);
    }
    const locks = report('contention').locks.map((row) => [
      row.lock_id ?? '(unknown lock)',
      row.waits.count,
      row.waits.total_ns,
      row.waits.max_ns,
    ]);
    assert.deepEqual(
      lockGroups(trace, null).map((row) => [row.lock, row.count, row.total, row.max]),
      locks,
    );
  });

  compared('activities, requests and tasks', (trace, report) => {
    for (const [what, name_] of [
      ['activities', 'activities'],
      ['requests', 'http'],
    ]) {
      const wanted = report(name_);
      const rows = wanted.activities.map((row) => [
        row.name,
        row.started,
        row.errors,
        row.started - row.stopped,
        row.durations.total_ns,
        row.durations.max_ns,
      ]);
      for (const all of [occurrences(trace, what, null), begunIn(trace, what, ALL)]) {
        assert.deepEqual([all.count, all.failed], [wanted.started, wanted.errors], what);
        assert.deepEqual(
          new Set(all.groups.map((row) => [row.name, row.count, row.failed, row.open, row.total, row.max])),
          new Set(rows),
          what,
        );
      }
    }
    const sums = ({ scheduled, completed, faulted, waits_begun, waits_ended }) => [scheduled, completed, faulted, waits_begun, waits_ended];
    const tasks = report('tasks');
    assert.deepEqual(sums(tasksOf(trace, ALL)), sums(tasks));
    assert.deepEqual(sums(tasksOf(trace, null)), sums(tasks));
  });

  compared('the share of frames without a name', (trace) => {
    const finding = reportOf('summary', file).findings.find((row) => row.about === 'missing_names');
    if (finding) assert.equal(trace.unnamed.percent, finding.value);
    assert.ok(!trace.unnamed || (trace.unnamed.percent >= 0 && trace.unnamed.percent <= 100));
  });
}

test('activities of unknown length are told from those that had not stopped', async () => {
  for (const [name, what, report, unknown, total] of [
    ['ids-open-twice', 'activities', 'activities', 30, 41],
    ['http-ids-open-twice', 'requests', 'http', 30, 40],
  ]) {
    const file = `testdata/known/${name}.nettrace.gz`;
    const trace = await dataOf(htmlOf(file));
    const wanted = reportOf(report, file);
    assert.deepEqual([wanted.unpaired.count, wanted.started], [unknown, total]);
    for (const all of [occurrences(trace, what, null), begunIn(trace, what, ALL)]) {
      assert.deepEqual([all.count, all.unknown, all.open], [total, unknown, 0], name);
      assert.equal(all.rows.filter((row) => row.isUnknown && row.nanos === 0).length, unknown);
    }
    // The mean is that of all whose sum is known, percentiles are of those with a length each.
    const [row] = wanted.activities;
    const group = occurrences(trace, what, null).groups.find((one) => one.name === row.name);
    assert.deepEqual([group.unknown, group.mean, group.p50], [row.unpaired.count, row.durations.mean_ns, row.durations.p50_ns]);
  }
});

test('phases of outgoing requests are those of the report', async () => {
  const file = 'testdata/known/http-queue.nettrace.gz';
  const trace = await dataOf(htmlOf(file));
  const wanted = reportOf('http', file, ...ROWS);
  const ofPage = trace.reports.http;
  assert.deepEqual(
    ofPage.slowest.map((row) => row.phases),
    wanted.slowest.map((row) => row.phases),
  );
  const [{ phases }] = ofPage.activities;
  assert.deepEqual(phases, wanted.activities[0].phases);
  const columns = phaseColumns(ofPage.slowest, (row) => row.phases);
  assert.deepEqual(
    columns.map((column) => column.title),
    ['Queue', 'Connect', 'Send', 'Server', 'Content', 'Other'],
  );
  for (const [at, row] of wanted.slowest.entries()) {
    const shown = columns.map((column) => column.value(ofPage.slowest[at])).reduce((sum, nanos) => sum + nanos, 0);
    const { requests, ...nanos } = row.phases;
    assert.deepEqual([requests, shown], [1, Object.values(nanos).reduce((sum, one) => sum + one, 0)]);
  }
});

test('what ran and waited for an endpoint is what the report says', { skip: !process.env.NETTRACE_SHARED }, async () => {
  const file = `${process.env.NETTRACE_SHARED}/web/traces/net11-full.nettrace.gz`;
  const trace = await dataOf(htmlOf(file));
  // Of requests inside each other, a sample counts for the inner one.
  const top = reportOf('topN', file, '--by-endpoint', '--state', 'all', ...ROWS);
  const ofAll = top.endpoints.filter((row) => row.endpoint);
  assert.ok(ofAll.length > 10);
  for (const row of ofAll) {
    const time = endpointTime(trace, row.endpoint, null);
    assert.equal(time.tree.totalSamples[0] + time.waitSamples, row.samples, row.endpoint);
  }
  for (const endpoint of ['GET /sync', 'GET /regex', 'GET /lock']) {
    const wanted = reportOf('http', file, '--endpoint', endpoint, ...ROWS);
    const time = endpointTime(trace, endpoint, null);
    // The page names handlers by their endpoints.
    const methods = wanted.running.filter((row) => !row.endpoint);
    const { running_ns: total_ns, running_samples: samples } = wanted;
    assert.ok(compareMethods({ methods, total_ns, samples }, time.tree) > 0);
    assert.equal(time.methods.length, wanted.running.length);
    assert.deepEqual([time.waitWeight, time.waitSamples], [wanted.waiting_ns, wanted.waiting_samples]);
    const waits = (rows, sums) => rows.map((row) => [row.call, row.by, ...sums(row)].join(' ')).sort();
    assert.deepEqual(
      waits(time.waits, (row) => [row.weight, row.samples]),
      waits(wanted.waiting, (row) => [row.total_ns, row.samples]),
    );
    const row = trace.reports.http.activities.find((one) => one.name === `in ${endpoint}`);
    assert.deepEqual(
      [row.parts, row.calls, row.sql_commands, row.sql_ns],
      [wanted.requests.parts, wanted.requests.calls, wanted.requests.sql_commands, wanted.requests.sql_ns],
    );
  }
  assert.equal(endpointNumber(trace, 'GET /nothing'), -1);
  assert.equal(endpointTime(trace, 'GET /nothing', null).tree.totalSamples[0], 0);
});

test('the policy of the page allows its own script and style alone', () => {
  const html = htmlOf('testdata/traces/tiny-v4.nettrace.gz');
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const [, style] = /<style>([^]*)<\/style>/.exec(html);
  const [, script] = /<script>([^]*)<\/script>/.exec(html);
  assert.ok(policy.includes(`script-src ${hash(script)};`) && policy.includes(`style-src ${hash(style)};`), policy);
  assert.ok(policy.startsWith("default-src 'none';"), policy);
});
