// The lanes of the time line.
import {
  countOf,
  formatNanos,
  formatBytes,
  formatCount,
  formatDecimal,
  formatMeasured,
  formatPercent,
  formatValue,
  hasFittingUnit,
} from './format.mjs';
import { occurrences } from './query.mjs';
import { columnsOf, eachSample, maxOf } from './ranges.mjs';
import { allocKind, bins, readingBins } from './sums.mjs';

// Maximum number of threads with a lane.
const THREADS = 8;

// Returns a lane of what the operating system counted for threads: how long they ran, were ready without a processor, and were throttled.
function readingLane(trace, wanted, more) {
  const isThrottled = trace.column('readings.throttled').some((nanos) => nanos > 0);
  const used = isThrottled ? 3 : 2;
  return {
    colours: ['ran', 'ready', 'throttled'].slice(0, used),
    names: ['ran', 'ready, without a processor', 'throttled by the limit'].slice(0, used),
    values: (range, count) =>
      readingBins(trace, range, count, wanted)
        .slice(0, used)
        .map((sums) => sums.map((sum) => sum / ((range.to - range.from) / count))),
    ...more,
  };
}

// Returns the lanes of the threads that ran most, with their states over time.
export function threadLanes(trace) {
  const [times, weights, threads, state] = columnsOf(trace, 'cpu', ['t', 'weight', 'thread', 'state']);
  const ran = new Map();
  eachSample(trace, 'cpu', {}, (row, weight) => ran.set(threads[row], (ran.get(threads[row]) || 0) + (state[row] < 2 ? weight : 0)));
  const busiest = [...ran]
    .sort((a, b) => b[1] - a[1])
    .slice(0, THREADS)
    .map(([thread]) => thread);
  const rows = new Map(busiest.map((thread) => [thread, []]));
  for (let row = 0; row < times.length; row += 1) rows.get(threads[row])?.push(row);
  const read = new Set(trace.column('readings.thread'));
  return busiest.flatMap((thread) => {
    const [own, lengths, states] = [times, weights, state].map((column) => rows.get(thread).map((row) => column[row]));
    const lane = {
      name: trace.threads[thread]?.label ?? `thread ${thread}`,
      place: { view: 'cpu', states: 'all', thread },
      height: 15,
      full: 1,
      top: '',
      isThread: true,
      unit: (value) => formatPercent(value * 100),
    };
    const sampled = {
      ...lane,
      colours: ['managed', 'native', 'waiting'],
      names: ['managed', 'native', 'waits'],
      values: (range, count) =>
        [0, 1, 2].map((wanted) =>
          bins(own, lengths, range, count, { lasts: true, wanted: (row) => states[row] === wanted }).map(
            (sum) => sum / ((range.to - range.from) / count),
          ),
        ),
    };
    // Samples show where a thread was, and readings whether it had a processor.
    const about = { name: '… on a processor', tip: `${lane.name}, on a processor`, height: 12 };
    const counted = readingLane(trace, (one) => one === thread, { ...lane, ...about });
    return read.has(thread) ? [sampled, counted] : [sampled];
  });
}

// Returns the lanes for which a trace has data.
export function lanesOf(trace) {
  const lanes = [];
  const perSecond = (sum, step) => sum / (step / 1e9);
  if (trace.has('cpu.t') && trace.column('cpu.t').length) {
    const state = trace.column('cpu.state');
    lanes.push({
      name: 'CPU',
      place: { view: 'cpu' },
      about: 'threads that run',
      height: 46,
      unit: (value) => `${formatDecimal(value, 2)} threads`,
      most: (value) => `${formatDecimal(value, 1)} threads`,
      colours: ['managed', 'native'],
      names: ['managed', 'native'],
      values: (range, count) => {
        const step = (range.to - range.from) / count;
        return [0, 1].map((wanted) =>
          bins(trace.column('cpu.t'), trace.column('cpu.weight'), range, count, {
            lasts: true,
            wanted: (row) => state[row] === wanted,
          }).map((sum) => sum / step),
        );
      },
    });
    if (state.some((one) => one === 2)) {
      lanes.push({
        name: 'Waiting',
        place: { view: 'cpu', states: 'waiting' },
        about: 'threads that wait',
        height: 20,
        unit: (value) => `${formatDecimal(value, 1)} threads`,
        most: (value) => `${formatDecimal(value, 1)} threads`,
        colours: ['waiting'],
        names: ['waiting'],
        values: (range, count) => [
          bins(trace.column('cpu.t'), trace.column('cpu.weight'), range, count, { lasts: true, wanted: (row) => state[row] === 2 }).map(
            (sum) => sum / ((range.to - range.from) / count),
          ),
        ],
      });
    }
  }
  if (trace.column('readings.t').length)
    lanes.push(
      readingLane(trace, () => true, {
        name: 'Processor time',
        place: { view: 'threads' },
        height: 34,
        unit: (value) => `${formatDecimal(value, 2)} threads`,
        most: (value) => `${formatDecimal(value, 1)} threads`,
      }),
    );
  const collections = trace.reports.gc?.collections || [];
  if (collections.length) {
    const marks = collections.flatMap((row) =>
      (row.pauses || []).map((pause) => ({
        from: pause.start_ns,
        to: pause.start_ns + pause.pause_ns,
        colour: `gen${Math.min(2, row.generation ?? 2)}`,
        text: `gen ${row.generation ?? '?'}, ${row.reason}: ${formatNanos(pause.pause_ns)}`,
      })),
    );
    marks.sort((a, b) => a.from - b.from);
    lanes.push({
      name: 'GC pauses',
      staysFolded: true,
      place: { view: 'gc' },
      about: 'by generation',
      height: 22,
      marks,
      top: `≤ ${formatNanos(maxOf(marks.map((mark) => mark.to - mark.from)))}`,
      legend: [
        ['gen0', 'gen 0'],
        ['gen1', 'gen 1'],
        ['gen2', 'gen 2'],
      ],
    });
  }
  const allocated = allocKind(trace);
  const rate = (name, times, weights, unit, fill, place) =>
    lanes.push({
      name,
      place,
      height: 26,
      unit,
      colours: [fill],
      names: [name],
      values: (range, count) => [bins(times, weights, range, count).map((sum) => perSecond(sum, (range.to - range.from) / count))],
    });
  if (trace.column(`${allocated}.t`).length)
    rate('Allocated', trace.column(`${allocated}.t`), trace.column(`${allocated}.weight`), (value) => `${formatBytes(value)}/s`, 'alloc', {
      view: 'cpu',
      kind: allocated,
    });
  else if (collections.some((row) => row.allocated_bytes)) {
    const known = collections.filter((row) => row.allocated_bytes);
    rate(
      'Allocated',
      known.map((row) => row.start_ns),
      known.map((row) => row.allocated_bytes),
      (value) => `${formatBytes(value)}/s`,
      'alloc',
      { view: 'gc' },
    );
  }
  if (trace.column('exceptions.t').length)
    rate('Exceptions', trace.column('exceptions.t'), trace.column('exceptions.weight'), (value) => `${formatCount(value)}/s`, 'bad', {
      view: 'exceptions',
    });
  const most = (value) => `${formatDecimal(value, 1)} threads`;
  const busy = (name, category, view, unit, fill) => {
    const starts = trace.column(`span.${category}.start`);
    const nanos = trace.column(`span.${category}.nanos`);
    if (!starts.length) return;
    lanes.push({
      name,
      place: { view },
      height: 24,
      unit,
      most,
      colours: [fill],
      names: [name],
      values: (range, count) => [bins(starts, nanos, range, count, { lasts: true }).map((sum) => sum / ((range.to - range.from) / count))],
    });
  };
  busy('Contention', 'Contention', 'contention', (value) => `${formatDecimal(value, 2)} threads wait`, 'lock');
  busy('Waits', 'Waits', 'waits', (value) => `${formatDecimal(value, 2)} threads wait`, 'waiting');
  const line = (name, points, unit, fill) =>
    points.some((point) => point.value > 0) &&
    lanes.push({ name, place: { view: 'pool' }, height: 26, line: points, unit, most: unit, colours: [fill], names: [name] });
  const pool = trace.reports.threadpool;
  line(
    'Pool workers',
    (pool?.workers || []).map((point) => ({ at: point.ts_ns, value: point.last })),
    (value) => countOf(value, 'worker'),
    'pool',
  );
  const queue = (pool?.queue || []).map((point) => ({ at: point.ts_ns, value: point.last }));
  const counter = queue.length ? null : queueCounter(trace);
  line('Pool queue', queue.length ? queue : pointsOf(counter), (value) => countOf(value, 'item'), 'pool');
  busy('JIT', 'JIT', 'jit', (value) => `${formatDecimal(value, 2)} threads compile`, 'jit');
  // The lane shows HTTP requests, each once, or activities if there are no requests.
  const what = trace.column('requests.t').length ? 'requests' : 'activities';
  const [begun, lengths, otherTimes, otherTotals] = ['t', 'nanos', 'others.t', 'others.total'].map((name) =>
    trace.column(`${what}.${name}`),
  );
  const counted = occurrences(trace, what, null);
  if (begun.length) {
    const all = what === 'requests' ? requestsText(trace, counted.count) : countOf(counted.count, 'activity', 'activities');
    lanes.push({
      name: what === 'requests' ? 'Requests' : 'Activities',
      staysFolded: true,
      place: { view: 'requests' },
      height: 24,
      most: (value) => `${formatDecimal(value, 1)} open`,
      colours: ['request'],
      names: ['open'],
      unit: (value) => formatDecimal(value, 1),
      legend: [['request', counted.open > 0 ? `${all}, ${formatCount(counted.open)} still open at the end` : all]],
      // A length of 0 says that the activity had not stopped.
      values: (range, count) => {
        const step = (range.to - range.from) / count;
        const others = bins(otherTimes, otherTotals, range, count);
        return [
          bins(
            begun,
            lengths.map((nanos) => Math.max(0, nanos - 1)),
            range,
            count,
            { lasts: true },
          ).map((sum, bin) => (sum + others[bin]) / step),
        ];
      },
    });
  }
  return lanes;
}

// Returns the number of requests as `report http` counts them: `11,841 HTTP requests came in, 900 went out`.
function requestsText(trace, count) {
  const sum = (direction) =>
    (trace.reports.http?.activities || []).filter((row) => row.direction === direction).reduce((all, row) => all + row.started, 0);
  const [came, went] = [sum('in'), sum('out')];
  if (came + went !== count) return countOf(count, 'HTTP request');
  return [
    came > 0 && `${countOf(came, 'HTTP request')} came in`,
    went > 0 && `${came > 0 ? formatCount(went) : countOf(went, 'HTTP request')} went out`,
  ]
    .filter(Boolean)
    .join(', ');
}

export const pointsOf = (series) =>
  (series?.points || []).filter((point) => Number.isFinite(point.value)).map((point) => ({ at: point.ts_ns, value: point.value }));

// Returns the counter of the thread pool's queue. Events of single work items would be exact, but are seldom recorded.
function queueCounter(trace) {
  return (trace.reports.counters?.series || []).find((row) =>
    ['threadpool-queue-length', 'dotnet.thread_pool.queue.length'].includes(row.name),
  );
}

export const counterName = (row) => {
  const tags = Object.entries(row.tags || {})
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
  return `${row.display_name || row.name}${tags ? ` {${tags}}` : ''}`;
};

// Returns the lane of a counter by the number of its series; null if it has nothing to draw, such as a ratio that was never a number.
export function counterLane(trace, number) {
  const series = trace.reports.counters?.series?.[number];
  const line = pointsOf(series);
  if (!line.length) return null;
  return {
    name: counterName(series),
    place: { view: 'counters' },
    height: 34,
    colours: ['counter'],
    names: [series.name],
    line,
    unit: (value) => formatMeasured(value, series),
    most: (value) => (hasFittingUnit(series) ? formatMeasured(value, series) : formatValue(value)),
  };
}
