// Formats numbers for readers.

const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

export function formatCount(number) {
  if (number === null || number === undefined) return '–';
  return grouped(String(Math.round(number)));
}

// Returns a count with its noun: `1 event`, `2 events`.
export const countOf = (number, one, more = `${one}s`) => `${formatCount(number)} ${number === 1 ? one : more}`;

// Names of generations and special heaps: in documents, and for readers.
const GENERATIONS = new Map([
  ['gen0', 'gen 0'],
  ['gen1', 'gen 1'],
  ['gen2', 'gen 2'],
  ['loh', 'LOH'],
  ['poh', 'POH'],
  ['large_objects', 'large objects'],
  ['pinned_objects', 'pinned objects'],
]);

export const generationName = (name) => GENERATIONS.get(name) ?? name;

export function formatDecimal(number, digits = 1) {
  if (number === null || number === undefined || !Number.isFinite(number)) return '–';
  const [whole, rest] = number.toFixed(digits).split('.');
  return grouped(whole) + (rest ? `.${rest}` : '');
}

// Returns a whole number in a unit of a thousand, with three decimals: `1.234`.
const thousandths = (number) => `${grouped(String(Math.floor(number / 1000)))}.${String(number % 1000).padStart(3, '0')}`;

export function formatNanos(nanos) {
  if (!Number.isFinite(nanos)) return '–';
  const [sign, size] = [nanos < 0 ? '-' : '', Math.abs(nanos)];
  if (size < 1e3) return `${sign}${formatCount(size)} ns`;
  if (size < 1e6) return `${sign}${thousandths(Math.floor(size))} µs`;
  // 1,000.000 of a unit should be shown as 1.000 of the next.
  if (size < 999_999_500) return `${sign}${thousandths(Math.round(size / 1e3))} ms`;
  const millis = Math.round(size / 1e6);
  const minutes = Math.floor(millis / 60e3);
  const seconds = thousandths(millis % 60e3);
  if (minutes < 1) return `${sign}${seconds} s`;
  return minutes < 60
    ? `${sign}${minutes} min ${seconds} s`
    : `${sign}${formatCount(Math.floor(minutes / 60))} h ${minutes % 60} min ${seconds} s`;
}

export function formatBytes(bytes) {
  if (bytes === null || bytes === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${formatCount(value)} B` : `${formatDecimal(value, 1)} ${units[unit]}`;
}

// Returns a value of any unit. Whole numbers have no decimals, others at least three digits that matter: `1,234`, `12.35`, `0.000246`.
export function formatValue(number) {
  if (Number.isFinite(number) && number !== 0 && Math.abs(number) < 1) return String(Number(number.toPrecision(3)));
  return formatDecimal(number, Number.isInteger(number) || Math.abs(number) >= 1000 ? 0 : 2);
}

// Nanoseconds of the units of durations.
const NANOS = new Map([
  ['s', 1e9],
  ['ms', 1e6],
  ['us', 1e3],
  ['µs', 1e3],
  ['ns', 1],
]);
const BYTES = ['By', 'B', 'bytes'];

// Tells whether values of a counter are shown in a fitting unit instead of that of the counter.
export const hasFittingUnit = ({ unit }) => NANOS.has(unit) || BYTES.includes(unit);

// Returns what follows the unit of an up-down counter whose level is unknown.
export const added = ({ base }) => ({ session_start: 'added', unknown: 'added?' })[base] || '';

// Returns a value of a counter with its unit: durations and sizes in the one that fits, growth of seconds as a share of a core.
export function formatMeasured(value, series) {
  if (!Number.isFinite(value)) return '–';
  if (!hasFittingUnit(series)) return `${formatValue(value)} ${series.unit || ''}`.trim();
  const isRate = series.kind === 'counter' || series.kind === 'increment';
  const perSecond = isRate ? value / (series.interval_seconds > 0 ? series.interval_seconds : 1) : value;
  if (BYTES.includes(series.unit)) return formatBytes(perSecond) + (isRate ? '/s' : '');
  const nanos = perSecond * NANOS.get(series.unit);
  return isRate ? `${formatDecimal(nanos / 1e7, 1)} % of a core` : formatNanos(nanos);
}

export const formatPercent = (share) => (Number.isFinite(share) ? `${formatDecimal(share, 1)} %` : '–');

// Returns a moment, as the time since the session's start, cut like the command's, so that none is shown too late.
export function formatMoment(nanos) {
  if (!Number.isFinite(nanos)) return '–';
  return `${nanos < 0 ? '-' : ''}${thousandths(Math.floor(Math.abs(nanos) / 1e3))} ms`;
}

export function formatWeight(weight, unit) {
  if (unit === 'nanoseconds') return formatNanos(weight);
  if (unit === 'bytes') return formatBytes(weight);
  return formatCount(weight);
}

// Returns the distance of an axis's numbers: 1, 2 or 5 times a power of ten.
export function axisStep(extent, most) {
  const rough = extent / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough);
  return (step || 10) * power;
}

export function formatAxis(nanos, step) {
  if (step >= 1e9) return `${formatDecimal(nanos / 1e9, 0)} s`;
  if (step >= 1e8) return `${formatDecimal(nanos / 1e9, 1)} s`;
  if (step >= 1e6) return `${formatDecimal(nanos / 1e6, 0)} ms`;
  if (step >= 1e3) return `${formatDecimal(nanos / 1e3, 0)} µs`;
  return `${formatCount(nanos)} ns`;
}
