// Notices of views about data that are missing or incomplete.
import { el } from './dom.mjs';
import { formatMoment } from './format.mjs';
import { thinnedOf } from './query.mjs';

export const none = (text) => el('p', { class: 'none' }, text);

// Returns the notices about numbers whose rows are not all on the page.
export const thinned = (trace, part, name) =>
  thinnedOf(trace, part, name).map(({ text }) => el('p', { class: 'notice thinned', role: 'note' }, text));

// Returns a notice that names the counted range, if the ends of the chosen range lie within bins of time. `what` names the counts.
export const binned = (what, range, counted) =>
  counted !== range &&
  el(
    'p',
    { class: 'notice thinned', role: 'note', 'data-what': what, 'data-from': counted.from, 'data-to': counted.to },
    `There are too many ${what} to keep each. Counted are those ${fromUntil(counted)}: whole bins of time, as the range ends within some.`,
  );

// Returns the ends of a range as a text.
export const fromUntil = ({ from, to }) => `from ${formatMoment(from)} to ${formatMoment(to)}`;

// Returns the notice that frames have no names, for views that show names of frames.
export const unnamed = (trace) =>
  trace.unnamed?.advice && el('p', { class: 'notice', role: 'note', id: 'unnamed' }, trace.unnamed.advice);

export const moment = (key) => ({ title: 'Time', number: true, value: (row) => row[key], text: (row) => formatMoment(row[key]) });
