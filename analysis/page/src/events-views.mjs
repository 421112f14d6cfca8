// The views of events and of log messages: long lists with a filter.
import { el, printable, replace, say } from './dom.mjs';
import { formatCount, formatMoment } from './format.mjs';
import { binned, none, thinned } from './notices.mjs';
import { rowsWithin } from './ranges.mjs';
import { eventCounts, messagesIn, textsOf } from './sums.mjs';
import { table } from './table.mjs';

export function logsView(trace, route, range, extent, go) {
  const all = messagesIn(trace, range);
  const messages = (trace.reports.logs?.messages || []).filter((row) => !range || (range.from <= row.ts_ns && row.ts_ns < range.to));
  if (!trace.reports.logs?.count)
    return none('No messages in this trace. Record with nettrace collect --profile logs, or --providers Microsoft-Extensions-Logging:4:5.');
  // Most messages have neither an exception nor scopes, so empty columns are left out.
  const more = [];
  if (messages.some((row) => row.exception)) more.push({ title: 'Exception', wide: true, value: (row) => row.exception ?? '' });
  if (messages.some((row) => row.scopes?.length)) more.push({ title: 'Scopes', wide: true, value: (row) => (row.scopes ?? []).join(' ') });
  return filtered(
    'Messages',
    route,
    go,
    messages,
    (row) => `${row.level} ${row.logger} ${row.message} ${row.event} ${row.exception ?? ''} ${(row.scopes ?? []).join(' ')}`,
    [
      { title: 'Time', number: true, value: (row) => row.ts_ns, text: (row) => formatMoment(row.ts_ns) },
      { title: 'Level', value: (row) => row.level },
      { title: 'Logger', value: (row) => row.logger },
      { title: 'Message', wide: true, value: (row) => row.message },
      ...more,
      { title: 'Event', value: (row) => row.event },
      { title: 'Thread', number: true, value: (row) => row.thread_id },
    ],
    'logs-count',
    all?.count ?? null,
    null,
    [all && binned('messages', range, all.counted), thinned(trace, 'report', 'logs')],
  );
}

// Returns the columns of the events that the page has.
export function eventColumns(trace) {
  const [times, types, threads, ends] = ['t', 'type', 'thread', 'end'].map((name) => trace.column(`events.${name}`));
  const typeName = (row) => {
    const type = trace.events.types[types[row]];
    return type ? `${type.provider}/${type.name}` : '';
  };
  return [
    { title: 'Time', number: true, value: (row) => times[row], text: (row) => formatMoment(times[row]) },
    { title: 'Thread', value: (row) => trace.threads[threads[row]]?.label ?? '' },
    { title: 'Event', value: typeName },
    { title: 'Payload', wide: true, value: (row) => trace.text('events.payload', row ? ends[row - 1] : 0, ends[row]) },
  ];
}

export function eventsView(trace, route, range, extent, go) {
  const [times, types, threads] = ['t', 'type', 'thread'].map((name) => trace.column(`events.${name}`));
  const nameOf = (number) =>
    trace.events.types[number] ? `${trace.events.types[number].provider}/${trace.events.types[number].name}` : '(unknown)';
  const counts = eventCounts(trace, range);
  const wanted =
    route.type === null ? null : new Set(trace.events.types.map((_, number) => number).filter((number) => nameOf(number) === route.type));
  const isWanted = (type, thread) => (!wanted || wanted.has(type)) && (route.thread === null || route.thread === thread);
  const [begin, end] = rowsWithin(times, range);
  const rows = [];
  for (let row = begin; row < end; row += 1) if (isWanted(types[row], threads[row])) rows.push(row);
  // Versions of a type are joined by their name.
  const byName = new Map();
  const byThread = new Map();
  let count = 0;
  for (const [key, own] of counts.both) {
    const [type, thread] = [Math.floor(key / 2 ** 32), key % 2 ** 32];
    if (route.thread === null || route.thread === thread) byName.set(nameOf(type), (byName.get(nameOf(type)) || 0) + own);
    if (!wanted || wanted.has(type)) byThread.set(thread, (byThread.get(thread) || 0) + own);
    if (isWanted(type, thread)) count += own;
  }
  const columns = eventColumns(trace);
  const pick = el(
    'select',
    { id: 'thread', onchange: () => go({ thread: pick.value === '' ? null : Number(pick.value) }, true) },
    el('option', { value: '' }, 'all'),
    [...byThread]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 500)
      .map(([thread, own]) => el('option', { value: String(thread) }, `${trace.threads[thread]?.label ?? thread} (${formatCount(own)})`)),
  );
  pick.value = route.thread === null ? '' : String(route.thread);
  const head = [
    el('label', null, 'Thread ', pick),
    (wanted || route.thread !== null) &&
      el('button', { type: 'button', id: 'alltypes', onclick: () => go({ type: null, thread: null }, true) }, 'All types and threads'),
    wanted && el('span', null, `Only ${route.type}`),
  ];
  const list = filtered(
    'Events',
    route,
    go,
    rows,
    (row) =>
      columns
        .slice(1)
        .map((column) => column.value(row))
        .join(' '),
    columns,
    'events-count',
    count,
    (row) => go({ event: row }, true),
    [
      binned('events', range, counts.counted),
      count > rows.length &&
        el(
          'p',
          { class: 'notice', role: 'note' },
          `${formatCount(rows.length)} of ${formatCount(count)} are listed: all of rare types, some of frequent ones. ` +
            `All of them: nettrace events ${trace.title}${range ? ` --time ${range.from}ns..${range.to}ns` : ''}`,
        ),
    ],
    head,
  );
  const chosen = route.event !== null && route.event < times.length ? route.event : null;
  const typeTable = table({
    caption: `Types (${formatCount(byName.size)})`,
    columns: [
      { title: 'Type', value: (row) => row.name },
      { title: 'Events', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
    ],
    rows: [...byName].map(([name, own]) => ({ name, count: own })).sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    onrow: (row) => go({ type: row.name }, true),
    first: 40,
  });
  if (chosen !== null) list.children[0].after(eventCard(trace, chosen, columns, go));
  return el('div', { class: 'split' }, el('div', { class: 'types' }, typeTable), list);
}

// Returns the card of an event: its payload, as far as the page has it, and its stack.
function eventCard(trace, row, columns, go) {
  const [, thread, name, payload] = columns.map((column) => (column.text || column.value)(row));
  const node = trace.column('events.node')[row];
  return el(
    'section',
    { class: 'card', id: 'event', 'aria-label': 'Event' },
    el('h3', null, name),
    el('p', null, `${formatMoment(trace.column('events.t')[row])}, ${thread}`),
    el('p', null, payload),
    node ? el('pre', { tabindex: '0' }, textsOf(trace, node).map(printable).join('\n')) : el('p', { class: 'none' }, 'It has no stack.'),
    el('button', { type: 'button', onclick: () => go({ event: null }, true) }, 'Close'),
  );
}

// Returns a table with a field that filters rows by their text. `all` is the number of rows if the page lists only some; null if it lists
// all.
function filtered(title, route, go, rows, textOf, columns, id, all = null, onrow = null, notes = null, head = null) {
  const box = el('div');
  const count = el('span', { id, role: 'status' });
  const word = el('span');
  const draw = (wanted) => {
    const needle = wanted.trim().toLowerCase();
    const shown = needle ? rows.filter((row) => textOf(row).toLowerCase().includes(needle)) : rows;
    const number = needle || all === null ? shown.length : all;
    say(count, formatCount(number));
    count.dataset.value = number;
    say(word, needle && all > rows.length ? ' of those listed match' : '');
    replace(box, table({ caption: title, columns, rows: shown, first: 100, onrow }));
  };
  let timer = null;
  const search = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Filter ( / )',
    'aria-label': `Filter ${title.toLowerCase()}`,
    value: route.q,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        draw(search.value);
        go({ q: search.value }, false, true);
      }, 120);
    },
  });
  draw(route.q);
  return el('div', null, el('h2', null, title), notes, el('div', { class: 'controls' }, search, head, el('span', null, count, word)), box);
}
