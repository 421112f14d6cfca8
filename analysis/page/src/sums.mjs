// Adds up the rows of a range, which no document of a report does. This module touches no element of the page.
import { baseNodes, callTree, methodSums } from './calls.mjs';
import { frameText, ownFrame } from './frames.mjs';
import { columnsOf, eachSample, endpointNumber, isWithin, lowerBound, maxOf, rowsWithin } from './ranges.mjs';

// Returns the range that is counted instead of a chosen one. Some occurrences of a list have no row, but are counted in bins of time, and
// if an end of the range lies within a bin, the whole bin counts. Returns the same object if no bin is cut.
export function countedRange(trace, list, range) {
  const bin = trace.sums?.[`${list}.others`]?.bin_ns;
  if (!range || !bin) return range;
  const [times, lasts] = columnsOf(trace, `${list}.others`, ['t', 'lasts']);
  const begin = (at) => Math.floor(at / bin) * bin;
  const isCut = (at) => {
    for (let row = lowerBound(times, begin(at)); times[row] < at; row += 1) if (times[row] + lasts[row] >= at) return true;
    return false;
  };
  const counted = { from: isCut(range.from) ? begin(range.from) : range.from, to: isCut(range.to) ? begin(range.to) + bin : range.to };
  return counted.from === range.from && counted.to === range.to ? range : counted;
}

// Calls `visit(row, count)` for each sum of occurrences without a row, in a range of `countedRange`.
function countOthers(trace, list, counted, visit) {
  const [times, counts] = columnsOf(trace, `${list}.others`, ['t', 'count']);
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) visit(row, counts[row]);
}

// Returns exceptions as `groups` by type, message and stack, and the range in which they are counted as `counted`.
export function thrownIn(trace, range) {
  const groups = new Map();
  const counted = countedRange(trace, 'thrown', range);
  const add = (number, message, node, count, first, last) => {
    const text = trace.texts.exceptions[number];
    let type = groups.get(text);
    if (!type) groups.set(text, (type = { type: text, count: 0, first, last, messages: new Map(), stacks: new Map() }));
    type.count += count;
    type.first = Math.min(type.first, first);
    type.last = Math.max(type.last, last);
    if (message !== null) type.messages.set(message, (type.messages.get(message) || 0) + count);
    if (node !== null) type.stacks.set(node, (type.stacks.get(node) || 0) + count);
  };
  const [times, types, messages, nodes] = columnsOf(trace, 'thrown', ['t', 'type', 'message', 'node']);
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) add(types[row], messages[row], nodes[row], 1, times[row], times[row]);
  const [first, lasts, type, place] = columnsOf(trace, 'thrown.others', ['t', 'lasts', 'type', 'place']);
  const [placeMessages, placeNodes] = columnsOf(trace, 'thrown.places', ['message', 'node']);
  countOthers(trace, 'thrown', counted, (row, count) => {
    const at = place[row] - 1;
    add(type[row], at < 0 ? null : placeMessages[at], at < 0 ? null : placeNodes[at], count, first[row], first[row] + lasts[row]);
  });
  const byCount = (map) => [...map].sort((a, b) => b[1] - a[1]);
  const rows = [...groups.values()]
    .map((group) => ({
      ...group,
      messages: byCount(group.messages).map(([message, count]) => ({ message: trace.texts.messages[message], count })),
      stacks: throwStacks(trace, group.stacks),
    }))
    .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
  return { groups: rows, counted };
}

// Returns stacks that threw, most frequent first, without the frames of the runtime that dispatch the exception. What differs only in these
// is one stack.
function throwStacks(trace, nodes) {
  const stacks = new Map();
  for (const [node, count] of nodes) {
    const frames = framesOf(trace, node);
    const from = frames.findIndex((frame) => !trace.frames.dispatch?.[frame]);
    const texts = frames.slice(Math.max(0, from)).map((frame) => frameText(trace, frame));
    const key = texts.join('\n');
    stacks.set(key, { frames: texts, count: (stacks.get(key)?.count ?? 0) + count });
  }
  return [...stacks.values()].sort((a, b) => b.count - a.count);
}

// Returns the numbers of events in a range, by type and by thread.
export function eventCounts(trace, range) {
  const [times, types, threads] = columnsOf(trace, 'events', ['t', 'type', 'thread']);
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
  const [otherTypes, otherThreads] = columnsOf(trace, 'events.others', ['type', 'thread']);
  countOthers(trace, 'events', counted, (row, count) => add(otherTypes[row], otherThreads[row], count));
  return sums;
}

// Returns the activities, requests, or tasks (`tasks.ran` and so on) that begin in a range, by name, with the rows that the page has.
export function begunIn(trace, what, range) {
  const [times, lengths, names, failed, unknown] = columnsOf(trace, what, ['t', 'nanos', 'name', 'failed', 'unknown']);
  const counted = countedRange(trace, what, range);
  const nothing = { count: 0, failed: 0, open: 0, unknown: 0, total: 0, max: 0 };
  const all = { ...nothing, rows: [], names: new Map(), counted };
  const texts = ['activities', 'requests'].includes(what) ? trace.texts.activities : trace.texts.tasks;
  const groupOf = (number) => {
    let group = all.names.get(number);
    if (!group)
      all.names.set(
        number,
        (group = { name: texts[number], ...nothing, lengths: [], buckets: new Map() }),
      );
    return group;
  };
  const [begin, end] = rowsWithin(times, counted);
  for (let row = begin; row < end; row += 1) {
    const isUnknown = unknown[row] === 1;
    const isOpen = lengths[row] === 0 && !isUnknown;
    const nanos = Math.max(0, lengths[row] - 1);
    const group = groupOf(names[row]);
    for (const sum of [all, group]) {
      sum.count += 1;
      sum.failed += failed[row];
      sum.open += isOpen ? 1 : 0;
      sum.unknown += isUnknown ? 1 : 0;
      sum.total += nanos;
      sum.max = Math.max(sum.max, nanos);
    }
    if (!isOpen && !isUnknown) group.lengths.push(nanos);
    all.rows.push({ name: group.name, start: times[row], nanos, isOpen, isUnknown, failed: failed[row] === 1 });
  }
  const [otherNames, otherFailed, bucket, total, most] = columnsOf(trace, `${what}.others`, ['name', 'failed', 'bucket', 'total', 'max']);
  countOthers(trace, what, counted, (row, count) => {
    const group = groupOf(otherNames[row]);
    for (const sum of [all, group]) {
      sum.count += count;
      sum.failed += otherFailed[row] ? count : 0;
      sum.open += bucket[row] === OPEN_BUCKET ? count : 0;
      sum.unknown += bucket[row] === UNKNOWN_BUCKET ? count : 0;
      sum.total += total[row];
      sum.max = Math.max(sum.max, most[row]);
    }
    if (bucket[row] < OPEN_BUCKET) group.buckets.set(bucket[row], (group.buckets.get(bucket[row]) || 0) + count);
  });
  all.groups = [...all.names.values()]
    .map((group) => ({ ...group, ...spreadOf(group) }))
    .map((group) => ({ ...group, mean: group.stopped ? group.total / group.stopped : null }))
    .sort((a, b) => b.total - a.total || b.count - a.count);
  return all;
}

// Buckets of what has no length, as in analysis/src/page/activities.rs: what had not stopped, and what has an unknown length.
const OPEN_BUCKET = 512;
const UNKNOWN_BUCKET = 513;

// Returns the middle of a bucket of lengths. Each power of two has eight buckets.
const middleOf = (bucket) => (bucket < 24 ? bucket : 2 ** Math.floor(bucket / 8) * (1 + (bucket % 8) / 8 + 1 / 16));

// Returns percentiles of lengths, and a histogram. The shorter lengths may be known only by their buckets.
function spreadOf({ lengths, buckets }) {
  const rows = [...lengths.map((nanos) => [nanos, 1]), ...[...buckets].map(([bucket, count]) => [middleOf(bucket), count])].sort(
    (a, b) => a[0] - b[0],
  );
  const count = rows.reduce((sum, row) => sum + row[1], 0);
  const at = (percent) => percentile(rows, percent);
  return { stopped: count, p50: at(50), p90: at(90), p99: at(99), rows };
}

// Returns a percentile of rows [value, count] in ascending order.
export function percentile(rows, percent) {
  const count = rows.reduce((sum, row) => sum + row[1], 0);
  let left = Math.max(1, Math.ceil((count * percent) / 100));
  for (const [value, own] of rows) {
    left -= own;
    if (left <= 0) return value;
  }
  return 0;
}

// Returns the frames of a node's stack, innermost first.
function framesOf(trace, node) {
  const base = baseNodes(trace);
  const frames = [];
  for (let up = node; up !== 0; up = base.parent[up]) frames.push(base.frame[up]);
  return frames;
}

export const textsOf = (trace, node) => framesOf(trace, node).map((frame) => frameText(trace, frame));

// Returns samples of a kind by the program's innermost frame, heaviest first.
export function placesOf(trace, kind, range) {
  const nodes = trace.column(`${kind}.node`);
  const sums = new Map();
  eachSample(trace, kind, { range }, (row, weight, samples) => {
    const sum = sums.get(nodes[row]) || [0, 0, 0];
    sums.set(nodes[row], [sum[0] + weight, sum[1] + samples, Math.max(sum[2], weight)]);
  });
  const places = new Map();
  for (const [node, [weight, count, max]] of sums) {
    const frames = framesOf(trace, node);
    const [own, inner] = [ownFrame(trace, frames), frames[0] ?? null];
    const key = `${own} ${inner}`;
    const place = places.get(key) || { own: frameText(trace, own), inner: frameText(trace, inner), weight: 0, count: 0, max: 0 };
    places.set(key, { ...place, weight: place.weight + weight, count: place.count + count, max: Math.max(place.max, max) });
  }
  return [...places.values()].sort((a, b) => b.weight - a.weight);
}

// Returns what ran and what waited for the requests to an endpoint: the tree and the methods of threads that ran, and the calls in which
// threads waited, longest first.
export function endpointTime(trace, name, range) {
  const endpoint = endpointNumber(trace, name);
  const tree = callTree(trace, 'cpu', { range, endpoint });
  const [numbers] = columnsOf(trace, 'cpu', ['call']);
  const calls = trace.kinds.cpu?.calls ?? [];
  const waits = new Map();
  const all = { tree, methods: methodSums(tree), waitWeight: 0, waitSamples: 0 };
  eachSample(trace, 'cpu', { range, states: 'waiting', endpoint }, (row, weight, samples) => {
    all.waitWeight += weight;
    all.waitSamples += samples;
    const wait = waits.get(numbers[row]) || { call: '', by: null, ...calls[numbers[row] - 1], weight: 0, samples: 0 };
    waits.set(numbers[row], { ...wait, weight: wait.weight + weight, samples: wait.samples + samples });
  });
  return { ...all, waits: [...waits.values()].sort((a, b) => b.weight - a.weight) };
}

// Returns the kind of samples that shows allocations: random samples, which .NET 10 writes, else ticks.
export const allocKind = (trace) => (trace.column('alloc.t').length ? 'alloc' : 'alloc_ticks');

// Returns sums of a range for the overview.
export function rangeSums(trace, range) {
  const sum = (kind, states) => {
    const total = { weight: 0, count: 0 };
    const nodes = trace.column(`${kind}.node`);
    eachSample(trace, kind, { range, states }, (row, weight, samples) => {
      if (nodes[row] === trace.kinds[kind]?.recording) return;
      total.weight += weight;
      total.count += samples;
    });
    return total;
  };
  const spans = (category) => {
    const { count, total, counted } = spanSums(trace, category, range);
    return { count, nanos: total, counted };
  };
  const begun = (what) => {
    const { count, total, counted } = begunIn(trace, what, range);
    return { count, nanos: total, counted };
  };
  const thrown = () => {
    const { groups, counted } = thrownIn(trace, range);
    return { count: groups.reduce((all, group) => all + group.count, 0), counted };
  };
  const alloc = allocKind(trace);
  return {
    cpu: sum('cpu', 'running'),
    waiting: sum('cpu', 'waiting'),
    alloc: trace.column(`${alloc}.t`).length ? sum(alloc, 'all') : null,
    exceptions: thrown(),
    gc: collectionsIn(trace, range),
    contention: spans('Contention'),
    waits: spans('Waits'),
    jit: spans('JIT'),
    activities: begun('activities'),
    requests: begun('requests'),
    events: eventCounts(trace, range),
  };
}

// Returns the spans of a category that begin in a range.
export function spansOf(trace, category, range) {
  const names = ['start', 'nanos', 'thread', 'name', 'key', 'detail', 'owner'];
  const [starts, ...columns] = columnsOf(trace, `span.${category}`, names);
  const [begin, end] = rowsWithin(starts, range);
  const texts = trace.texts.spans;
  const rows = [];
  for (let row = begin; row < end; row += 1) {
    const [nanos, thread, name, key, detail, owner = 0] = columns.map((column) => column[row]);
    rows.push({ start: starts[row], nanos, thread, name: texts[name], key: texts[key], detail: texts[detail], owner });
  }
  return rows;
}

// Returns number and length of all spans of a category that begin in a range, those without a row included.
export function spanSums(trace, category, range) {
  const starts = trace.column(`span.${category}.start`);
  const counted = countedRange(trace, `span.${category}`, range);
  const [begin, end] = rowsWithin(starts, counted);
  const sums = { count: end - begin, total: 0, max: 0, keys: new Map(), counted };
  const nanos = [...trace.column(`span.${category}.nanos`).subarray(begin, end)].sort((a, b) => a - b);
  for (const length of nanos) sums.total += length;
  sums.max = nanos[nanos.length - 1] ?? 0;
  const [keys, totals, most] = columnsOf(trace, `span.${category}.others`, ['key', 'total', 'max']);
  countOthers(trace, `span.${category}`, counted, (row, count) => {
    const key = trace.texts.spans[keys[row]];
    const own = sums.keys.get(key) || { count: 0, total: 0, max: 0 };
    sums.keys.set(key, { count: own.count + count, total: own.total + totals[row], max: Math.max(own.max, most[row]) });
    sums.count += count;
    sums.total += totals[row];
    sums.max = Math.max(sums.max, most[row]);
  });
  // Spans without a row are shorter than all with a row.
  const rank = Math.max(1, Math.ceil((sums.count * 99) / 100)) - (sums.count - nanos.length);
  sums.p99 = rank > 0 ? (nanos[rank - 1] ?? 0) : null;
  return sums;
}

// Returns the methods whose compilation began in a range as `tiers`, and the range in which they are counted as `counted`.
export function compiledIn(trace, range) {
  const counted = countedRange(trace, 'jit', range);
  const [tier, nanos] = columnsOf(trace, 'jit.others', ['tier', 'total']);
  const tiers = new Map();
  countOthers(trace, 'jit', counted, (row, count) => {
    const name = trace.reports.jit?.tiers[tier[row]]?.tier ?? 'Unknown';
    const own = tiers.get(name) || { tier: name, methods: 0, duration_ns: 0 };
    tiers.set(name, { tier: name, methods: own.methods + count, duration_ns: own.duration_ns + nanos[row] });
  });
  return { tiers: [...tiers.values()].sort((one, other) => other.duration_ns - one.duration_ns), counted };
}

// Returns the number of log messages in a range as `count`, and the range in which they are counted as `counted`; `null` if all are listed.
export function messagesIn(trace, range) {
  if (!trace.column('logs.others.t').length) return null;
  const counted = countedRange(trace, 'logs', range);
  let sum = 0;
  countOthers(trace, 'logs', counted, (row, count) => (sum += count));
  return { count: sum, counted };
}

// Returns the numbers of all collections in a range of `countedRange`, if the page lists only some. If there are very many, a row has the
// sums of `count` collections, and the longest pause as `max`.
function allCollections(trace, counted) {
  const names = ['t', 'total', 'max', 'generation', 'allocated', 'promoted', 'missing'];
  const columns = columnsOf(trace, 'gc.others', names);
  const rows = [];
  countOthers(trace, 'gc', counted, (row, count) => {
    const [start_ns, pause_ns, max, generation, allocated_bytes, promoted_bytes, missing] = columns.map((column) => column[row]);
    const pauses = missing === 2 ? [] : null;
    rows.push({ start_ns, pause_ns, max, count, generation, allocated_bytes, promoted_bytes, is_complete: missing === 0, pauses });
  });
  return rows;
}

// Returns the pauses of a row as [pause, number]. Of several collections all but the longest are taken as equally long.
export const pausesOf = ({ pause_ns, count = 1, max = pause_ns }) =>
  count === 1
    ? [[pause_ns, 1]]
    : [
        [(pause_ns - max) / (count - 1), count - 1],
        [max, 1],
      ];

// Returns the collections that begin in a range, and their totals, and the range in which they are counted as `counted`.
export function collectionsIn(trace, range) {
  const listed = (trace.reports.gc?.collections || []).filter((row) => isWithin(range, row.start_ns));
  // The page has the numbers of all collections, even if it lists only some.
  const counted = countedRange(trace, 'gc', range);
  const rows = trace.column('gc.others.t').length ? allCollections(trace, counted) : listed;
  // A collection whose pause was lost has no rank.
  const pauses = rows
    .filter((row) => row.pauses?.length !== 0)
    .flatMap(pausesOf)
    .sort((a, b) => a[0] - b[0]);
  const sum = (values) => values.reduce((total, value) => total + (value || 0), 0);
  const number = (of) => sum(of.map((row) => row.count ?? 1));
  const complete = number(rows.filter((row) => row.is_complete !== false));
  const generations = [0, 1, 2].map((generation) => {
    const own = rows.filter((row) => row.generation === generation);
    return {
      generation,
      count: number(own),
      pause: sum(own.map((row) => row.pause_ns)),
      max: Math.max(0, maxOf(own.map((row) => row.max ?? row.pause_ns))),
    };
  });
  return {
    rows: listed,
    all: rows,
    count: complete,
    incomplete: number(rows) - complete,
    pause: sum(pauses.map(([pause, times]) => pause * times)),
    max: percentile(pauses, 100),
    p50: percentile(pauses, 50),
    p90: percentile(pauses, 90),
    p99: percentile(pauses, 99),
    allocated: sum(rows.map((row) => row.allocated_bytes)),
    promoted: sum(rows.map((row) => row.promoted_bytes)),
    generations,
    counted,
  };
}

// Returns the places that triggered collections, with the number and pauses of these, most first.
export function triggerPlaces(trace, range) {
  const [times, nodes] = columnsOf(trace, 'triggers', ['t', 'node']);
  const collections = collectionsIn(trace, null).all;
  const starts = collections.map((row) => row.start_ns);
  const sums = new Map();
  const [begin, end] = rowsWithin(times, range);
  let last = -1;
  for (let row = begin; row < end; row += 1) {
    // A collection starts a little after its trigger. There may be none, if a running collection serves the trigger.
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
  // Triggers are grouped by the program's call, to which many stacks may lead.
  const places = new Map();
  for (const [node, { count, pause, generations }] of sums) {
    const frames = framesOf(trace, node);
    const own = ownFrame(trace, frames);
    const place = places.get(own) || { own: frameText(trace, own), count: 0, pause: 0, generations: new Set(), stacks: [] };
    places.set(own, place);
    place.count += count;
    place.pause += pause;
    generations.forEach((generation) => place.generations.add(generation));
    place.stacks.push({ frames: textsOf(trace, node), count });
  }
  return [...places.values()]
    .map((place) => ({
      ...place,
      stacks: place.stacks.sort((a, b) => b.count - a.count),
      generations: [...place.generations].sort().join(', '),
    }))
    .sort((a, b) => b.count - a.count || b.pause - a.pause);
}

// Returns the time and samples of each kind of wait, by the stacks of waiting threads.
export function blockedBy(trace, range) {
  const words = trace.kinds.cpu?.waits_for ?? [];
  const [threads, of] = columnsOf(trace, 'cpu', ['thread', 'for']);
  const rows = words.map((word) => ({ word, weight: 0, samples: 0, threads: new Set() }));
  if (!of.length) return [];
  eachSample(trace, 'cpu', { range }, (row, weight, samples) => {
    if (of[row] === 0) return;
    const own = rows[of[row] - 1];
    own.weight += weight;
    own.samples += samples;
    own.threads.add(threads[row]);
  });
  return rows.filter((row) => row.samples > 0).sort((a, b) => b.weight - a.weight);
}

// Returns the threads that waited for locks, with the threads that held the locks when the waits began.
export function heldUpBy(trace, range) {
  // Since .NET 11, owners are named by managed ids.
  const keyOf = (thread, isManaged, id) => `${thread.process} ${isManaged ? 'managed ' : ''}thread ${id}`;
  const known = new Map(
    trace.threads.flatMap((thread, index) => [
      [keyOf(thread, false, thread.id), index],
      [keyOf(thread, true, thread.managed), index],
    ]),
  );
  const pairs = new Map();
  for (const span of spansOf(trace, 'Contention', range)) {
    const { owner } = span;
    if (!owner) continue;
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

// Returns the weight in each of `count` equal parts of a range. With `lasts`, a weight is a duration, and is spread over its parts.
export function bins(times, weights, range, count, { lasts = false, wanted = null } = {}) {
  const sums = new Float64Array(count);
  const step = (range.to - range.from) / count;
  const end = times.length;
  // Rows that began before the range may reach into it. As samples are short, a few thousand rows before are enough.
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

// Columns of what the operating system counted for a thread between two readings.
const READINGS = ['t', 'nanos', 'thread', 'ran', 'ready', 'throttled'];

// Returns how long threads ran in each of `count` equal parts of a range, were ready without a processor, and were throttled while they
// were, as the readings say. `wanted(thread)` chooses threads. The time of a row is spread evenly.
export function readingBins(trace, range, count, wanted) {
  const [times, lengths, threads, ran, ready, throttled] = columnsOf(trace, 'readings', READINGS);
  const sums = [0, 1, 2].map(() => new Float64Array(count));
  const step = (range.to - range.from) / count;
  for (let row = 0; row < times.length && times[row] < range.to; row += 1) {
    const end = times[row] + lengths[row];
    if (end <= range.from || lengths[row] === 0 || !wanted(threads[row])) continue;
    const [from, to] = [Math.max(times[row], range.from), Math.min(end, range.to)];
    const parts = [ran[row], ready[row] - throttled[row], throttled[row]].map((part) => part / lengths[row]);
    for (let bin = Math.max(0, Math.floor((from - range.from) / step)); bin < count && range.from + bin * step < to; bin += 1) {
      const within = Math.min(to, range.from + (bin + 1) * step) - Math.max(from, range.from + bin * step);
      if (within > 0) parts.forEach((part, which) => (sums[which][bin] += part * within));
    }
  }
  return sums;
}

// Returns how long each thread ran in a range, was ready without a processor, and was throttled while it was, as the readings say. Of a
// row that lies only partly in the range, its share counts.
export function readingSums(trace, range) {
  const [times, lengths, threads, ran, ready, throttled] = columnsOf(trace, 'readings', READINGS);
  const sums = new Map();
  times.forEach((from, row) => {
    const within = range ? Math.min(range.to, from + lengths[row]) - Math.max(range.from, from) : lengths[row];
    if (within <= 0) return;
    const own = sums.get(threads[row]) ?? [0, 0, 0];
    sums.set(
      threads[row],
      [ran, ready, throttled].map((column, which) => own[which] + Math.round((column[row] * within) / lengths[row])),
    );
  });
  return sums;
}
