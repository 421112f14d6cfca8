// The views of waits for locks and for handles.
import { el, printable } from './dom.mjs';
import { countOf, formatCount, formatNanos } from './format.mjs';
import { ownText } from './frames.mjs';
import { binned, moment, none, thinned } from './notices.mjs';
import { lockGroups, waitSums } from './query.mjs';
import { heldUpBy, placesOf, spansOf } from './sums.mjs';
import { facts, table } from './table.mjs';

// Shows the stacks of threads that held a lock while others waited for it.
function ownersDid(report) {
  const locks = (report?.locks || []).filter((row) => row.owner_stacks?.length > 0).slice(0, 10);
  return locks.map((row) =>
    el(
      'details',
      null,
      el('summary', null, `What owners of ${row.lock_id ?? 'the lock'} did while others waited`),
      row.owner_stacks
        .slice(0, 10)
        .map((stack) =>
          el(
            'div',
            null,
            el('p', null, countOf(stack.count, 'sample')),
            el('pre', { tabindex: '0' }, stack.frames.map(printable).join('\n')),
          ),
        ),
    ),
  );
}

// Returns a table of the threads that held locks for which others waited.
export function heldUp(trace, range, go) {
  const rows = heldUpBy(trace, range);
  if (!rows.length) return null;
  return [
    thinned(trace, 'spans', 'contention'),
    table({
      caption: `Who waited for whom (${formatCount(rows.length)})`,
      first: 12,
      columns: [
        { title: 'Thread', value: (row) => trace.threads[row.thread]?.label ?? '' },
        {
          title: 'Waited for a lock that was with',
          value: (row) => row.label,
          about: 'the thread that had the lock when the wait began; when it leaves the lock, it wakes one that waits',
        },
        { title: 'Waits', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        {
          title: 'Total',
          number: true,
          value: (row) => row.total,
          text: (row) => formatNanos(row.total),
          bar: (row) => row.total / (rows[0].total || 1),
        },
        { title: 'Longest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) },
      ],
      rows,
      leads: (row) => row.owner !== null,
      onrow: (row) => go({ view: 'cpu', kind: 'cpu', thread: row.owner, states: 'all', zoom: null }, true),
      rowLabel: 1,
    }),
  ];
}

export function contentionView(trace, route, range, extent, go) {
  const report = trace.reports.contention;
  const open = [deadlocks(report), stillWaiting(trace, report)];
  if (!trace.column('span.Contention.start').length && !hasOpen(report))
    return none('No waits for locks in this trace. Record with nettrace collect --clrevents contention.');
  const locks = lockGroups(trace, range);
  const waits = spansOf(trace, 'Contention', range);
  const { count, total, p99, max, counted } = waitSums(trace, 'contention', 'Contention', range);
  const byId = new Map((trace.reports.contention?.locks || []).map((row) => [row.lock_id, row]));
  const heldOf = (row) => (byId.get(row.lock)?.held?.count > 0 ? byId.get(row.lock).held : null);
  const isHeldKnown = !range && [...byId.values()].some((row) => row.held?.count > 0);
  return el(
    'div',
    null,
    el('h2', null, 'Contention'),
    !range && open,
    binned('waits for locks', range, counted),
    range && thinned(trace, 'spans', 'contention'),
    facts([
      ['Waits', formatCount(count), 'contention-count', count],
      ['Total', formatNanos(total), 'contention-total', total],
      ['99th percentile', p99 === null ? 'not kept' : formatNanos(p99), 'contention-p99', p99],
      ['Longest', formatNanos(max)],
      ['Locks', formatCount(locks.length)],
    ]),
    table({
      caption: 'By lock',
      columns: [
        { title: 'Lock', value: (row) => row.lock },
        { title: 'Waits', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        {
          title: 'Total',
          number: true,
          value: (row) => row.total,
          text: (row) => formatNanos(row.total),
          bar: (row) => row.total / (total || 1),
        },
        { title: 'Longest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) },
        { title: 'Threads', number: true, value: (row) => row.threads.size },
        ...(isHeldKnown
          ? [
              ['Held, 50 %', 'p50_ns'],
              ['99 %', 'p99_ns'],
            ].map(([title, key]) => ({
              title,
              number: true,
              about: 'how long threads had it, as far as those show that waited one after the other',
              value: (row) => heldOf(row)?.[key] ?? null,
              text: (row) => formatNanos(heldOf(row)?.[key] ?? NaN),
            }))
          : []),
        { title: 'Top location', wide: true, value: (row) => ownText(trace, byId.get(row.lock)?.stacks?.[0]?.frames ?? []) },
      ],
      rows: locks,
    }),
    !range && ownersDid(report),
    places(trace, 'contention', range),
    heldUp(trace, range, go),
    table({
      caption: 'Longest waits',
      columns: [
        moment('start'),
        { title: 'Waited', number: true, value: (row) => row.nanos, text: (row) => formatNanos(row.nanos) },
        { title: 'Thread', value: (row) => trace.threads[row.thread]?.label ?? '' },
        { title: 'Details', wide: true, value: (row) => row.detail },
      ],
      rows: [...waits].sort((a, b) => b.nanos - a.nanos),
      first: 20,
    }),
  );
}

const hasOpen = (report) => Boolean(report?.open?.length || report?.stuck?.length);

// Returns the threads that wait for each other's locks.
function deadlocks(report) {
  return (report?.deadlocks || []).map((circle) =>
    el(
      'p',
      null,
      `Deadlock: threads ${circle.thread_ids.join(' → ')} → ${circle.thread_ids[0]}, for at least ${formatNanos(circle.at_least_ns)}`,
      circle.victim_ids.length > 0 && `; blocked by these, and no part of it: ${circle.victim_ids.join(', ')}`,
    ),
  );
}

const threadOf = (row) => `${row.thread_id ?? '?'}${row.name ? ` (${row.name})` : ''}`;

// Returns the threads whose waits are not over at the end, with those whose wait only stacks show.
function stillWaiting(trace, report) {
  if (!hasOpen(report)) return null;
  const rows = [...(report.open || []), ...(report.stuck || []).map((row) => ({ ...row, only_stacks: true }))];
  return table({
    caption: 'Still waiting at the end',
    columns: [
      { title: 'At least', number: true, value: (row) => row.at_least_ns, text: (row) => formatNanos(row.at_least_ns) },
      { title: 'Thread', value: threadOf },
      { title: 'Waits for', value: (row) => row.lock_id ?? row.waits_for ?? '' },
      { title: 'Held by', value: (row) => row.owner_thread_id ?? (row.owner_managed_id ? `managed thread ${row.owner_managed_id}` : '') },
      { title: 'Where', wide: true, value: (row) => ownText(trace, row.frames) },
      { title: 'Known from', value: (row) => (row.only_stacks ? 'stacks alone' : 'events') },
    ],
    rows,
    first: 20,
  });
}

export function stillAwaiting(trace) {
  const report = trace.reports.tasks;
  if (!report?.open?.length) return null;
  return table({
    caption: 'Tasks still waited for at the end',
    columns: [
      { title: 'At least', number: true, value: (row) => row.at_least_ns, text: (row) => formatNanos(row.at_least_ns) },
      { title: 'Task', value: (row) => row.task },
      { title: 'Kind', value: (row) => (row.is_blocking ? 'blocking' : 'await') },
      { title: 'Where', wide: true, value: (row) => ownText(trace, row.frames) },
    ],
    rows: report.open,
    first: 20,
  });
}

// Returns the places where threads waited, if the waits have stacks.
function places(trace, kind, range) {
  if (!trace.column(`${kind}.t`).length) return null;
  const rows = placesOf(trace, kind, range);
  return [
    table({
      caption: 'Where',
      columns: [
        { title: 'Where', value: (row) => row.own || '(no stack)' },
        { title: 'Waits', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        {
          title: 'Total',
          number: true,
          value: (row) => row.weight,
          text: (row) => formatNanos(row.weight),
          bar: (row) => row.weight / (rows[0].weight || 1),
        },
        { title: 'Longest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) },
        { title: 'In', wide: true, value: (row) => (row.inner === row.own ? '' : row.inner) },
      ],
      rows,
      first: 20,
    }),
    el('p', null, el('a', { href: `#view=cpu&kind=${kind}` }, 'Stacks that waited, as a flame graph')),
  ];
}

export function waitsView(trace, route, range) {
  const waits = spansOf(trace, 'Waits', range);
  const report = trace.reports.waits;
  if (!trace.column('span.Waits.start').length && !hasOpen(report))
    return none('No waits in this trace. Record with nettrace collect --clrevents waithandle --clreventlevel verbose (.NET 9 and later).');
  const { count, total, open, counted } = waitSums(trace, 'waits', 'Waits', range);
  return el(
    'div',
    null,
    el('h2', null, 'Waits'),
    !range && stillWaiting(trace, report),
    !range && stillAwaiting(trace),
    binned('waits', range, counted),
    range && thinned(trace, 'spans', 'wait'),
    facts([
      ['Waits', formatCount(count), 'waits-count', count],
      ['Total, all threads', formatNanos(total), 'waits-total', total],
      open > 0 && ['Unfinished at the end', formatCount(open)],
    ]),
    places(trace, 'waits', range),
    table({
      caption: 'Longest waits',
      columns: [
        moment('start'),
        { title: 'Waited', number: true, value: (row) => row.nanos, text: (row) => formatNanos(row.nanos) },
        { title: 'Thread', value: (row) => trace.threads[row.thread]?.label ?? '' },
        { title: 'Details', wide: true, value: (row) => row.detail },
      ],
      rows: [...waits].sort((a, b) => b.nanos - a.nanos),
      first: 30,
    }),
  );
}
