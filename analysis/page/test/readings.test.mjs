// Compares the page of a recording with the times of its threads with reports of the command. `readings.nettrace.gz` is the workload
// of testdata/programs with all that it does, for two seconds on .NET 10, recorded with nettrace collect.
import assert from 'node:assert/strict';
import test from 'node:test';
import { callTree, methodSums } from '../src/calls.mjs';
import { readingBins, readingSums } from '../src/sums.mjs';
import { dataOf, htmlOf, reportOf } from './traces.mjs';

const FILE = 'analysis/page/test/readings.nettrace.gz';
const ROWS = ['-n', '1000000'];
const page = dataOf(htmlOf(FILE));
const report = (name, ...options) => reportOf(name, FILE, ...ROWS, ...options);

const ofTree = (tree) =>
  new Map(methodSums(tree).map((row) => [tree.texts(row.frame), [row.self, row.selfSamples, row.total, row.totalSamples]]));
const ofReport = ({ methods }) =>
  new Map(methods.map((row) => [row.name, [row.self_ns, row.self_samples, row.total_ns, row.total_samples]]));

test('the whole range adds up to the report, in each state', async () => {
  const trace = await page;
  assert.ok(report('topN').processor_time.measured_ns > 0);
  for (const states of ['running', 'all', 'managed', 'native', 'waiting', 'ready']) {
    const wanted = report('topN', '--state', states);
    const tree = callTree(trace, 'cpu', { states });
    const { weight, samples } = tree.recording;
    assert.deepEqual([tree.total[0] - weight, tree.totalSamples[0] - samples], [wanted.total_ns, wanted.samples], states);
    assert.deepEqual(new Map([...ofTree(tree)].sort()), new Map([...ofReport(wanted)].sort()), states);
  }
});

test('a range has the time that its intervals between readings say', async () => {
  const trace = await page;
  for (const [from, to] of [
    [100, 300],
    [500, 1500],
    [1000, 1100],
  ]) {
    const wanted = ofReport(report('topN', '--time', `${from}ms..${to}ms`, '--state', 'all'));
    const shown = ofTree(callTree(trace, 'cpu', { states: 'all', range: { from: from * 1e6, to: to * 1e6 } }));
    for (const [name, [self]] of wanted) {
      const differs = Math.abs((shown.get(name)?.[0] ?? 0) - self);
      assert.ok(differs < Math.max(1e6, self / 500), `${from}..${to} ${name}: ${differs} ns`);
    }
  }
});

test('frames are folded as the report folds them, also those of going to sleep and waking', async () => {
  const trace = await page;
  assert.ok(trace.frames.waking.includes(1));
  for (const [transforms, ...options] of [
    [{ mine: true }, '--my-code'],
    [{ fold: 'System' }, '--fold', 'System'],
    [{ fold: 'going to sleep' }, '--fold', 'going to sleep'],
    [{ group: '^([^!]+)!=$1' }, '--group', '^([^!]+)!=$1'],
    [{ exclude: 'going to sleep' }, '--exclude', 'going to sleep'],
    [{ recursion: true }, '--fold-recursion'],
  ])
    assert.deepEqual(
      new Map([...ofTree(callTree(trace, 'cpu', { transforms }))].sort()),
      new Map([...ofReport(report('topN', ...options))].sort()),
      options.join(' '),
    );
});

test('the lanes of a thread add up to what the operating system counted', async () => {
  const trace = await page;
  const sums = readingSums(trace, null);
  const threads = report('threads').threads.filter((row) => row.ran_ns > 0);
  const shown = threads.filter((row) => sums.has(trace.threads.findIndex((one) => one.id === row.thread_id)));
  assert.ok(shown.length > 3);
  for (const row of shown) {
    const thread = trace.threads.findIndex((one) => one.id === row.thread_id);
    const [ran, ready] = sums.get(thread);
    assert.deepEqual([ran, ready], [row.ran_ns, row.ready_ns], row.name);
    const bins = readingBins(trace, { from: -1e10, to: 1e10 }, 1000, (one) => one === thread);
    const all = bins.map((own) => own.reduce((sum, one) => sum + one, 0));
    assert.ok(Math.abs(all[0] - ran) < 1000 && Math.abs(all[1] + all[2] - ready) < 1000, row.name);
  }
});
