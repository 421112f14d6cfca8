// Rows within a range of time.

// Returns the first index whose value is not below `wanted`.
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

// Returns the maximum of a list that may be too long for the arguments of Math.max.
export const maxOf = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);
export const minOf = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);

// Returns the first index of the rows in [from, to), and the index after the last. The range null has all rows.
export function rowsWithin(times, range) {
  if (!range) return [0, times.length];
  return [lowerBound(times, range.from), lowerBound(times, range.to)];
}

export const isWithin = (range, nanos) => !range || (range.from <= nanos && nanos < range.to);

// Returns columns of a list of rows.
export const columnsOf = (trace, list, names) => names.map((name) => trace.column(`${list}.${name}`));

// Returns the number of an endpoint by its name, such as `GET /cart`; -1 if no sample has it.
export function endpointNumber(trace, name) {
  const at = (trace.texts.endpoints || []).indexOf(name);
  return at < 0 ? -1 : at + 1;
}

// The states of sampled threads: 0 for managed code, 1 for native code, 2 for waits.
export const STATES = { running: [0, 1], managed: [0], native: [1], waiting: [2], ready: [3], all: [0, 1, 2, 3] };

// Calls `visit(row, weight, samples)` for each sample of a kind. `states` is a name in `STATES`, and applies to kinds with states.
// With `endpoint`, only samples of threads that worked for requests to the endpoint with this number count.
export function eachSample(trace, kind, { range = null, thread = null, states = 'all', endpoint = null }, visit) {
  const names = ['t', 'weight', 'thread', 'state', 'samples', 'endpoint'];
  const [times, weights, threads, stateOf, samplesOf, endpoints] = columnsOf(trace, kind, names);
  const wanted = new Set(STATES[states] || STATES.running);
  const [begin, end] = rowsWithin(times, range);
  for (let row = begin; row < end; row += 1) {
    if (thread !== null && threads[row] !== thread) continue;
    if (endpoint !== null && endpoints[row] !== endpoint) continue;
    if (stateOf.length && !wanted.has(stateOf[row])) continue;
    visit(row, weights[row], samplesOf.length ? samplesOf[row] : 1);
  }
}
