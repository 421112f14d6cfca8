// Views of rows: requests, threads, logs, events.
import { el, keepDrawn, paint, colour, replace, say, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatCount, formatMoment, formatNanos } from './format.mjs';
import { isWithin, maxOf, minOf, rowsWithin, spansOf } from './query.mjs';
import { thinned } from './report-views.mjs';
import { facts, table } from './table.mjs';

const nothing = (text) => el('p', { class: 'none' }, text);

// The parts of an activity's time, in the order in which they are drawn.
const PARTS = [['running_ns', 'managed', 'ran'], ['native_ns', 'native', 'ran native code'], ['gc_ns', 'gen2', 'stopped for collections'], ['lock_ns', 'lock', 'waited for locks'], ['jit_ns', 'jit', 'compiled'], ['waiting_ns', 'waiting', 'waited'], ['await_ns', 'request', 'awaited'], ['unknown_ns', 'grid', 'unknown']];
const keyOf = (row) => `${row.id ?? row.name}@${row.start_ns}`;
const shortActivity = (row) => row.name.slice(row.name.lastIndexOf('/') + 1);

export function requestsView(trace, route, range, extent, go) {
  const spans = spansOf(trace, 'Activities', range);
  if (!trace.column('span.Activities.start').length) return nothing('No activities in this trace. Record with nettrace collect --providers Microsoft-Diagnostics-DiagnosticSource, or with a source of your own that has Start and Stop events.');
  const groups = new Map();
  for (const span of spans) {
    let group = groups.get(span.name);
    if (!group) groups.set(span.name, (group = { name: span.name, count: 0, total: 0, max: 0 }));
    group.count += 1;
    group.total += span.nanos;
    group.max = Math.max(group.max, span.nanos);
  }
  const report = trace.reports.activities;
  const slowest = (report?.slowest || []).filter((row) => isWithin(range, row.start_ns));
  const chosen = (report?.slowest || []).find((row) => keyOf(row) === route.activity) || null;
  const choose = (row) => go({ activity: keyOf(row) }, true);
  const longest = maxOf([0, ...slowest.map((row) => row.duration_ns)]);
  return el('div', null, el('h2', null, 'Requests and other activities'),
    thinned(trace, 'Activities'),
    facts([['Activities here', formatCount(spans.length), 'activities-count', spans.length], !range && ['Started', formatCount(report?.started), 'activities-started', report?.started], !range && ['Failed', formatCount(report?.errors), 'activities-failed', report?.errors], ['Slowest', formatNanos(longest), 'activities-slowest', longest]]),
    chosen && activityCard(trace, chosen, report.slowest, go),
    table({ caption: `Slowest (${formatCount(slowest.length)})`, columns: [
      { title: 'Activity', value: shortActivity }, { title: 'What', wide: true, value: (row) => row.fields },
      { title: 'Took', number: true, value: (row) => row.duration_ns, text: (row) => formatNanos(row.duration_ns), bar: (row) => row.duration_ns / (longest || 1) },
      { title: 'Ran', number: true, value: (row) => row.parts.running_ns + row.parts.native_ns, text: (row) => formatNanos(row.parts.running_ns + row.parts.native_ns) },
      { title: 'Awaited', number: true, value: (row) => row.parts.await_ns, text: (row) => formatNanos(row.parts.await_ns) },
      { title: 'In pauses', number: true, value: (row) => row.parts.gc_ns, text: (row) => formatNanos(row.parts.gc_ns) },
      { title: 'Start', number: true, value: (row) => row.start_ns, text: (row) => formatMoment(row.start_ns) }, { title: 'Failed', value: (row) => (row.is_error ? 'yes' : '') },
    ], rows: slowest, onrow: choose, first: 15 }),
    slowest.length > 0 && [el('h3', null, 'Waterfall of the slowest'), waterfall(slowest.slice(0, 30).sort((a, b) => a.start_ns - b.start_ns), choose)],
    !range && trace.reports.http?.activities?.length > 0 && durations('HTTP', trace.reports.http.activities),
    !range && report?.activities?.length > 0 && durations('By name', report.activities),
    range && table({ caption: 'By name', columns: [{ title: 'Activity', value: (row) => row.name }, { title: 'Count', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) }, { title: 'Total', number: true, value: (row) => row.total, text: (row) => formatNanos(row.total) }, { title: 'Mean', number: true, value: (row) => row.total / row.count, text: (row) => formatNanos(row.total / row.count) }, { title: 'Slowest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) }], rows: [...groups.values()].sort((a, b) => b.total - a.total) }));
}

// One activity: the parts of its time, the activities inside and around it, and its threads' events during it.
function activityCard(trace, row, all, go) {
  const end = row.start_ns + row.duration_ns;
  const range = { from: Math.round(row.start_ns), to: Math.round(end + 1) };
  // Ids of activities are paths: `//1/5/2` is inside of `//1/5`.
  const isAround = (one, other) => one.id && other.id && (one.id === other.id || other.id.startsWith(one.id.endsWith('/') ? one.id : `${one.id}/`));
  const family = all.filter((one) => keyOf(one) === keyOf(row) || (row.id && (isAround(row, one) || isAround(one, row)) && one.start_ns < end && one.start_ns + one.duration_ns > row.start_ns));
  const near = family.sort((a, b) => a.start_ns - b.start_ns || b.duration_ns - a.duration_ns).slice(0, 60);
  const threads = new Set([row.thread_id, row.stop_thread_id]);
  const times = trace.column('events.t');
  const threadOf = trace.column('events.thread');
  const [begin, stop] = rowsWithin(times, range);
  const events = [];
  for (let place = begin; place < stop && events.length < 2000; place += 1) if (threads.has(trace.threads[threadOf[place]]?.id)) events.push(place);
  const isListed = times.length > 0 && times[times.length - 1] >= row.start_ns;
  return el('section', { class: 'card', id: 'activity', 'aria-label': `Activity ${row.name}` },
    el('h3', null, `${row.name}${row.is_error ? ' (failed)' : ''}`),
    el('p', null, row.fields),
    el('p', { class: 'legend' }, PARTS.filter(([key]) => row.parts[key] > 0).map(([key, fill, text]) => el('span', null, el('i', { class: `swatch ${fill}`, 'aria-hidden': 'true' }), `${text} ${formatNanos(row.parts[key])}`))),
    waterfall(near, (one) => go({ activity: keyOf(one) }, true), row),
    el('div', { class: 'controls' },
      el('button', { type: 'button', onclick: () => go({ from: range.from, to: range.to }, true) }, 'Select its time'),
      el('button', { type: 'button', onclick: () => go({ view: 'cpu', kind: 'cpu', tab: 'flame', ...range }, true) }, 'Stacks in its time'),
      el('button', { type: 'button', onclick: () => go({ view: 'events', ...range }, true) }, 'Events in its time'),
      el('button', { type: 'button', onclick: () => go({ activity: null }, true) }, 'Close')),
    isListed
      ? table({ caption: `Events of its threads meanwhile (${formatCount(events.length)}${events.length === 2000 ? ' and more' : ''})`, columns: eventColumns(trace), rows: events, first: 12 })
      : nothing(`The page leaves its events out: nettrace report activities ${trace.title} --id ${row.id ?? ''}`));
}

function durations(caption, rows) {
  const time = (title, key) => ({ title, number: true, value: (row) => row.durations?.[key], text: (row) => formatNanos(row.durations?.[key]) });
  return table({ caption, columns: [{ title: 'Activity', value: (row) => row.name }, { title: 'Started', number: true, value: (row) => row.started, text: (row) => formatCount(row.started) }, { title: 'Failed', number: true, value: (row) => row.errors, text: (row) => formatCount(row.errors) }, time('Mean', 'mean_ns'), time('50 %', 'p50_ns'), time('99 %', 'p99_ns'), time('Longest', 'max_ns'), time('Total', 'total_ns')], rows });
}

// Activities under each other, each with the parts of its time.
function waterfall(rows, onrow, chosen = null) {
  if (!rows.length) return nothing('None begins in this range.');
  const from = chosen ? Math.min(chosen.start_ns, ...rows.map((row) => row.start_ns)) : minOf(rows.map((row) => row.start_ns));
  const to = Math.max(from + 1, maxOf(rows.map((row) => row.start_ns + row.duration_ns)));
  const canvas = el('canvas', { role: 'img', 'aria-label': `${rows.length} activities from ${formatMoment(from)} to ${formatMoment(to)}; the table Slowest lists them` });
  const box = el('div', { class: 'chart' }, canvas);
  const HEAD = 18;
  const draw = () => paint(canvas, HEAD + rows.length * 16 + 4, (context, width, tall) => {
    const scale = (width - 4) / (to - from);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const step = axisStep(to - from, width / 110);
    for (let at = 0; at <= to - from; at += step) {
      context.fillStyle = colour('grid');
      context.fillRect(at * scale, 0, 1, tall);
      context.fillStyle = colour('faint');
      const text = at === 0 ? formatMoment(from) : `+ ${formatAxis(at, step)}`;
      if (at * scale + widthOf(context, text) + 6 < width) write(context, text, at * scale + 3, HEAD / 2);
    }
    const fills = PARTS.map(([key, fill]) => [key, colour(fill)]);
    rows.forEach((row, index) => {
      const x = (row.start_ns - from) * scale;
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
      const text = `${shortActivity(row)} ${formatNanos(row.duration_ns)}`;
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

export function threadsView(trace, route, range, extent, go) {
  const shown = range || extent;
  const threads = trace.column('cpu.thread');
  const state = trace.column('cpu.state');
  const weights = trace.column('cpu.weight');
  const samples = trace.column('cpu.samples');
  const times = trace.column('cpu.t');
  const rows = trace.threads.map((row, index) => ({ ...row, index, states: [0, 0, 0], samples: 0 }));
  const [begin, end] = rowsWithin(times, range);
  for (let row = begin; row < end; row += 1) {
    const own = rows[threads[row]];
    own.states[state[row]] += weights[row];
    own.samples += samples.length ? samples[row] : 1;
  }
  rows.sort((a, b) => b.states[0] + b.states[1] - (a.states[0] + a.states[1]) || b.samples - a.samples || b.events - a.events);
  const drawn = rows.filter((row) => row.samples > 0).slice(0, 60);
  const canvas = el('canvas', { role: 'img', 'aria-label': 'States of threads over time; the table below has their sums' });
  const box = el('div', { class: 'chart' }, canvas);
  const byThread = new Map(drawn.map((row) => [row.index, []]));
  for (let row = begin; row < end; row += 1) byThread.get(threads[row])?.push(row);
  const draw = () => paint(canvas, 18 + drawn.length * 18 + 4, (context, width, tall) => {
    const left = Math.min(220, width * 0.35);
    const scale = (width - left - 4) / (shown.to - shown.from);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const step = axisStep(shown.to - shown.from, (width - left) / 90);
    for (let at = Math.ceil(shown.from / step) * step; at <= shown.to; at += step) {
      const x = left + (at - shown.from) * scale;
      context.fillStyle = colour('grid');
      context.fillRect(x, 0, 1, tall);
      context.fillStyle = colour('faint');
      const text = formatAxis(at, step);
      if (x + widthOf(context, text) < width) write(context, text, x + 3, 9);
    }
    const [ink, ...fills] = ['ink', 'managed', 'native', 'waiting'].map(colour);
    drawn.forEach((thread, index) => {
      const top = 18 + index * 18 + 2;
      context.fillStyle = ink;
      write(context, thread.label, 0, top + 8, left - 6);
      // A pixel shows whether its thread ran: there may be a million samples.
      const bins = new Float64Array(Math.ceil(width - left) * 3);
      for (const row of byThread.get(thread.index)) {
        const from = (times[row] - shown.from) * scale;
        const to = Math.min(from + Math.max(0.6, weights[row] * scale), width - left);
        for (let bin = Math.max(0, Math.floor(from)); bin < to; bin += 1) bins[bin * 3 + state[row]] += Math.min(to, bin + 1) - Math.max(from, bin);
      }
      for (let bin = 0; bin * 3 < bins.length; bin += 1) {
        const sums = bins.subarray(bin * 3, bin * 3 + 3);
        // A short run among waits is what readers look for, so it wins over the waits.
        const which = sums[0] + sums[1] > 0 ? (sums[0] >= sums[1] ? 0 : 1) : sums[2] > 0 ? 2 : null;
        if (which === null) continue;
        context.fillStyle = fills[which];
        const high = which === 2 ? 4 : 14;
        context.fillRect(left + bin, top + 15 - high, 1, high);
      }
    });
  });
  keepDrawn(canvas, box, draw);
  const time = (title, which) => ({ title, number: true, value: (row) => row.states[which], text: (row) => formatNanos(row.states[which]) });
  return el('div', null, el('h2', null, 'Threads'),
    drawn.length > 0 && [el('p', { class: 'legend' }, ['managed', 'native', 'waiting'].map((name) => el('span', null, el('i', { class: `swatch ${name}`, 'aria-hidden': 'true' }), name))), box],
    table({ caption: `Threads (${formatCount(rows.length)})`, columns: [{ title: 'Thread', value: (row) => row.label }, { title: 'Events', number: true, value: (row) => row.events, text: (row) => formatCount(row.events) }, { title: 'Samples', number: true, value: (row) => row.samples, text: (row) => formatCount(row.samples) }, time('Managed', 0), time('Native', 1), time('Waiting', 2)], rows, onrow: (row) => go({ view: 'cpu', kind: 'cpu', thread: row.index, zoom: null }, true) }));
}

export function logsView(trace, route, range, extent, go) {
  const messages = (trace.reports.logs?.messages || []).filter((row) => !range || (range.from <= row.ts_ns && row.ts_ns < range.to));
  if (!trace.reports.logs?.count) return nothing('No messages in this trace. Record with nettrace collect --profile logs, or --providers Microsoft-Extensions-Logging:4:5.');
  // Most messages have neither, so the columns are left out where all rows are empty.
  const more = [];
  if (messages.some((row) => row.exception)) more.push({ title: 'Exception', wide: true, value: (row) => row.exception ?? '' });
  if (messages.some((row) => row.scopes?.length)) more.push({ title: 'Scopes', wide: true, value: (row) => (row.scopes ?? []).join(' ') });
  return filtered('Messages', route, go, messages, (row) => `${row.level} ${row.logger} ${row.message} ${row.event} ${row.exception ?? ''} ${(row.scopes ?? []).join(' ')}`, [
    { title: 'Time', number: true, value: (row) => row.ts_ns, text: (row) => formatMoment(row.ts_ns) }, { title: 'Level', value: (row) => row.level },
    { title: 'Logger', value: (row) => row.logger }, { title: 'Message', wide: true, value: (row) => row.message }, ...more, { title: 'Event', value: (row) => row.event }, { title: 'Thread', number: true, value: (row) => row.thread_id },
  ], 'logs-count');
}

// Of rows of the events that the page has.
function eventColumns(trace) {
  const [times, types, threads, ends] = ['t', 'type', 'thread', 'end'].map((name) => trace.column(`events.${name}`));
  const typeName = (row) => {
    const type = trace.events.types[types[row]];
    return type ? `${type.provider}/${type.name}` : '';
  };
  return [
    { title: 'Time', number: true, value: (row) => times[row], text: (row) => formatMoment(times[row]) }, { title: 'Thread', value: (row) => trace.threads[threads[row]]?.label ?? '' },
    { title: 'Event', value: typeName }, { title: 'Payload', wide: true, value: (row) => trace.text('events.payload', row ? ends[row - 1] : 0, ends[row]) },
  ];
}

export function eventsView(trace, route, range, extent, go) {
  const times = trace.column('events.t');
  const [begin, end] = rowsWithin(times, range);
  const rows = [];
  for (let row = begin; row < end; row += 1) rows.push(row);
  const columns = eventColumns(trace);
  const view = filtered('Events', route, go, rows, (row) => columns.slice(1).map((column) => column.value(row)).join(' '), columns, 'events-count');
  if (trace.events.all > times.length) {
    view.firstChild.after(el('p', { class: 'notice', role: 'note' }, `The page has the first ${formatCount(times.length)} of ${formatCount(trace.events.all)} events. All of them: nettrace events ${trace.title}; those of a range: nettrace events ${trace.title} --time FROM..TO`));
  }
  return view;
}

function filtered(title, route, go, rows, textOf, columns, id) {
  const box = el('div');
  const count = el('span', { id, role: 'status' });
  const draw = (wanted) => {
    const needle = wanted.trim().toLowerCase();
    const shown = needle ? rows.filter((row) => textOf(row).toLowerCase().includes(needle)) : rows;
    say(count, formatCount(shown.length));
    replace(box, table({ caption: title, columns, rows: shown, first: 100 }));
  };
  let timer = null;
  const search = el('input', { type: 'search', id: 'search', placeholder: 'Filter ( / )', 'aria-label': `Filter ${title.toLowerCase()}`, value: route.q, oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      draw(search.value);
      go({ q: search.value }, false, true);
    }, 120);
  } });
  draw(route.q);
  return el('div', null, el('h2', null, title), el('div', { class: 'controls' }, search, el('span', null, count, ' shown')), box);
}
