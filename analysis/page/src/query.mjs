// Answers the questions of views: for the whole trace from the documents of reports, for a range by adding up its rows.
import { countOf, formatBytes, formatCount } from './format.mjs';
import { maxOf } from './ranges.mjs';
import { begunIn, collectionsIn, spanSums, spansOf, thrownIn } from './sums.mjs';

// Returns the range from the first to the last sample, span, event or counter value.
export function extentOf(trace) {
  let first = Infinity;
  let last = -Infinity;
  const add = (from, to = from) => {
    first = Math.min(first, from);
    last = Math.max(last, to);
  };
  for (const kind of Object.keys(trace.kinds)) {
    const times = trace.column(`${kind}.t`);
    const weights = trace.column(`${kind}.weight`);
    const isTime = trace.kinds[kind].unit === 'nanoseconds';
    if (times.length) add(times[0], times[times.length - 1]);
    for (let row = Math.max(0, times.length - 2000); isTime && row < times.length; row += 1) add(times[row], times[row] + weights[row]);
  }
  for (const category of Object.keys(trace.categories)) {
    const starts = trace.column(`span.${category}.start`);
    const nanos = trace.column(`span.${category}.nanos`);
    for (let row = 0; row < starts.length; row += 1) add(starts[row], starts[row] + nanos[row]);
  }
  const starts = trace.column('activities.t');
  const lengths = trace.column('activities.nanos');
  for (let row = 0; row < starts.length; row += 1) add(starts[row], starts[row] + Math.max(0, lengths[row] - 1));
  const events = trace.column('events.t');
  if (events.length) add(events[0], events[events.length - 1]);
  for (const series of trace.reports.counters?.series || []) for (const point of series.points) add(point.ts_ns);
  const duration = trace.summary?.duration_ns || 0;
  if (first === Infinity) return { from: 0, to: Math.max(1, duration) };
  return { from: Math.min(first, 0) < 0 ? first : 0, to: Math.max(last, first + duration, 1) };
}

// Returns the trace's length. It is the summary's, because waits and collections may end after the last event.
export const lengthOf = (trace, extent) => trace.summary?.duration_ns || extent.to - extent.from;

// Returns losses and damage for the head of the page.
export function faultsOf(outcome, listed = 5) {
  const texts = [];
  if (outcome.lost > 0) {
    const lost = countOf(outcome.lost, 'event was', 'events were');
    texts.push(`${lost} lost while recording, on ${countOf(outcome.lost_threads, 'thread')}: counts are too low.`);
  }
  if (!outcome.complete) {
    const missing = outcome.missing_bytes ? `, at least ${formatBytes(outcome.missing_bytes)}` : '';
    texts.push(`The trace is cut: its end is missing${missing}, and with it, mostly, the names of methods.`);
  }
  const damage = (outcome.damage || []).slice(0, listed);
  for (const one of damage) texts.push(`Damaged at byte ${formatCount(one.offset)}: ${one.fault} (${one.class}).`);
  const more = Math.max(outcome.damage_count ?? 0, (outcome.damage || []).length) - damage.length;
  if (more > 0) {
    const places = damage.length > 0 ? `And ${countOf(more, 'more damaged place')}` : countOf(more, 'damaged place');
    texts.push(`${places}: nettrace info lists them.`);
  }
  return texts;
}

// Returns the notes about an incomplete part of the page. `part` is `report`, `samples`, `spans` and so on; `name` is its name.
export const thinnedOf = (trace, part, name) => trace.thinned.filter((row) => row.part === part && row.name === name);

// Returns exceptions as `groups` by type, with messages and stacks, and the range in which they are counted as `counted`.
export function exceptionGroups(trace, range) {
  const thrown = thrownIn(trace, range);
  if (range) return { ...thrown, count: thrown.groups.reduce((sum, group) => sum + group.count, 0) };
  const { count, types } = trace.reports.exceptions;
  const known = new Map(types.map((row) => [row.type, { count: row.count, first: row.first_ns, last: row.last_ns }]));
  return { ...thrown, count, groups: thrown.groups.map((group) => ({ ...group, ...known.get(group.type) })) };
}

// Returns the activities or requests that begin in a range, by name, with the rows that the page has.
export function occurrences(trace, what, range) {
  const begun = begunIn(trace, what, range);
  const report = trace.reports[what === 'requests' ? 'http' : what];
  if (range || !report) return begun;
  const known = new Map(report.activities.map((row) => [row.name, occurrencesOf(row)]));
  const groups = begun.groups.map((group) => ({ ...group, ...known.get(group.name) }));
  const { started: count, errors: failed, stopped } = report;
  const unknown = report.unpaired?.count ?? 0;
  return { ...begun, count, failed, open: count - stopped, unknown, max: maxOf([0, ...groups.map((group) => group.max)]), groups };
}

// Returns a row of `report activities` as a group of occurrences.
const occurrencesOf = ({ started, stopped, unpaired, errors, durations }) => ({
  count: started,
  failed: errors,
  open: started - stopped,
  unknown: unpaired?.count ?? 0,
  stopped: durations.count,
  total: durations.total_ns,
  mean: durations.count > 0 ? durations.mean_ns : null,
  max: durations.max_ns,
  p50: durations.p50_ns,
  p90: durations.p90_ns,
  p99: durations.p99_ns,
});

// Returns the tasks that were scheduled in a range, and the waits for tasks that began in it, in the form of `report tasks`. For the whole
// trace it returns the report's document.
export function tasksOf(trace, range) {
  const report = trace.reports.tasks;
  if (!range) return { ...report, notes: [] };
  const [queued, ran, awaited, blocked] = ['queued', 'ran', 'awaited', 'blocked'].map((name) => begunIn(trace, `tasks.${name}`, range));
  const spread = (group) =>
    group?.stopped
      ? {
          count: group.stopped,
          total_ns: group.total,
          mean_ns: group.total / group.stopped,
          p50_ns: group.p50,
          p99_ns: group.p99,
          max_ns: group.max,
        }
      : { count: 0, total_ns: 0 };
  const stacks = new Map(report.tasks.map((row) => [row.name, row.stacks]));
  const of = (all, name) => all.groups.find((group) => group.name === name);
  const completed = (group) => (group ? group.count - group.open : 0);
  const names = new Set([...queued.groups, ...ran.groups].map((group) => group.name));
  const waits = [
    [awaited, false],
    [blocked, true],
  ].flatMap(([all, isBlocking]) =>
    all.groups.map((group) => ({ name: group.name, is_blocking: isBlocking, waits: spread(group), still_waiting: group.open })),
  );
  return {
    scheduled: queued.count,
    completed: completed(ran),
    faulted: ran.failed,
    waits_begun: awaited.count + blocked.count,
    waits_ended: completed(awaited) + completed(blocked),
    tasks: [...names]
      .map((name) => {
        const [waited, own] = [of(queued, name), of(ran, name)];
        return {
          name,
          scheduled: waited?.count ?? 0,
          completed: completed(own),
          faulted: own?.failed ?? 0,
          queued: spread(waited),
          ran: spread(own),
          stacks: stacks.get(name),
        };
      })
      .sort((a, b) => b.scheduled - a.scheduled),
    waits: waits.sort((a, b) => b.waits.total_ns - a.waits.total_ns),
    notes: [
      ['tasks', ran.counted],
      ['awaits', awaited.counted],
    ],
  };
}

// Returns the number and length of waits. For the whole trace these are the report's sums, which leave out waits that had not ended.
export function waitSums(trace, kind, category, range) {
  const report = trace.reports[kind];
  if (!range && report?.waits) {
    const { count, total_ns: total, p99_ns: p99, max_ns: max } = report.waits;
    return { count, total, p99, max, open: report.still_waiting ?? 0, counted: range };
  }
  return { ...spanSums(trace, category, range), open: 0 };
}

// Returns waits for locks, by lock.
export function lockGroups(trace, range) {
  const groups = new Map();
  const groupOf = (lock) => {
    let group = groups.get(lock);
    if (!group) groups.set(lock, (group = { lock: lock || '(unknown lock)', count: 0, total: 0, max: 0, threads: new Set() }));
    return group;
  };
  const { keys, counted } = spanSums(trace, 'Contention', range);
  for (const span of spansOf(trace, 'Contention', counted)) {
    const lock = groupOf(span.key);
    lock.count += 1;
    lock.total += span.nanos;
    lock.max = Math.max(lock.max, span.nanos);
    lock.threads.add(span.thread);
  }
  for (const [key, others] of keys) {
    const lock = groupOf(key);
    lock.count += others.count;
    lock.total += others.total;
    lock.max = Math.max(lock.max, others.max);
  }
  const reported = range ? [] : trace.reports.contention?.locks || [];
  if (!reported.length) return [...groups.values()].sort((a, b) => b.total - a.total);
  return reported.map((row) => ({
    lock: row.lock_id || '(unknown lock)',
    count: row.waits.count,
    total: row.waits.total_ns,
    max: row.waits.max_ns,
    threads: groups.get(row.lock_id || '')?.threads ?? new Set(),
  }));
}

// Returns the collections that begin in a range: the listed ones as `rows`, the others included as `all`, and totals.
export function collectionTotals(trace, range) {
  const collections = collectionsIn(trace, range);
  const report = trace.reports.gc?.totals;
  if (range || !report) return collections;
  return {
    ...collections,
    count: report.count,
    incomplete: report.incomplete,
    pause: report.pause_ns,
    max: report.max_pause_ns,
    p50: report.p50_pause_ns,
    p90: report.p90_pause_ns,
    p99: report.p99_pause_ns,
    percent: report.pause_percent,
    allocated: report.allocated_bytes,
    promoted: report.promoted_bytes,
    generations: report.generations.map((row) => ({
      generation: row.generation,
      count: row.count,
      pause: row.pause_ns,
      max: row.max_pause_ns,
    })),
  };
}
