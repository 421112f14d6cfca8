// Views of rows: requests, threads, logs, events.
import { el, paint, colour, replace } from './dom.mjs';
import { formatCount, formatMoment, formatNanos, formatPercent } from './format.mjs';
import { maxOf, minOf, rowsWithin, spansOf } from './query.mjs';
import { facts, table } from './table.mjs';

const nothing = (text) => el('p', { class: 'none' }, text);

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
  const slowest = [...spans].sort((a, b) => b.nanos - a.nanos);
  return el('div', null, el('h2', null, 'Requests and other activities'),
    facts([['Activities here', formatCount(spans.length), 'activities-count', spans.length], !range && ['Started', formatCount(report?.started), 'activities-started', report?.started], !range && ['Failed', formatCount(report?.errors)], ['Slowest', formatNanos(slowest[0]?.nanos ?? 0)]]),
    el('h3', null, 'Waterfall of the slowest'),
    waterfall(trace, slowest.slice(0, 30).sort((a, b) => a.start - b.start), range || extent, go),
    !range && trace.reports.http?.activities?.length > 0 && durations('HTTP', trace.reports.http.activities),
    !range && report?.activities?.length > 0 && durations('By name', report.activities),
    range && table({ caption: 'By name', columns: [{ title: 'Activity', value: (row) => row.name }, { title: 'Count', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) }, { title: 'Together', number: true, value: (row) => row.total, text: (row) => formatNanos(row.total) }, { title: 'Mean', number: true, value: (row) => row.total / row.count, text: (row) => formatNanos(row.total / row.count) }, { title: 'Slowest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) }], rows: [...groups.values()].sort((a, b) => b.total - a.total) }),
    table({ caption: 'Slowest', columns: [{ title: 'Activity', value: (row) => row.name }, { title: 'Began', number: true, value: (row) => row.start, text: (row) => formatMoment(row.start) }, { title: 'Took', number: true, value: (row) => row.nanos, text: (row) => formatNanos(row.nanos) }, { title: 'Thread', value: (row) => trace.threads[row.thread]?.label ?? '' }, { title: 'Details', wide: true, value: (row) => row.detail }], rows: slowest, onrow: (row) => go({ from: Math.round(row.start), to: Math.round(row.start + row.nanos + 1), view: 'events' }, true) }));
}

function durations(caption, rows) {
  const time = (title, key) => ({ title, number: true, value: (row) => row.durations?.[key], text: (row) => formatNanos(row.durations?.[key]) });
  return table({ caption, columns: [{ title: 'Activity', value: (row) => row.name }, { title: 'Started', number: true, value: (row) => row.started, text: (row) => formatCount(row.started) }, { title: 'Failed', number: true, value: (row) => row.errors, text: (row) => formatCount(row.errors) }, time('Mean', 'mean_ns'), time('50 %', 'p50_ns'), time('99 %', 'p99_ns'), time('Longest', 'max_ns'), time('Together', 'total_ns')], rows });
}

function waterfall(trace, spans, range, go) {
  if (!spans.length) return nothing('None begins in this range.');
  const from = minOf(spans.map((span) => span.start));
  const to = Math.max(from + 1, maxOf(spans.map((span) => span.start + span.nanos)));
  const canvas = el('canvas', { role: 'img', 'aria-label': `${spans.length} activities from ${formatMoment(from)} to ${formatMoment(to)}; the table Slowest lists them` });
  const box = el('div', { class: 'chart' }, canvas);
  const draw = () => paint(canvas, spans.length * 16 + 4, (context, width) => {
    const scale = (width - 4) / (to - from);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    spans.forEach((span, index) => {
      const x = (span.start - from) * scale;
      const wide = Math.max(2, span.nanos * scale);
      context.fillStyle = colour('request');
      context.fillRect(x, index * 16 + 2, wide, 12);
      const text = `${span.name} ${formatNanos(span.nanos)}`;
      const long = context.measureText(text).width;
      context.fillStyle = x + wide + long + 6 < width ? colour('ink') : colour('bg');
      if (x + wide + long + 6 < width) context.fillText(text, x + wide + 4, index * 16 + 8);
      else if (x > long + 6) {
        context.fillStyle = colour('ink');
        context.fillText(text, x - long - 4, index * 16 + 8);
      } else context.fillText(text, x + 4, index * 16 + 8, wide - 6);
    });
  });
  canvas.addEventListener('click', (event) => {
    const span = spans[Math.floor((event.clientY - canvas.getBoundingClientRect().top - 2) / 16)];
    if (span) go({ view: 'events', from: Math.round(span.start), to: Math.round(span.start + span.nanos + 1) }, true);
  });
  new ResizeObserver(draw).observe(box);
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
  const draw = () => paint(canvas, drawn.length * 18 + 4, (context, width) => {
    const left = Math.min(220, width * 0.35);
    const scale = (width - left - 4) / (shown.to - shown.from);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const [ink, ...fills] = ['ink', 'managed', 'native', 'waiting'].map(colour);
    drawn.forEach((thread, index) => {
      const top = index * 18 + 2;
      context.fillStyle = ink;
      context.fillText(thread.label, 0, top + 8, left - 6);
      for (const row of byThread.get(thread.index)) {
        context.fillStyle = fills[state[row]];
        const high = state[row] === 2 ? 4 : 14;
        context.fillRect(left + (times[row] - shown.from) * scale, top + 15 - high, Math.max(0.6, weights[row] * scale), high);
      }
    });
  });
  new ResizeObserver(draw).observe(box);
  const time = (title, which) => ({ title, number: true, value: (row) => row.states[which], text: (row) => formatNanos(row.states[which]) });
  return el('div', null, el('h2', null, 'Threads'),
    drawn.length > 0 && [el('p', { class: 'legend' }, ['managed', 'native', 'waiting'].map((name) => el('span', null, el('i', { class: `swatch ${name}`, 'aria-hidden': 'true' }), name))), box],
    table({ caption: `Threads (${formatCount(rows.length)})`, columns: [{ title: 'Thread', value: (row) => row.label }, { title: 'Events', number: true, value: (row) => row.events, text: (row) => formatCount(row.events) }, { title: 'Samples', number: true, value: (row) => row.samples, text: (row) => formatCount(row.samples) }, time('Managed', 0), time('Native', 1), time('Waiting', 2)], rows, onrow: (row) => go({ view: 'cpu', kind: 'cpu', thread: row.index, zoom: null }, true) }));
}

export function logsView(trace, route, range, extent, go) {
  const messages = (trace.reports.logs?.messages || []).filter((row) => !range || (range.from <= row.ts_ns && row.ts_ns < range.to));
  if (!trace.reports.logs?.count) return nothing('No messages in this trace. Record with nettrace collect --profile logs, or --providers Microsoft-Extensions-Logging:4:5.');
  return filtered('Messages', route, go, messages, (row) => `${row.level} ${row.logger} ${row.message} ${row.event}`, [
    { title: 'Time', number: true, value: (row) => row.ts_ns, text: (row) => formatMoment(row.ts_ns) }, { title: 'Level', value: (row) => row.level },
    { title: 'Logger', value: (row) => row.logger }, { title: 'Message', wide: true, value: (row) => row.message }, { title: 'Event', value: (row) => row.event }, { title: 'Thread', number: true, value: (row) => row.thread_id },
  ], 'logs-count');
}

export function eventsView(trace, route, range, extent, go) {
  const times = trace.column('events.t');
  const types = trace.column('events.type');
  const threads = trace.column('events.thread');
  const ends = trace.column('events.end');
  const [begin, end] = rowsWithin(times, range);
  const rows = [];
  for (let row = begin; row < end; row += 1) rows.push(row);
  const payload = (row) => trace.text('events.payload', row ? ends[row - 1] : 0, ends[row]);
  const typeName = (row) => {
    const type = trace.events.types[types[row]];
    return type ? `${type.provider}/${type.name}` : '';
  };
  const view = filtered('Events', route, go, rows, (row) => `${typeName(row)} ${payload(row)}`, [
    { title: 'Time', number: true, value: (row) => times[row], text: (row) => formatMoment(times[row]) }, { title: 'Thread', value: (row) => threads[row], text: (row) => trace.threads[threads[row]]?.label ?? '' },
    { title: 'Event', value: typeName }, { title: 'Payload', wide: true, value: payload },
  ], 'events-count');
  if (trace.events.all > times.length) {
    view.prepend(el('p', { class: 'notice', role: 'note' }, `The page has the first ${formatCount(times.length)} of ${formatCount(trace.events.all)} events. All of them: nettrace events ${trace.title}; those of a range: nettrace events ${trace.title} --time FROM..TO`));
  }
  return view;
}

function filtered(title, route, go, rows, textOf, columns, id) {
  const box = el('div');
  const count = el('span', { id, role: 'status' });
  const draw = (wanted) => {
    const needle = wanted.trim().toLowerCase();
    const shown = needle ? rows.filter((row) => textOf(row).toLowerCase().includes(needle)) : rows;
    count.textContent = formatCount(shown.length);
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
