// What views say where there is nothing, or where some is left out.
import { el } from './dom.mjs';
import { formatMoment } from './format.mjs';
import { thinnedOf } from './query.mjs';

export const none = (text) => el('p', { class: 'none' }, text);

// A notice beside numbers made of rows of which the page leaves some out.
export const thinned = (trace, part, name) =>
  thinnedOf(trace, part, name).map(({ text }) => el('p', { class: 'notice thinned', role: 'note' }, text));

// A notice beside counts of a range whose ends lie within bins: which range they are of. `what`: a report.
export const binned = (what, range, counted) =>
  counted !== range &&
  el(
    'p',
    { class: 'notice thinned', role: 'note', 'data-what': what, 'data-from': counted.from, 'data-to': counted.to },
    `There are too many ${what} to keep each. Counted are those ${fromUntil(counted)}: whole bins of time, as the range ends within some.`,
  );

// As exact as the range's ends are.
export const fromUntil = ({ from, to }) => `from ${formatMoment(from)} to ${formatMoment(to)}`;

export const moment = (key) => ({ title: 'Time', number: true, value: (row) => row[key], text: (row) => formatMoment(row[key]) });
