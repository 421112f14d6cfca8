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
