// The view of activities and requests.
import { colour, el, keepDrawn, paint, pictureLink, widthOf, write } from './dom.mjs';
import { eventColumns } from './events-views.mjs';
import { axisStep, formatAxis, formatCount, formatMoment, formatNanos } from './format.mjs';
import { binned, none } from './notices.mjs';
import { occurrences } from './query.mjs';
import { maxOf, minOf, rowsWithin } from './ranges.mjs';
import { facts, table } from './table.mjs';

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

const keyOf = (row) => `${row.id ?? row.name}@${row.start_ns}`;

// Returns the legend of the colours of parts. `text` returns the words for each part.
const partLegend = (has, text) =>
  el(
    'p',
    { class: 'legend' },
    PARTS.filter(([key]) => has(key)).map(([key, fill, words]) =>
      el('span', null, el('i', { class: `swatch ${fill}`, 'aria-hidden': 'true' }), text(key, words)),
    ),
  );

export function requestsView(trace, route, range, extent, go) {
  if (!trace.column('activities.t').length && !trace.column('requests.t').length)
    return none(
      'No activities in this trace. Record with nettrace collect --providers Microsoft-Diagnostics-DiagnosticSource, ' +
        'or with a source of your own that has Start and Stop events.',
    );
  const activities = occurrences(trace, 'activities', range);
  const requests = occurrences(trace, 'requests', range);
  const hasRequests = trace.column('requests.t').length > 0;
  const report = trace.reports.activities;
  const details = new Map((report?.slowest || []).map((row) => [`${row.start_ns} ${row.duration_ns}`, row]));
  for (const row of trace.reports.http?.slowest || [])
    if (!details.has(`${row.start_ns} ${row.duration_ns}`)) details.set(`${row.start_ns} ${row.duration_ns}`, row);
  const chosen = [...details.values()].find((row) => keyOf(row) === route.activity) || null;
  // If the page has no parts of the activity, it shows the time.
  const choose = (row) =>
    go(row.parts ? { activity: keyOf(row) } : { from: Math.round(row.start_ns), to: Math.round(row.start_ns + row.duration_ns + 1) }, true);
  // Returns the activities that began in the range, the slowest first.
  const slowestOf = (all) =>
    all.rows
      .filter((row) => !row.isOpen)
      .sort((a, b) => b.nanos - a.nanos || a.start - b.start)
      .slice(0, 1000)
      .map((row) => {
        const known = details.get(`${row.start} ${row.nanos}`);
        return {
          threads: known?.threads,
          id: known?.id,
          key: known?.key,
          fields: known?.fields,
          parts: known?.parts,
          thread_id: known?.thread_id,
          stop_thread_id: known?.stop_thread_id,
          name: row.name,
          start_ns: row.start,
          duration_ns: row.nanos,
          is_error: row.failed,
        };
      });
  const slowest = slowestOf(activities);
  const slowRequests = slowestOf(requests);
  const part = (title, sum, about = null) => ({
    title,
    about,
    number: true,
    value: (row) => (row.parts ? sum(row.parts) : null),
    text: (row) => (row.parts ? formatNanos(sum(row.parts)) : 'not kept'),
  });
  const slowTable = (caption, rows, all, title, shown) =>
    rows.length > 0 &&
    table({
      caption: `${caption} (${formatCount(rows.length)}${all.count > rows.length + all.open ? ` of ${formatCount(all.count)}` : ''})`,
      columns: [
        { title, value: shown },
        rows.some((row) => row.fields) && { title: 'What', wide: true, value: (row) => row.fields ?? '' },
        {
          title: 'Took',
          number: true,
          value: (row) => row.duration_ns,
          text: (row) => formatNanos(row.duration_ns),
          bar: (row) => row.duration_ns / (rows[0].duration_ns || 1),
        },
        ...(rows.some((row) => row.parts)
          ? [
              part('Ran', (parts) => parts.running_ns + parts.native_ns),
              part('Waited', (parts) => parts.waiting_ns + parts.lock_ns, 'its thread was blocked, for locks included'),
              part('Awaited', (parts) => parts.await_ns),
              part('In pauses', (parts) => parts.gc_ns),
            ]
          : []),
        { title: 'Start', number: true, value: (row) => row.start_ns, text: (row) => formatMoment(row.start_ns) },
        { title: 'Failed', value: (row) => (row.is_error ? 'yes' : '') },
      ].filter(Boolean),
      rows,
      onrow: choose,
      first: 15,
    });
  const drawn = (hasRequests ? slowRequests : slowest).filter((row) => row.parts).slice(0, 20);
  return el(
    'div',
    null,
    el('h2', null, hasRequests ? 'Requests and other activities' : 'Activities'),
    binned('requests', range, requests.counted),
    binned('activities', range, activities.counted),
    facts([
      hasRequests && ['HTTP requests', formatCount(requests.count), 'requests-count', requests.count],
      hasRequests && ['Failed requests', formatCount(requests.failed), 'requests-failed', requests.failed],
      hasRequests && requests.count > 0 && ['Slowest request', formatNanos(requests.max), 'requests-slowest', requests.max],
      ['Activities', formatCount(activities.count), 'activities-count', activities.count],
      ['Failed', formatCount(activities.failed), 'activities-failed', activities.failed],
      activities.count > 0 && ['Slowest', formatNanos(activities.max), 'activities-slowest', activities.max],
      activities.open > 0 && ['Not stopped', `${formatCount(activities.open)} still open`, 'activities-open', activities.open],
    ]),
    chosen && activityCard(trace, chosen, [...details.values()], go),
    hasRequests && occurrenceTable('Endpoints', 'Endpoint', requests.groups),
    slowTable('Slowest requests', slowRequests, requests, 'Request', (row) => row.name),
    drawn.length > 0 && [
      el('h3', null, `What the slowest ${hasRequests ? 'requests' : 'activities'} did, each from its start`),
      partLegend(
        (key) => drawn.some((row) => row.parts[key] > 0),
        (_, words) => words,
      ),
      none('Each part is added up; they are not in their order in time.'),
      waterfall(drawn, choose, null, true),
    ],
    statements(trace, range),
    occurrenceTable('By name', 'Activity', activities.groups),
    slowTable('Slowest', slowest, activities, 'Activity', (row) => row.name),
  );
}

// Returns SQL statements of the whole trace, because the page does not know when each ran.
function statements(trace, range) {
  const report = trace.reports.sql;
  if (!report?.statements?.length) return null;
  const spread = (title, key) => ({
    title,
    number: true,
    value: (row) => row.durations[key],
    text: (row) => formatNanos(row.durations[key]),
  });
  return table({
    caption: `Statements of databases${range ? ', of the whole trace' : ''} (${formatCount(report.different)})`,
    isNear: true,
    first: 10,
    columns: [
      { title: 'Statement', value: (row) => row.text },
      { title: 'Commands', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
      { title: 'Failed', number: true, value: (row) => row.errors, text: (row) => formatCount(row.errors) },
      spread('Mean', 'mean_ns'),
      spread('99 %', 'p99_ns'),
      spread('Total', 'total_ns'),
      {
        title: 'Most in one request',
        number: true,
        value: (row) => maxOf([0, ...(row.places || []).map((place) => place.most_in_one)]),
        text: (row) => formatCount(maxOf([0, ...(row.places || []).map((place) => place.most_in_one)])),
      },
    ],
    rows: report.statements,
  });
}

// Returns a table of activities or requests by name, with the distribution of their lengths.
function occurrenceTable(caption, title, groups) {
  const longest = maxOf([1, ...groups.map((row) => row.max)]);
  const time = (name, key) => ({
    title: name,
    number: true,
    value: (row) => (row.stopped ? row[key] : null),
    text: (row) => (row.stopped ? formatNanos(row[key]) : '–'),
  });
  return table({
    caption,
    isNear: true,
    columns: [
      { title, value: (row) => row.name },
      { title: 'Count', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
      { title: 'Failed', number: true, value: (row) => row.failed, text: (row) => formatCount(row.failed) },
      {
        title: 'Mean',
        number: true,
        value: (row) => (row.stopped ? row.total / row.stopped : null),
        text: (row) => formatNanos(row.stopped ? row.total / row.stopped : NaN),
      },
      time('50 %', 'p50'),
      time('99 %', 'p99'),
      time('Longest', 'max'),
      { title: 'Total', number: true, value: (row) => row.total, text: (row) => formatNanos(row.total) },
      {
        title: 'Spread',
        value: (row) => row.p50,
        node: (row) => histogram(row, longest),
        about: 'how many took how long; each step is twice as long as the one before',
      },
      groups.some((row) => row.open > 0) && {
        title: 'Still open',
        number: true,
        value: (row) => row.open,
        text: (row) => formatCount(row.open),
      },
    ].filter((column) => column),
    rows: groups,
    first: 20,
  });
}

// Returns a small histogram of lengths. Each bar covers lengths twice as long as the bar before, from a microsecond on.
function histogram(row, longest) {
  const steps = Math.max(2, Math.ceil(Math.log2(Math.max(2, longest / 1e3))) + 1);
  const sums = new Float64Array(steps);
  for (const [nanos, count] of row.rows) sums[Math.min(steps - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, nanos / 1e3)))))] += count;
  const most = maxOf([1, ...sums]);
  const canvas = el('canvas', {
    class: 'histogram',
    role: 'img',
    'aria-label': row.stopped ? `half took at most ${formatNanos(row.p50)}, 99 % ${formatNanos(row.p99)}` : 'none stopped',
  });
  canvas.width = steps * 5;
  canvas.height = 18;
  canvas.style.width = `${steps * 5}px`;
  const context = canvas.getContext('2d');
  context.fillStyle = colour('request');
  sums.forEach((sum, step) => sum > 0 && context.fillRect(step * 5, 18 - Math.max(1, (sum / most) * 17), 4, 18));
  return canvas;
}

// Returns the card of an activity: the parts of its time, the activities inside and around it, and its threads' events during it.
function activityCard(trace, row, all, go) {
  const end = row.start_ns + row.duration_ns;
  const range = { from: Math.round(row.start_ns), to: Math.round(end + 1) };
  const isAround = (one, other) => (one.id === other.id && one.key === other.key) || other.around.includes(one.id);
  const family = all.filter(
    (one) =>
      keyOf(one) === keyOf(row) ||
      (row.id && (isAround(row, one) || isAround(one, row)) && one.start_ns < end && one.start_ns + one.duration_ns > row.start_ns),
  );
  const near = family.sort((a, b) => a.start_ns - b.start_ns || b.duration_ns - a.duration_ns).slice(0, 60);
  const threads = new Set([row.thread_id, row.stop_thread_id]);
  const times = trace.column('events.t');
  const threadOf = trace.column('events.thread');
  const [begin, stop] = rowsWithin(times, range);
  const events = [];
  for (let place = begin; place < stop && events.length < 2000; place += 1)
    if (threads.has(trace.threads[threadOf[place]]?.id)) events.push(place);
  return el(
    'section',
    { class: 'card', id: 'activity', 'aria-label': `Activity ${row.name}` },
    el('h3', null, `${row.name}${row.is_error ? ' (failed)' : ''}`),
    el('p', null, row.fields),
    partLegend(
      (key) => row.parts[key] > 0,
      (key, words) => `${words} ${formatNanos(row.parts[key])}`,
    ),
    waterfall(near, (one) => go({ activity: keyOf(one) }, true), row),
    el(
      'div',
      { class: 'controls' },
      el('button', { type: 'button', onclick: () => go({ from: range.from, to: range.to }, true) }, 'Select its time'),
      row.threads?.length > 0 &&
        el(
          'button',
          {
            type: 'button',
            id: 'own-stacks',
            onclick: () => go({ view: 'cpu', kind: 'cpu', tab: 'flame', states: 'all', of: keyOf(row), ...range }, true),
          },
          'Its own stacks',
        ),
      el(
        'button',
        { type: 'button', onclick: () => go({ view: 'cpu', kind: 'cpu', tab: 'flame', of: null, ...range }, true) },
        'All stacks meanwhile',
      ),
      el('button', { type: 'button', onclick: () => go({ view: 'events', ...range }, true) }, 'Events in its time'),
      el('button', { type: 'button', onclick: () => go({ activity: null }, true) }, 'Close'),
    ),
    table({
      caption: `Events of its threads meanwhile (${formatCount(events.length)}${events.length === 2000 ? ' and more' : ''})`,
      columns: eventColumns(trace),
      rows: events,
      first: 12,
    }),
    trace.events.all > times.length &&
      none(
        'The page lists only some of the frequent events. All of this activity: ' +
          `nettrace report activities ${trace.title} --id ${row.key ?? row.id ?? ''}`,
      ),
  );
}

// Returns a waterfall of activities, each with the parts of its time. With `fromStart`, all begin at the left.
function waterfall(rows, onrow, chosen = null, fromStart = false) {
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
