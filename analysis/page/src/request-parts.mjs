// Parts and phases of activities and requests, as legends, bars and columns.
import { colour, el, keepDrawn, paint, pictureLink, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatMoment, formatNanos } from './format.mjs';
import { none } from './notices.mjs';
import { maxOf, minOf } from './ranges.mjs';
import { table } from './table.mjs';

// The parts of an activity's time, in the order in which they are drawn.
const PARTS = [
  ['running_ns', 'managed', 'ran'],
  ['native_ns', 'native', 'ran native code'],
  ['gc_ns', 'gen2', 'stopped for collections'],
  ['lock_ns', 'lock', 'waited for locks'],
  ['jit_ns', 'jit', 'compiled'],
  ['waiting_ns', 'waiting', 'waited'],
  ['await_ns', 'request', 'awaited'],
  ['unknown_ns', 'grid', 'unknown'],
];

// Returns a key by which the page's address names an activity.
export const keyOf = (row) => `${row.id ?? row.name}@${row.start_ns}`;

// Returns the legend of the colours of parts. `text` returns the words for each part.
export const partLegend = (has, text) =>
  el(
    'p',
    { class: 'legend' },
    PARTS.filter(([key]) => has(key)).map(([key, fill, words]) =>
      el('span', null, el('i', { class: `swatch ${fill}`, 'aria-hidden': 'true' }), text(key, words)),
    ),
  );

// Returns the parts of a time that are not empty: words, fill and nanoseconds of each.
export const partsOf = (parts) => PARTS.filter(([key]) => parts[key] > 0).map(([key, fill, words]) => ({ words, fill, nanos: parts[key] }));

// The phases of an outgoing request, in the order in which they follow each other.
const PHASES = [
  ['queue_ns', 'Queue'],
  ['name_resolution_ns', 'Name resolution'],
  ['connect_ns', 'Connect'],
  ['tls_ns', 'TLS'],
  ['send_ns', 'Send'],
  ['server_ns', 'Server'],
  ['content_ns', 'Content'],
  ['other_ns', 'Other'],
];

// Returns a column for each phase that a row has. `phasesOf(row)` returns the phases of a row; null if they are unknown.
export function phaseColumns(rows, phasesOf) {
  const total = (phases) => PHASES.reduce((sum, [key]) => sum + phases[key], 0) || 1;
  return PHASES.filter(([key]) => rows.some((row) => phasesOf(row)?.[key] > 0)).map(([key, title]) => ({
    title,
    about: title === 'Queue' ? 'waited for a connection, or for a stream of one' : null,
    number: true,
    value: (row) => phasesOf(row)?.[key] ?? null,
    text: (row) => (phasesOf(row) ? formatNanos(phasesOf(row)[key]) : '–'),
    bar: (row) => (phasesOf(row) ? phasesOf(row)[key] / total(phasesOf(row)) : 0),
  }));
}

// Returns the phases of a request as a text: `queue 406.256 ms, send 20.000 µs`.
export const phasesText = (phases) =>
  PHASES.filter(([key]) => phases[key] > 0)
    .map(([key, title]) => `${title === 'TLS' ? title : title.toLowerCase()} ${formatNanos(phases[key])}`)
    .join(', ');

// Returns a table of the phases of outgoing requests, by target.
export function phaseTable(trace, range) {
  const rows = (trace.reports.http?.activities || []).filter((row) => row.phases);
  if (!rows.length) return null;
  return table({
    caption: `Phases of outgoing requests${range ? ', of the whole trace' : ''}`,
    isNear: true,
    first: 20,
    columns: [
      { title: 'Request', value: (row) => row.name },
      { title: 'Count', number: true, value: (row) => row.phases.requests },
      ...phaseColumns(rows, (row) => row.phases),
      {
        title: 'Opened',
        about: 'requests that opened a connection',
        number: true,
        value: (row) => row.connections ?? 0,
      },
    ],
    rows,
  });
}

// Returns a waterfall of activities, each with the parts of its time. With `fromStart`, all begin at the left.
export function waterfall(rows, onrow, chosen = null, fromStart = false) {
  if (!rows.length) return none('None begins in this range.');
  const startOf = (row) => (fromStart ? 0 : row.start_ns);
  const from = minOf([...(chosen ? [startOf(chosen)] : []), ...rows.map(startOf)]);
  const to = Math.max(from + 1, maxOf(rows.map((row) => startOf(row) + row.duration_ns)));
  const longest = formatNanos(maxOf(rows.map((row) => row.duration_ns)));
  const label = `${rows.length} activities, the longest ${longest}; the tables of the slowest list them`;
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const box = el('div', { class: 'chart' }, canvas, pictureLink(canvas, 'Waterfall'));
  const HEAD = 18;
  const draw = () =>
    paint(canvas, HEAD + rows.length * 16 + 4, (context, width, tall) => {
      const scale = (width - 4) / (to - from);
      context.font = '11px system-ui, sans-serif';
      context.textBaseline = 'middle';
      const step = axisStep(to - from, width / 110);
      for (let at = 0; at <= to - from; at += step) {
        context.fillStyle = colour('grid');
        context.fillRect(at * scale, 0, 1, tall);
        context.fillStyle = colour('faint');
        const text = at === 0 ? (fromStart ? '0' : formatMoment(from)) : `+ ${formatAxis(at, step)}`;
        if (at * scale + widthOf(context, text) + 6 < width) write(context, text, at * scale + 3, HEAD / 2);
      }
      const fills = PARTS.map(([key, fill]) => [key, colour(fill)]);
      rows.forEach((row, index) => {
        const x = (startOf(row) - from) * scale;
        const wide = Math.max(2, row.duration_ns * scale);
        const top = HEAD + index * 16;
        let left = x;
        for (const [key, fill] of fills) {
          const part = (row.parts[key] / (row.duration_ns || 1)) * wide;
          context.fillStyle = fill;
          context.fillRect(left, top + 2, Math.min(part, x + wide - left), 12);
          left += part;
        }
        context.strokeStyle = colour(chosen && keyOf(row) === keyOf(chosen) ? 'accent' : 'line');
        context.lineWidth = chosen && keyOf(row) === keyOf(chosen) ? 2 : 1;
        context.strokeRect(x + 0.5, top + 2.5, Math.max(1, wide - 1), 11);
        const text = `${row.name} ${formatNanos(row.duration_ns)}`;
        const long = widthOf(context, text);
        const place = x + wide + long + 8 < width ? x + wide + 4 : x > long + 8 ? x - long - 4 : x + 4;
        if (place === x + 4) {
          context.fillStyle = colour('bg');
          context.globalAlpha = 0.85;
          context.fillRect(place - 2, top + 3, long + 4, 10);
          context.globalAlpha = 1;
        }
        context.fillStyle = colour('ink');
        write(context, text, place, top + 8);
      });
    });
  canvas.addEventListener('click', (event) => {
    const row = rows[Math.floor((event.clientY - canvas.getBoundingClientRect().top - HEAD) / 16)];
    if (row) onrow(row);
  });
  keepDrawn(canvas, box, draw);
  return box;
}
