// What views add up: groups of exceptions, requests, waits, collections, bins of the time line. No element of the page in here.
import { countOf, formatBytes, formatCount } from './format.mjs';
import { STATES, framesOf } from './calls.mjs';
import { isWithin, lowerBound, maxOf, rowsWithin } from './ranges.mjs';

// The range that is counted in the place of another: some of a list have no row of their own, but are counted in bins of time,
// and where an end lies within one of these, the whole bin counts. The same object where none does.
export function countedRange(trace, list, range) {
  const bin = trace.sums?.[`${list}.others`]?.bin_ns;
  if (!range || !bin) return range;
  const [times, lasts] = ['t', 'lasts'].map((column) => trace.column(`${list}.others.${column}`));
  const begin = (at) => Math.floor(at / bin) * bin;
  const isCut = (at) => {
    for (let row = lowerBound(times, begin(at)); times[row] < at; row += 1) if (times[row] + lasts[row] >= at) return true;
    return false;
  };
  const counted = { from: isCut(range.from) ? begin(range.from) : range.from, to: isCut(range.to) ? begin(range.to) + bin : range.to };
  return counted.from === range.from && counted.to === range.to ? range : counted;
}

// What has no row of its own, in a range that `countedRange` has made: `visit(row, count)`.
function countOthers(trace, list, counted, visit) {
  const [times, counts] = ['t', 'count'].map((column) => trace.column(`${list}.others.${column}`));
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) visit(row, counts[row]);
}

// The time between the first and the last sample, span, event or counter value.
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

// The trace's length, by the summary: waits and collections may end after the last event.
export const lengthOf = (trace, extent) => trace.summary?.duration_ns || extent.to - extent.from;

// The percentage of frames without a name, and advice if it is too high. The summary's finding, which counts frames of samples,
// comes first, so that all views of the page show one number; without it, the trace's coverage is used.
export function unnamedOf(trace) {
  const { coverage } = trace;
  const finding = trace.summary?.findings?.find((one) => one.about === 'missing_names');
  const advice = trace.coverage_advice;
  if (finding) return { percent: finding.value, advice: advice ? advice.replace(/^\d+ %/, `${finding.value} %`) : null };
  if (!coverage?.frames) return null;
  const percent = ((coverage.frames - coverage.named) / coverage.frames) * 100;
  return advice ? { percent: Math.ceil(percent), advice } : { percent, advice: null };
}

// What was lost and damaged, for the head of the page.
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

// Exceptions by type, message and stack: `groups`; `counted`: the range that they are of.
export function exceptionGroups(trace, range) {
  const groups = new Map();
  const counted = countedRange(trace, 'thrown', range);
  const add = (number, message, node, count, first, last) => {
    let type = groups.get(number);
    if (!type)
      groups.set(number, (type = { type: trace.texts.exceptions[number], count: 0, first, last, messages: new Map(), stacks: new Map() }));
    type.count += count;
    type.first = Math.min(type.first, first);
    type.last = Math.max(type.last, last);
    if (message !== null) type.messages.set(message, (type.messages.get(message) || 0) + count);
    if (node !== null) type.stacks.set(node, (type.stacks.get(node) || 0) + count);
  };
  const [times, types, messages, nodes] = ['t', 'type', 'message', 'node'].map((name) => trace.column(`thrown.${name}`));
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) add(types[row], messages[row], nodes[row], 1, times[row], times[row]);
  const [first, lasts, type, place, placeMessages, placeNodes] = [
    'others.t',
    'others.lasts',
    'others.type',
    'others.place',
    'places.message',
    'places.node',
  ].map((name) => trace.column(`thrown.${name}`));
  countOthers(trace, 'thrown', counted, (row, count) => {
    const at = place[row] - 1;
    add(type[row], at < 0 ? null : placeMessages[at], at < 0 ? null : placeNodes[at], count, first[row], first[row] + lasts[row]);
  });
  const byCount = (map) => [...map].sort((a, b) => b[1] - a[1]);
  const rows = [...groups.values()]
    .map((group) => ({
      ...group,
      messages: byCount(group.messages).map(([message, count]) => ({ message: trace.texts.messages[message], count })),
      stacks: byCount(group.stacks).map(([node, count]) => ({ frames: framesOf(trace, node), count })),
    }))
    .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
  return { groups: rows, counted };
}

// Numbers of events in a range, by type and by thread.
export function eventCounts(trace, range) {
  const [times, types, threads] = ['t', 'type', 'thread'].map((name) => trace.column(`events.${name}`));
  const counted = countedRange(trace, 'events', range);
  const sums = { all: 0, types: new Map(), threads: new Map(), both: new Map(), counted };
  const add = (type, thread, count) => {
    sums.all += count;
    const key = type * 2 ** 32 + thread;
    for (const [map, at] of [
      [sums.types, type],
      [sums.threads, thread],
      [sums.both, key],
    ])
      map.set(at, (map.get(at) || 0) + count);
  };
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) add(types[row], threads[row], 1);
  const [otherTypes, otherThreads] = ['type', 'thread'].map((name) => trace.column(`events.others.${name}`));
  countOthers(trace, 'events', counted, (row, count) => add(otherTypes[row], otherThreads[row], count));
  return sums;
}

// Activities, or `requests`, or `tasks.ran` and the like, that begin in a range: by name, with the rows that are kept.
export function occurrences(trace, what, range) {
  const [times, lengths, names, failed] = ['t', 'nanos', 'name', 'failed'].map((name) => trace.column(`${what}.${name}`));
  const counted = countedRange(trace, what, range);
  const all = { count: 0, failed: 0, open: 0, total: 0, max: 0, rows: [], names: new Map(), counted };
  const texts = what.startsWith('tasks.') ? trace.texts.tasks : trace.texts.activities;
  const groupOf = (number) => {
    let group = all.names.get(number);
    if (!group)
      all.names.set(
        number,
        (group = { name: texts[number], count: 0, failed: 0, open: 0, total: 0, max: 0, lengths: [], buckets: new Map() }),
      );
    return group;
  };
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) {
    const isOpen = lengths[row] === 0;
    const nanos = Math.max(0, lengths[row] - 1);
    const group = groupOf(names[row]);
    for (const sum of [all, group]) {
      sum.count += 1;
      sum.failed += failed[row];
      sum.open += isOpen ? 1 : 0;
      sum.total += nanos;
      sum.max = Math.max(sum.max, nanos);
    }
    if (!isOpen) group.lengths.push(nanos);
    all.rows.push({ name: group.name, start: times[row], nanos, isOpen, failed: failed[row] === 1 });
  }
  const [otherNames, otherFailed, bucket, total, most] = ['name', 'failed', 'bucket', 'total', 'max'].map((name) =>
    trace.column(`${what}.others.${name}`),
  );
  countOthers(trace, what, counted, (row, count) => {
    const group = groupOf(otherNames[row]);
    for (const sum of [all, group]) {
      sum.count += count;
      sum.failed += otherFailed[row] ? count : 0;
      sum.total += total[row];
      sum.max = Math.max(sum.max, most[row]);
    }
    group.buckets.set(bucket[row], (group.buckets.get(bucket[row]) || 0) + count);
  });
  all.groups = [...all.names.values()]
    .map((group) => ({ ...group, ...spreadOf(group) }))
    .sort((a, b) => b.total - a.total || b.count - a.count);
  return all;
}

// Tasks that were scheduled in a range, and waits for tasks that began there, in the form of `report tasks`. For the whole trace it
// is that document.
export function tasksOf(trace, range) {
  const report = trace.reports.tasks;
  if (!range) return { ...report, notes: [] };
  const [queued, ran, awaited, blocked] = ['queued', 'ran', 'awaited', 'blocked'].map((name) => occurrences(trace, `tasks.${name}`, range));
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

// The middle of a bucket of lengths: eight of them for each power of two.
const middleOf = (bucket) => (bucket < 24 ? bucket : 2 ** Math.floor(bucket / 8) * (1 + (bucket % 8) / 8 + 1 / 16));

// Percentiles of lengths, of which the shorter may be known by their buckets only, and how many there are in steps of length.
function spreadOf({ lengths, buckets }) {
  const rows = [...lengths.map((nanos) => [nanos, 1]), ...[...buckets].map(([bucket, count]) => [middleOf(bucket), count])].sort(
    (a, b) => a[0] - b[0],
  );
  const count = rows.reduce((sum, row) => sum + row[1], 0);
  const at = (percent) => {
    let left = Math.max(1, Math.ceil((count * percent) / 100));
    for (const [nanos, own] of rows) {
      left -= own;
      if (left <= 0) return nanos;
    }
    return 0;
  };
  return { stopped: count, p50: at(50), p90: at(90), p99: at(99), rows };
}

// The innermost call that is not of the runtime's threading library: where the program waits.
export function ownFrame(frames) {
  return (
    frames.find((frame) => !frame.includes('System.Threading.') && !frame.includes('System.Private.CoreLib!Interop')) ?? frames[0] ?? ''
  );
}

// Samples of a kind by where the program was, heaviest first.
export function placesOf(trace, kind, range) {
  const [times, weights, nodes] = ['t', 'weight', 'node'].map((name) => trace.column(`${kind}.${name}`));
  const samples = trace.column(`${kind}.samples`);
  const sums = new Map();
  const [begin, end] = rowsWithin(times, range);
  for (let row = begin; row < end; row += 1) {
    const sum = sums.get(nodes[row]) || [0, 0, 0];
    sums.set(nodes[row], [sum[0] + weights[row], sum[1] + (samples.length ? samples[row] : 1), Math.max(sum[2], weights[row])]);
  }
  const places = new Map();
  for (const [node, [weight, count, max]] of sums) {
    const frames = framesOf(trace, node);
    const [own, inner] = [ownFrame(frames), frames[0] ?? ''];
    const key = `${own}\n${inner}`;
    const place = places.get(key) || { own, inner, weight: 0, count: 0, max: 0 };
    places.set(key, { ...place, weight: place.weight + weight, count: place.count + count, max: Math.max(place.max, max) });
  }
  return [...places.values()].sort((a, b) => b.weight - a.weight);
}

// Sums of what happened in a range.
export function rangeSums(trace, range) {
  const sum = (kind, states) => {
    const [times, weights, state, samples] = ['t', 'weight', 'state', 'samples'].map((name) => trace.column(`${kind}.${name}`));
    const [begin, end] = rowsWithin(times, range);
    const total = { weight: 0, count: 0 };
    for (let row = begin; row < end; row += 1) {
      if (state.length && !states.includes(state[row])) continue;
      total.weight += weights[row];
      total.count += samples.length ? samples[row] : 1;
    }
    return total;
  };
  const spans = (category) => {
    const { count, total, counted } = spanSums(trace, category, range);
    return { count, nanos: total, counted };
  };
  const begun = (what) => {
    const { count, total, counted } = occurrences(trace, what, range);
    return { count, nanos: total, counted };
  };
  const thrown = () => {
    const { groups, counted } = exceptionGroups(trace, range);
    return { count: groups.reduce((all, group) => all + group.count, 0), counted };
  };
  const alloc = ['alloc', 'alloc_ticks'].find((kind) => trace.column(`${kind}.t`).length);
  return {
    cpu: sum('cpu', STATES.running),
    waiting: sum('cpu', STATES.waiting),
    alloc: alloc ? sum(alloc, []) : null,
    exceptions: thrown(),
    gc: collectionTotals(trace, range),
    contention: spans('Contention'),
    waits: spans('Waits'),
    jit: spans('JIT'),
    activities: begun('activities'),
    requests: begun('requests'),
    events: eventCounts(trace, range),
  };
}

// Spans of a category that begin in the range, as rows.
export function spansOf(trace, category, range) {
  const starts = trace.column(`span.${category}.start`);
  const columns = ['nanos', 'thread', 'name', 'key', 'detail'].map((name) => trace.column(`span.${category}.${name}`));
  const [begin, end] = rowsWithin(starts, range);
  const texts = trace.texts.spans;
  const rows = [];
  for (let row = begin; row < end; row += 1) {
    const [nanos, thread, name, key, detail] = columns.map((column) => column[row]);
    rows.push({ start: starts[row], nanos, thread, name: texts[name], key: texts[key], detail: texts[detail] });
  }
  return rows;
}

// Notes about rows that the page leaves out. `name`: a category of spans, a kind of samples, a report.
export function thinnedOf(trace, name) {
  return (trace.thinned || []).map((row) => row.text).filter((text) => text.startsWith(`${name}:`));
}

// Number and length of the spans of a category that begin in a range, of all: the shorter ones of very many have no rows.
export function spanSums(trace, category, range) {
  const starts = trace.column(`span.${category}.start`);
  const counted = countedRange(trace, `span.${category}`, range);
  const [begin, end] = rowsWithin(starts, counted);
  const sums = { count: end - begin, total: 0, max: 0, keys: new Map(), counted };
  const nanos = [...trace.column(`span.${category}.nanos`).subarray(begin, end)].sort((a, b) => a - b);
  for (const length of nanos) sums.total += length;
  sums.max = nanos[nanos.length - 1] ?? 0;
  const [keys, totals, most] = ['key', 'total', 'max'].map((name) => trace.column(`span.${category}.others.${name}`));
  countOthers(trace, `span.${category}`, counted, (row, count) => {
    const key = trace.texts.spans[keys[row]];
    const own = sums.keys.get(key) || { count: 0, total: 0, max: 0 };
    sums.keys.set(key, { count: own.count + count, total: own.total + totals[row], max: Math.max(own.max, most[row]) });
    sums.count += count;
    sums.total += totals[row];
    sums.max = Math.max(sums.max, most[row]);
  });
  // Those without rows are the shorter ones.
  const rank = Math.max(1, Math.ceil((sums.count * 99) / 100)) - (sums.count - nanos.length);
  sums.p99 = rank > 0 ? (nanos[rank - 1] ?? 0) : null;
  return sums;
}

// Number and length of waits. For the whole trace the report's sums are used, which leave out waits that had not ended.
export function waitSums(trace, kind, category, range) {
  const report = trace.reports[kind];
  if (!range && report?.waits) {
    const { count, total_ns: total, p99_ns: p99, max_ns: max } = report.waits;
    return { count, total, p99, max, open: report.still_waiting ?? 0, counted: range };
  }
  return { ...spanSums(trace, category, range), open: 0 };
}

// Waits for locks, by lock.
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

export function percentile(sorted, percent) {
  return sorted.length ? sorted[Math.min(sorted.length, Math.max(1, Math.ceil((sorted.length * percent) / 100))) - 1] : 0;
}

// The numbers of all collections, where only some are listed.
function allCollections(trace, range) {
  const columns = ['t', 'pause', 'generation', 'allocated', 'promoted', 'missing'].map((name) => trace.column(`gc.${name}`));
  const [begin, end] = rowsWithin(columns[0], range);
  const rows = [];
  for (let row = begin; row < end; row += 1) {
    const [start_ns, pause_ns, generation, allocated_bytes, promoted_bytes, missing] = columns.map((column) => column[row]);
    rows.push({
      start_ns,
      pause_ns,
      generation,
      allocated_bytes,
      promoted_bytes,
      is_complete: missing === 0,
      pauses: missing === 2 ? [] : null,
    });
  }
  return rows;
}

// Collections that begin in the range, and their totals.
export function collectionTotals(trace, range) {
  const listed = (trace.reports.gc?.collections || []).filter((row) => isWithin(range, row.start_ns));
  // Of very many only some are listed, but the numbers of all are there.
  const rows = trace.column('gc.t').length ? allCollections(trace, range) : listed;
  // A collection whose pause was lost has no rank.
  const pauses = rows
    .filter((row) => row.pauses?.length !== 0)
    .map((row) => row.pause_ns)
    .sort((a, b) => a - b);
  const complete = rows.filter((row) => row.is_complete !== false).length;
  const sum = (values) => values.reduce((total, value) => total + (value || 0), 0);
  const generations = [0, 1, 2].map((generation) => {
    const own = rows.filter((row) => row.generation === generation);
    return {
      generation,
      count: own.length,
      pause: sum(own.map((row) => row.pause_ns)),
      max: Math.max(0, maxOf(own.map((row) => row.pause_ns))),
    };
  });
  return {
    rows: listed,
    all: rows,
    count: complete,
    incomplete: rows.length - complete,
    pause: sum(pauses),
    max: pauses.length ? pauses[pauses.length - 1] : 0,
    p50: percentile(pauses, 50),
    p90: percentile(pauses, 90),
    p99: percentile(pauses, 99),
    allocated: sum(rows.map((row) => row.allocated_bytes)),
    promoted: sum(rows.map((row) => row.promoted_bytes)),
    generations,
  };
}

// Where collections were triggered: how many, and how long they paused the program; most first.
export function triggerPlaces(trace, range) {
  const [times, nodes] = ['t', 'node'].map((name) => trace.column(`triggers.${name}`));
  const collections = collectionTotals(trace, null).all;
  const starts = collections.map((row) => row.start_ns);
  const sums = new Map();
  const [begin, end] = rowsWithin(times, range);
  let last = -1;
  for (let row = begin; row < end; row += 1) {
    // It starts a little after it was triggered; one that runs already may be all that follows.
    const next = Math.max(last + 1, lowerBound(starts, times[row]));
    const isStarted = next < starts.length && (row + 1 >= times.length || starts[next] < times[row + 1]);
    if (isStarted) last = next;
    const sum = sums.get(nodes[row]) || { count: 0, pause: 0, generations: [] };
    sums.set(nodes[row], sum);
    sum.count += 1;
    if (isStarted) {
      sum.pause += collections[next].pause_ns;
      sum.generations.push(collections[next].generation);
    }
  }
  // By the program's call: it may be reached on many ways.
  const places = new Map();
  for (const [node, { count, pause, generations }] of sums) {
    const frames = framesOf(trace, node);
    const own = ownFrame(frames);
    const place = places.get(own) || { own, count: 0, pause: 0, generations: new Set(), stacks: [] };
    places.set(own, place);
    place.count += count;
    place.pause += pause;
    generations.forEach((generation) => place.generations.add(generation));
    place.stacks.push({ frames, count });
  }
  return [...places.values()]
    .map((place) => ({
      ...place,
      stacks: place.stacks.sort((a, b) => b.count - a.count),
      generations: [...place.generations].sort().join(', '),
    }))
    .sort((a, b) => b.count - a.count || b.pause - a.pause);
}

// What waiting threads wait for, by their stacks: time and samples of each thing.
export function blockedBy(trace, range, thread = null) {
  const words = trace.kinds.cpu?.waits_for ?? [];
  const [times, weights, threads, of, samples] = ['t', 'weight', 'thread', 'for', 'samples'].map((name) => trace.column(`cpu.${name}`));
  const rows = words.map((word) => ({ word, weight: 0, samples: 0, threads: new Set() }));
  if (!of.length) return [];
  const [begin, end] = rowsWithin(times, range);
  for (let row = begin; row < end; row += 1) {
    if (of[row] === 0 || (thread !== null && threads[row] !== thread)) continue;
    const own = rows[of[row] - 1];
    own.weight += weights[row];
    own.samples += samples.length ? samples[row] : 1;
    own.threads.add(threads[row]);
  }
  return rows.filter((row) => row.samples > 0).sort((a, b) => b.weight - a.weight);
}

// Threads that waited for locks, and the threads that had these when the waits began: who lets whom go on.
export function heldUpBy(trace, range) {
  // From .NET 11 on owners are named by managed ids.
  const keyOf = (thread, isManaged, id) => `${thread.process} ${isManaged ? 'managed ' : ''}thread ${id}`;
  const known = new Map(
    trace.threads.flatMap((thread, index) => [
      [keyOf(thread, false, thread.id), index],
      [keyOf(thread, true, thread.managed), index],
    ]),
  );
  const pairs = new Map();
  for (const span of spansOf(trace, 'Contention', range)) {
    const owner = Number(/owner_thread: (\d+)/.exec(span.detail)?.[1] ?? 0);
    if (owner === 0) continue;
    const key = `${span.thread} ${owner}`;
    const waiting = trace.threads[span.thread] ?? {};
    const isManaged = Number.isInteger(waiting.managed);
    const place = known.get(keyOf(waiting, isManaged, owner)) ?? null;
    const pair = pairs.get(key) || {
      thread: span.thread,
      owner: place,
      label: trace.threads[place]?.label ?? `${isManaged ? 'managed ' : ''}thread ${owner}`,
      count: 0,
      total: 0,
      max: 0,
    };
    pairs.set(key, { ...pair, count: pair.count + 1, total: pair.total + span.nanos, max: Math.max(pair.max, span.nanos) });
  }
  return [...pairs.values()].sort((a, b) => b.total - a.total);
}

// Weight in each of `count` equal parts of the range. With `lasts`, a weight is a duration and spread over its parts.
export function bins(times, weights, range, count, { lasts = false, wanted = null } = {}) {
  const sums = new Float64Array(count);
  const step = (range.to - range.from) / count;
  const end = times.length;
  // What began before the range may reach into it. Samples are short, so a few thousand rows back suffice.
  const begin = lasts ? Math.max(0, lowerBound(times, range.from) - 5000) : lowerBound(times, range.from);
  for (let row = begin; row < end && times[row] < range.to; row += 1) {
    if (wanted && !wanted(row)) continue;
    const weight = weights ? weights[row] : 1;
    if (!lasts || weight <= step / 8) {
      const bin = Math.floor((times[row] - range.from) / step);
      if (bin >= 0 && bin < count) sums[bin] += weight;
      continue;
    }
    const from = Math.max(times[row], range.from);
    const to = Math.min(times[row] + weight, range.to);
    for (let bin = Math.max(0, Math.floor((from - range.from) / step)); bin < count && range.from + bin * step < to; bin += 1) {
      const left = Math.max(from, range.from + bin * step);
      const right = Math.min(to, range.from + (bin + 1) * step);
      if (right > left) sums[bin] += right - left;
    }
  }
  return sums;
}
