// Views of tasks and of the threads that run them.
import { chart } from './chart.mjs';
import { el } from './dom.mjs';
import { formatCount, formatDecimal, formatNanos } from './format.mjs';
import { ownText } from './frames.mjs';
import { binned, moment, none } from './notices.mjs';
import { tasksOf } from './query.mjs';
import { isWithin, maxOf, minOf } from './ranges.mjs';
import { facts, table } from './table.mjs';
import { stillAwaiting } from './waits-views.mjs';

// Returns the view of tasks that were scheduled and awaited.
export function tasksView(trace, route, range) {
  const whole = trace.reports.tasks;
  if (!whole?.scheduled && !whole?.waits_begun)
    return none('No tasks in this trace. Record with nettrace collect --providers System.Threading.Tasks.TplEventSource:0x3:4.');
  const report = tasksOf(trace, range);
  const spread = (key) => [
    {
      title: `${key === 'queued' ? 'Waited to begin' : 'Ran'}, mean`,
      number: true,
      value: (row) => row[key]?.mean_ns ?? null,
      text: (row) => formatNanos(row[key]?.mean_ns ?? NaN),
    },
    { title: '99 %', number: true, value: (row) => row[key]?.p99_ns ?? null, text: (row) => formatNanos(row[key]?.p99_ns ?? NaN) },
  ];
  const number = (title, key) => ({ title, number: true, value: (row) => row[key], text: (row) => formatCount(row[key]) });
  const ofWaits = (title, key, text) => ({ title, number: true, value: (row) => row.waits[key], text: (row) => text(row.waits[key]) });
  return el(
    'div',
    null,
    el('h2', null, 'Tasks'),
    report.notes.map(([what, counted]) => binned(what, range, counted)),
    facts([
      ['Scheduled', formatCount(report.scheduled), 'tasks-scheduled', report.scheduled],
      ['Completed', formatCount(report.completed), 'tasks-completed', report.completed],
      ['Failed', formatCount(report.faulted), 'tasks-failed', report.faulted],
      ['Awaited', formatCount(report.waits_begun), 'tasks-awaited', report.waits_begun],
      report.waits_begun > report.waits_ended && [
        'Still awaited at the end of the trace',
        formatCount(report.waits_begun - report.waits_ended),
      ],
    ]),
    table({
      caption: `Scheduled (${formatCount(report.tasks.length)})`,
      columns: [
        { title: 'Task', value: (row) => row.name },
        number('Scheduled', 'scheduled'),
        number('Failed', 'faulted'),
        ...spread('queued'),
        ...spread('ran'),
        { title: 'By', wide: true, value: (row) => ownText(trace, row.stacks?.[0]?.frames ?? []) },
      ],
      rows: report.tasks,
      first: 20,
    }),
    table({
      caption: `Awaited (${formatCount(report.waits.length)})`,
      columns: [
        { title: 'What', value: (row) => row.name },
        { title: 'Kind', value: (row) => (row.is_blocking ? 'blocks a thread' : 'await') },
        ofWaits('Times', 'count', formatCount),
        ofWaits('Total', 'total_ns', formatNanos),
        ofWaits('50 %', 'p50_ns', formatNanos),
        ofWaits('99 %', 'p99_ns', formatNanos),
        ofWaits('Longest', 'max_ns', formatNanos),
        number('Still awaited', 'still_waiting'),
      ],
      rows: report.waits,
      first: 20,
    }),
    !range && stillAwaiting(trace),
  );
}

const fromTo = (least, most) => (least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`);

export function poolView(trace, route, range, extent) {
  const report = trace.reports.threadpool;
  if (!report || (!report.workers?.length && !report.adjustments?.length && !report.enqueued))
    return none('No events of the thread pool in this trace. Record with nettrace collect --clrevents threading.');
  const inRange = (rows) => (rows || []).filter((row) => isWithin(range, row.ts_ns));
  const workers = inRange(report.workers);
  const throughput = inRange(report.throughput);
  const adjustments = inRange(report.adjustments);
  const queue = inRange(report.queue);
  const waited = range ? null : report.latency;
  const shown = range || extent;
  return el(
    'div',
    null,
    el('h2', null, 'Thread pool'),
    facts([
      [
        'Active workers',
        workers.length ? fromTo(minOf(workers.map((row) => row.min)), maxOf(workers.map((row) => row.max))) : '–',
        'pool-active',
      ],
      adjustments.length > 0 && [
        'Wanted workers',
        fromTo(minOf(adjustments.map((row) => row.workers)), maxOf(adjustments.map((row) => row.workers))),
        'pool-wanted',
      ],
      ['Adjustments', formatCount(adjustments.length), 'pool-adjustments', adjustments.length],
      ['Starved', report.is_starved ? 'yes' : 'no'],
      !range && report.enqueued > 0 && ['Work items', formatCount(report.enqueued), 'pool-enqueued', report.enqueued],
      waited && ['Waited, 50 %', formatNanos(waited.p50_ns)],
      waited && ['Waited, 99 %', formatNanos(waited.p99_ns)],
    ]),
    workers.length > 0 && [
      el('h3', null, 'Active workers'),
      chart({
        points: workers.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        kind: 'steps',
        unit: formatCount,
        label: 'Active workers over time',
        fill: 'pool',
      }),
    ],
    queue.some((row) => row.max > 0) && [
      el('h3', null, 'Waiting work items'),
      chart({
        points: queue.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        kind: 'steps',
        unit: formatCount,
        label: 'Length of the queue over time',
        fill: 'request',
      }),
    ],
    throughput.length > 0 && [
      el('h3', null, 'Work items a second'),
      chart({
        points: throughput.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        unit: (value) => formatDecimal(value, 0),
        label: 'Throughput over time',
        fill: 'request',
      }),
    ],
    table({
      caption: 'Adjustments',
      columns: [
        moment('ts_ns'),
        { title: 'Wanted workers', number: true, value: (row) => row.workers },
        { title: 'Throughput', number: true, value: (row) => row.throughput, text: (row) => formatDecimal(row.throughput, 1) },
        { title: 'Reason', value: (row) => row.reason },
      ],
      rows: adjustments,
    }),
  );
}
