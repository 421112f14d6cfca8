// Rows within a range of time.

// First index whose value is not below `wanted`.
export function lowerBound(sorted, wanted) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// For lists that are too long to pass as arguments of Math.max.
export const maxOf = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);
export const minOf = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);

// First and last index of the rows in [from, to); null stands for all.
export function rowsWithin(times, range) {
  if (!range) return [0, times.length];
  return [lowerBound(times, range.from), lowerBound(times, range.to)];
}

export const isWithin = (range, nanos) => !range || (range.from <= nanos && nanos < range.to);

// Columns of a list of rows.
export const columnsOf = (trace, list, names) => names.map((name) => trace.column(`${list}.${name}`));

// The states of sampled threads: 0 for managed code, 1 for native code, 2 for waits.
export const STATES = { running: [0, 1], managed: [0], native: [1], waiting: [2], all: [0, 1, 2] };

// Visits the samples of a kind: `visit(row, weight, samples)`. `states`: one of `STATES`, of kinds that have some.
export function eachSample(trace, kind, { range = null, thread = null, states = 'all' }, visit) {
  const [times, weights, threads, stateOf, samplesOf] = columnsOf(trace, kind, ['t', 'weight', 'thread', 'state', 'samples']);
  const wanted = new Set(STATES[states] || STATES.running);
  const [begin, end] = rowsWithin(times, range);
  for (let row = begin; row < end; row += 1) {
    if (thread !== null && threads[row] !== thread) continue;
    if (stateOf.length && !wanted.has(stateOf[row])) continue;
    visit(row, weights[row], samplesOf.length ? samplesOf[row] : 1);
  }
}
