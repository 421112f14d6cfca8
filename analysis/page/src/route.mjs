// The page's state in its address: `#view=cpu&from=…&focus=…`.

export const DEFAULTS = {
  view: 'overview',
  from: null,
  to: null,
  kind: 'cpu',
  tab: 'flame',
  focus: null,
  zoom: null,
  q: '',
  thread: null,
  states: 'running',
  recursion: false,
  upright: false,
  order: 'heavy',
  counters: '',
  by_thread: false,
  activity: null,
  endpoint: null,
  type: null,
  mine: false,
  own: '',
  async: false,
  group: '',
  fold: '',
  exclude: '',
  include: '',
  inverted: false,
  of: null,
  gc: null,
  event: null,
  heap_tab: 'types',
  heap_type: null,
  detail: false,
  lanes: '',
};
const NUMBERS = new Set(['from', 'to', 'zoom', 'thread', 'event']);
const FLAGS = new Set(['recursion', 'upright', 'by_thread', 'mine', 'async', 'inverted', 'detail']);

export function parseRoute(hash) {
  const route = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!(key in DEFAULTS)) continue;
    if (NUMBERS.has(key)) {
      const number = Number(value);
      if (value !== '' && Number.isFinite(number)) route[key] = number;
    } else if (FLAGS.has(key)) route[key] = value === '1';
    else route[key] = value;
  }
  if (route.from !== null && route.to !== null && route.to <= route.from) route.from = route.to = null;
  return route;
}

export function formatRoute(route) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(route)) {
    if (value === DEFAULTS[key] && key !== 'view') continue;
    words.set(key, FLAGS.has(key) ? '1' : String(value));
  }
  return `#${words}`;
}

export function rangeOf(route, extent) {
  if (route.from === null && route.to === null) return null;
  return { from: route.from ?? extent.from, to: route.to ?? extent.to + 1 };
}

// Returns the numbers of the counters that the time line shows.
export const countersOf = (route) =>
  route.counters
    .split(',')
    .filter((word) => /^\d{1,6}$/.test(word))
    .map(Number);
