// Views of what the runtime did: collections, exceptions, locks, compilation, the thread pool, threads.
import { el, printable } from './dom.mjs';
import { areas, chart } from './chart.mjs';
import { countOf, formatBytes, formatCount, formatDecimal, formatValue, formatMoment, formatNanos, formatPercent } from './format.mjs';
import {
  bins,
  collectionTotals,
  exceptionGroups,
  heldUpBy,
  lockGroups,
  occurrences,
  ownFrame,
  placesOf,
  spanSums,
  spansOf,
  tasksOf,
  thinnedOf,
  triggerPlaces,
  waitSums,
} from './query.mjs';
import { isWithin, maxOf, minOf, rowsWithin } from './ranges.mjs';
import { facts, table } from './table.mjs';
import { counterName } from './lanes.mjs';

const generationName = (name) => name.replace(/^gen(\d)$/, 'gen $1').replace(/^[lp]oh$/, (word) => word.toUpperCase());
const none = (text) => el('p', { class: 'none' }, text);
// A notice beside numbers made of rows of which the page leaves some out.
export const thinned = (trace, name) => thinnedOf(trace, name).map((text) => el('p', { class: 'notice thinned', role: 'note' }, text));
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
const moment = (key) => ({ title: 'Time', number: true, value: (row) => row[key], text: (row) => formatMoment(row[key]) });

export function gcView(trace, route, range, extent, go) {
  if (!trace.reports.gc?.collections?.length)
    return none('No collections in this trace. Record with nettrace collect --profile gc-collect.');
  const totals = collectionTotals(trace, range);
  const shown = range || extent;
  const length = shown.to - shown.from;
  const seen = range ? length : trace.reports.gc.totals.seen_ns || length;
  const generations = ['gen0', 'gen1', 'gen2', 'loh', 'poh'].filter((name) =>
    totals.rows.some((row) => row.generations?.some((own) => own.name === name)),
  );
  const sizes = (row, key) => generations.map((name) => row.generations?.find((own) => own.name === name)?.[key] ?? 0);
  const byGeneration = totals.rows
    .filter((row) => row.generations?.length > 0)
    .flatMap((row) => [{ at: row.start_ns + (row.duration_ns || 0), values: sizes(row, 'after_bytes') }]);
  const heaps = totals.rows
    .filter((row) => Number.isFinite(row.heap_after_bytes))
    .map((row) => ({ at: row.start_ns + (row.duration_ns || 0), value: row.heap_after_bytes }));
  const parts = totals.rows
    .filter((row) => Number.isFinite(row.fragmentation_percent))
    .map((row) => ({ at: row.start_ns, value: row.fragmentation_percent }));
  const suspends = totals.rows.map((row) => row.suspend_ns).filter((nanos) => nanos > 0);
  const chosen = totals.rows.find((row) => String(row.number) === route.gc) ?? null;
  const legend = el(
    'p',
    { class: 'legend' },
    [0, 1, 2].map((generation) =>
      el('span', null, el('i', { class: `swatch gen${generation}`, 'aria-hidden': 'true' }), `gen ${generation}`),
    ),
  );
  return el(
    'div',
    null,
    el('h2', null, 'Garbage collections'),
    facts([
      ['Collections', formatCount(totals.count), 'gc-count', totals.count],
      totals.incomplete > 0 && ['Without start, end or pause', formatCount(totals.incomplete), 'gc-incomplete', totals.incomplete],
      ['Pauses', formatNanos(totals.pause), 'gc-pause', totals.pause],
      ['Of the time', formatPercent((totals.pause / seen) * 100)],
      ['Longest pause', formatNanos(totals.max), 'gc-max', totals.max],
      ['50th percentile', formatNanos(totals.p50)],
      ['99th percentile', formatNanos(totals.p99), 'gc-p99', totals.p99],
      suspends.length > 0 && ['Stopping all threads took', `at most ${formatNanos(maxOf(suspends))}`, 'gc-suspend', maxOf(suspends)],
      totals.allocated > 0 && ['Allocated', formatBytes(totals.allocated)],
      totals.promoted > 0 && ['Promoted', formatBytes(totals.promoted)],
    ]),
    thinned(trace, 'gc'),
    el('h3', null, 'Pauses'),
    legend,
    chart({
      points: (totals.all.length > totals.rows.length ? totals.all : totals.rows).map((row) => ({
        at: row.start_ns,
        value: row.pause_ns,
        colour: `gen${Math.min(2, row.generation ?? 2)}`,
        text: `${formatMoment(row.start_ns)}: gen ${row.generation}${row.reason ? `, ${row.reason}` : ''}, ${formatNanos(row.pause_ns)}`,
      })),
      range: shown,
      kind: 'bars',
      unit: formatNanos,
      label: `Pauses of ${totals.count} collections, the longest ${formatNanos(totals.max)}`,
    }),
    byGeneration.length > 0 && [
      el('h3', null, 'Heap size by generation, after each collection'),
      el(
        'p',
        { class: 'legend' },
        generations.map((name) => el('span', null, el('i', { class: `swatch ${name}`, 'aria-hidden': 'true' }), generationName(name))),
      ),
      areas({
        points: byGeneration,
        parts: generations.map((name) => ({ name: generationName(name), fill: name })),
        range: shown,
        unit: formatBytes,
        label: 'Heap size by generation; the table Collections has its sums',
      }),
    ],
    byGeneration.length === 0 &&
      heaps.length > 0 && [
        el('h3', null, 'Heap size'),
        chart({
          points: heaps,
          range: shown,
          unit: formatBytes,
          label: `Heap size, at most ${formatBytes(maxOf(heaps.map((point) => point.value)))}`,
          fill: 'alloc',
        }),
      ],
    parts.length > 0 && [
      el('h3', null, 'Fragmentation after each collection'),
      chart({
        points: parts,
        range: shown,
        height: 70,
        unit: (value) => formatPercent(value),
        label: `Fragmentation, at most ${formatPercent(maxOf(parts.map((point) => point.value)))}`,
        fill: 'loh',
      }),
    ],
    totals.all.length > 5 && pauseHistogram(totals.all.map((row) => row.pause_ns)),
    chosen && collectionCard(trace, chosen, go),
    table({
      caption: 'By generation',
      columns: [
        { title: 'Generation', value: (row) => `gen ${row.generation}` },
        { title: 'Collections', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        { title: 'Pauses', number: true, value: (row) => row.pause, text: (row) => formatNanos(row.pause) },
        { title: 'Longest', number: true, value: (row) => row.max, text: (row) => formatNanos(row.max) },
      ],
      rows: totals.generations.filter((row) => row.count > 0),
    }),
    triggers(trace, range),
    table({
      caption: 'Collections',
      columns: [
        { title: 'Number', value: (row) => row.number },
        moment('start_ns'),
        { title: 'Generation', value: (row) => `gen ${row.generation}` },
        { title: 'Reason', value: (row) => row.reason },
        { title: 'Type', value: (row) => row.type },
        {
          title: 'Pause',
          number: true,
          value: (row) => row.pause_ns,
          text: (row) => formatNanos(row.pause_ns),
          bar: (row) => row.pause_ns / (totals.max || 1),
        },
        { title: 'Heap before', number: true, value: (row) => row.heap_before_bytes, text: (row) => formatBytes(row.heap_before_bytes) },
        { title: 'Heap after', number: true, value: (row) => row.heap_after_bytes, text: (row) => formatBytes(row.heap_after_bytes) },
        { title: 'Promoted', number: true, value: (row) => row.promoted_bytes, text: (row) => formatBytes(row.promoted_bytes) },
        suspends.length > 0 && {
          title: 'Suspend',
          number: true,
          value: (row) => row.suspend_ns,
          text: (row) => formatNanos(row.suspend_ns ?? NaN),
        },
        parts.length > 0 && {
          title: 'Fragmented',
          number: true,
          value: (row) => row.fragmentation_percent,
          text: (row) => formatPercent(row.fragmentation_percent ?? NaN),
        },
      ].filter((column) => column),
      rows: totals.rows,
      onrow: (row) => go({ gc: String(row.number) }, true),
    }),
  );
}

// The calls for which the runtime collected.
function triggers(trace, range) {
  const places = triggerPlaces(trace, range);
  if (!places.length) return null;
  return [
    thinned(trace, 'triggers'),
    table({
      caption: `What triggered collections (${formatCount(places.length)})`,
      first: 10,
      columns: [
        { title: 'In', value: (row) => row.own || '(no stack)' },
        {
          title: 'Times',
          number: true,
          value: (row) => row.count,
          text: (row) => formatCount(row.count),
          bar: (row) => row.count / places[0].count,
        },
        { title: 'Paused', number: true, value: (row) => row.pause, text: (row) => formatNanos(row.pause) },
        { title: 'Generations', value: (row) => row.generations },
        {
          title: 'Stacks',
          wide: true,
          value: (row) => row.stacks[0].frames.join(' ← '),
          node: (row) =>
            el(
              'details',
              null,
              el('summary', null, countOf(row.stacks.length, 'stack')),
              row.stacks
                .slice(0, 10)
                .map((stack) =>
                  el(
                    'div',
                    null,
                    el('p', null, countOf(stack.count, 'time')),
                    el('pre', { tabindex: '0' }, stack.frames.map(printable).join('\n') || '(no stack)'),
                  ),
                ),
            ),
        },
      ],
      rows: places,
    }),
  ];
}

// How many pauses took how long: each step is twice as long as the one before.
function pauseHistogram(pauses) {
  const steps = new Map();
  for (const nanos of pauses) {
    const step = 2 ** Math.floor(Math.log2(Math.max(1, nanos / 1e3)));
    steps.set(step, (steps.get(step) || 0) + 1);
  }
  const most = maxOf([...steps.values()]);
  const rows = [...steps].sort((a, b) => a[0] - b[0]).map(([step, count]) => ({ step, count }));
  return table({
    caption: 'Pauses by length',
    columns: [
      { title: 'Length', value: (row) => `from ${formatNanos(row.step * 1e3)}` },
      { title: 'Pauses', number: true, value: (row) => row.count, text: (row) => formatCount(row.count), bar: (row) => row.count / most },
    ],
    rows,
  });
}

// One collection, and the requests that its pauses held up.
function collectionCard(trace, row, go) {
  const pauses = row.pauses?.length ? row.pauses : [{ start_ns: row.start_ns, pause_ns: row.pause_ns }];
  const what = trace.column('requests.t').length ? 'requests' : 'activities';
  const held = occurrences(trace, what, null).rows.filter((one) =>
    pauses.some((pause) => one.start < pause.start_ns + pause.pause_ns && (one.isOpen || one.start + one.nanos > pause.start_ns)),
  );
  const end = maxOf(pauses.map((pause) => pause.start_ns + pause.pause_ns));
  return el(
    'section',
    { class: 'card', id: 'collection', 'aria-label': `Collection ${row.number}` },
    el('h3', null, `Collection ${row.number}: gen ${row.generation}, ${row.reason}, ${formatNanos(row.pause_ns)} paused`),
    el(
      'div',
      { class: 'controls' },
      el(
        'button',
        {
          type: 'button',
          onclick: () =>
            go({ from: Math.round(row.start_ns), to: Math.round(Math.max(end, row.start_ns + (row.duration_ns || 0)) + 1) }, true),
        },
        'Select its time',
      ),
      el('button', { type: 'button', onclick: () => go({ gc: null }, true) }, 'Close'),
    ),
    held.length > 0 &&
      table({
        caption: `${what === 'requests' ? 'Requests' : 'Activities'} that it held up (${formatCount(held.length)})`,
        first: 10,
        columns: [
          { title: 'Name', value: (one) => one.name },
          { title: 'Start', number: true, value: (one) => one.start, text: (one) => formatMoment(one.start) },
          { title: 'Took', number: true, value: (one) => one.nanos, text: (one) => (one.isOpen ? 'still open' : formatNanos(one.nanos)) },
        ],
        rows: held.sort((a, b) => b.nanos - a.nanos),
        onrow: (one) => go({ view: 'requests', from: Math.round(one.start), to: Math.round(one.start + one.nanos + 1) }, true),
      }),
  );
}

export function exceptionsView(trace, route, range) {
  if (!trace.column('thrown.t').length) return none('No exceptions in this trace. Record with nettrace collect --clrevents exception.');
  const { groups, counted } = exceptionGroups(trace, range);
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const handled = new Map((trace.reports.exceptions?.types || []).map((row) => [row.type, row]));
  return el(
    'div',
    null,
    el('h2', null, 'Exceptions'),
    binned('exceptions', range, counted),
    thinned(trace, 'exceptions'),
    facts([
      ['Thrown', formatCount(count), 'exceptions-count', count],
      ['Types', formatCount(groups.length)],
    ]),
    'exceptions' in trace.kinds && el('p', null, el('a', { href: '#view=cpu&kind=exceptions' }, 'Stacks that threw, as a flame graph')),
    table({
      caption: 'By type',
      columns: [
        { title: 'Type', value: (row) => row.type },
        {
          title: 'Thrown',
          number: true,
          value: (row) => row.count,
          text: (row) => formatCount(row.count),
          bar: (row) => row.count / count,
        },
        { title: 'First', number: true, value: (row) => row.first, text: (row) => formatMoment(row.first) },
        { title: 'Last', number: true, value: (row) => row.last, text: (row) => formatMoment(row.last) },
        { title: 'Most often', wide: true, value: (row) => row.messages[0]?.message || '' },
      ],
      rows: groups,
    }),
    groups.map((group, place) =>
      el(
        'details',
        { open: place === 0 },
        el('summary', null, `${group.type}: ${formatCount(group.count)}`),
        !range &&
          handled.get(group.type)?.caught_in?.length > 0 &&
          el(
            'p',
            null,
            `Caught in ${handled
              .get(group.type)
              .caught_in.map((row) => row.method)
              .join(', ')}`,
          ),
        table({
          caption: 'Messages',
          first: 10,
          columns: [
            { title: 'Message', value: (row) => row.message || '(none)' },
            { title: 'Thrown', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
          ],
          rows: group.messages,
        }),
        group.stacks
          .slice(0, 20)
          .map((stack) =>
            el(
              'div',
              null,
              el('p', null, `${formatCount(stack.count)} thrown at`),
              el('pre', { tabindex: '0' }, stack.frames.map(printable).join('\n') || '(no stack)'),
            ),
          ),
      ),
    ),
  );
}

// What threads that had a lock did while others waited for it.
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

// Which thread let which go on.
export function heldUp(trace, range, go) {
  const rows = heldUpBy(trace, range);
  if (!rows.length) return null;
  return [
    thinned(trace, 'Contention'),
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
  const open = [deadlocks(report), stillWaiting(report)];
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
    range && thinned(trace, 'Contention'),
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
        { title: 'Top location', wide: true, value: (row) => ownFrame(byId.get(row.lock)?.stacks?.[0]?.frames ?? []) },
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

// Threads that wait for each other's locks.
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

// Threads whose wait is not over at the end, and those of which only stacks show that they wait.
function stillWaiting(report) {
  if (!hasOpen(report)) return null;
  const rows = [...(report.open || []), ...(report.stuck || []).map((row) => ({ ...row, only_stacks: true }))];
  return table({
    caption: 'Still waiting at the end',
    columns: [
      { title: 'At least', number: true, value: (row) => row.at_least_ns, text: (row) => formatNanos(row.at_least_ns) },
      { title: 'Thread', value: threadOf },
      { title: 'Waits for', value: (row) => row.lock_id ?? row.waits_for ?? '' },
      { title: 'Held by', value: (row) => row.owner_thread_id ?? (row.owner_managed_id ? `managed thread ${row.owner_managed_id}` : '') },
      { title: 'Where', wide: true, value: (row) => ownFrame(row.frames) },
      { title: 'Known from', value: (row) => (row.only_stacks ? 'stacks alone' : 'events') },
    ],
    rows,
    first: 20,
  });
}

function stillAwaiting(report) {
  if (!report?.open?.length) return null;
  return table({
    caption: 'Tasks still waited for at the end',
    columns: [
      { title: 'At least', number: true, value: (row) => row.at_least_ns, text: (row) => formatNanos(row.at_least_ns) },
      { title: 'Task', value: (row) => row.task },
      { title: 'Kind', value: (row) => (row.is_blocking ? 'blocking' : 'await') },
      { title: 'Where', wide: true, value: (row) => ownFrame(row.frames) },
    ],
    rows: report.open,
    first: 20,
  });
}

// Where threads waited, if their waits have stacks.
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
    !range && stillWaiting(report),
    !range && stillAwaiting(trace.reports.tasks),
    binned('waits', range, counted),
    range && thinned(trace, 'Waits'),
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

export function jitView(trace, route, range, extent) {
  const report = trace.reports.jit;
  const spans = spansOf(trace, 'JIT', range);
  const assemblies = (trace.reports.loader?.assemblies || []).filter((row) => row.loaded_ns !== null && isWithin(range, row.loaded_ns));
  if (!report?.methods?.length && !spans.length && !assemblies.length)
    return none('No compilation in this trace. Record with nettrace collect --clrevents jit+loader --clreventlevel verbose.');
  const compiled = spanSums(trace, 'JIT', range);
  const { total } = compiled;
  const shown = range || extent;
  const step = (shown.to - shown.from) / 200;
  const busy = bins(
    spans.map((row) => row.start),
    spans.map((row) => row.nanos),
    shown,
    200,
    { lasts: true },
  );
  const totals = report?.totals;
  const tiers = new Map();
  const count = (name, nanos) => {
    const tier = tiers.get(name) || { tier: name, methods: 0, duration_ns: 0 };
    tiers.set(name, { tier: name, methods: tier.methods + 1, duration_ns: tier.duration_ns + nanos });
  };
  if (trace.has('jit.t')) {
    const [times, nanos, tier] = ['t', 'nanos', 'tier'].map((name) => trace.column(`jit.${name}`));
    const [begin, end] = rowsWithin(times, range);
    for (let row = begin; row < end; row += 1) count(report.tiers[tier[row]]?.tier ?? 'Unknown', nanos[row]);
  } else for (const row of (report?.methods || []).filter((one) => isWithin(range, one.start_ns))) count(row.tier, row.duration_ns);
  const methods = [...tiers.values()].reduce((sum, row) => sum + row.methods, 0);
  const rows = range ? [...tiers.values()].sort((one, other) => other.duration_ns - one.duration_ns) : report?.tiers || [];
  return el(
    'div',
    null,
    el('h2', null, 'Compilation and startup'),
    binned('compilations', range, compiled.counted),
    thinned(trace, 'JIT'),
    facts([
      methods > 0 && ['Compiled here', formatCount(methods), 'jit-count', methods],
      compiled.count > 0 && ['Total', formatNanos(total), 'jit-total', total],
      !range && totals?.methods > 0 && ['Methods in the trace', formatCount(totals.methods), 'jit-methods', totals.methods],
      !range && totals?.il_bytes > 0 && ['IL', formatBytes(totals.il_bytes)],
      !range && totals?.native_bytes > 0 && ['Native code', formatBytes(totals.native_bytes)],
      assemblies.length > 0 && ['Assemblies loaded', formatCount(assemblies.length), 'assemblies', assemblies.length],
    ]),
    spans.length > 0 && [
      el('h3', null, 'Threads that compile'),
      chart({
        points: [...busy].map((nanos, bin) => ({ at: shown.from + bin * step, value: nanos / step })),
        range: shown,
        kind: 'steps',
        unit: (value) => formatDecimal(value, 2),
        label: `Compilation over time, ${formatNanos(total)} in total`,
        fill: 'jit',
      }),
    ],
    rows.length > 0 &&
      table({
        caption: 'By tier',
        columns: [
          { title: 'Tier', value: (row) => row.tier ?? row.name },
          {
            title: 'Methods',
            number: true,
            value: (row) => row.methods ?? row.count,
            text: (row) => formatCount(row.methods ?? row.count),
          },
          { title: 'Total', number: true, value: (row) => row.duration_ns, text: (row) => formatNanos(row.duration_ns) },
        ],
        rows,
      }),
    spans.length > 0 &&
      table({
        caption: 'Compilations',
        columns: [
          { title: 'Method', value: (row) => row.name },
          moment('start'),
          { title: 'Took', number: true, value: (row) => row.nanos, text: (row) => formatNanos(row.nanos) },
          { title: 'Thread', value: (row) => trace.threads[row.thread]?.label ?? '' },
          { title: 'Details', wide: true, value: (row) => row.detail },
        ],
        rows: spans,
        sort: { column: 2, down: true },
      }),
    assemblies.length > 0 &&
      table({
        caption: 'Assemblies in load order',
        columns: [{ title: 'Assembly', value: (row) => row.name }, moment('loaded_ns')],
        rows: assemblies,
      }),
  );
}

// Tasks: what was scheduled, and what was awaited.
export function tasksView(trace, route, range) {
  const whole = trace.reports.tasks;
  if (!whole?.scheduled && !whole?.waits_begun)
    return none('No tasks in this trace. Record with nettrace collect --providers System.Threading.Tasks.TplEventSource:0x3:4.');
  const report = tasksOf(trace, range);
  const spread = (key) => [
    {
      title: `${key === 'queued' ? 'Waited to begin' : 'Ran'}, mean`,
      number: true,
      value: (row) => row[key]?.mean_ns ?? null,
      text: (row) => formatNanos(row[key]?.mean_ns ?? NaN),
    },
    { title: '99 %', number: true, value: (row) => row[key]?.p99_ns ?? null, text: (row) => formatNanos(row[key]?.p99_ns ?? NaN) },
  ];
  const number = (title, key) => ({ title, number: true, value: (row) => row[key], text: (row) => formatCount(row[key]) });
  const ofWaits = (title, key, text) => ({ title, number: true, value: (row) => row.waits[key], text: (row) => text(row.waits[key]) });
  return el(
    'div',
    null,
    el('h2', null, 'Tasks'),
    report.notes.map(([what, counted]) => binned(what, range, counted)),
    facts([
      ['Scheduled', formatCount(report.scheduled), 'tasks-scheduled', report.scheduled],
      ['Completed', formatCount(report.completed), 'tasks-completed', report.completed],
      ['Failed', formatCount(report.faulted), 'tasks-failed', report.faulted],
      ['Awaited', formatCount(report.waits_begun), 'tasks-awaited', report.waits_begun],
      report.waits_begun > report.waits_ended && [
        'Still awaited at the end of the trace',
        formatCount(report.waits_begun - report.waits_ended),
      ],
    ]),
    table({
      caption: `Scheduled (${formatCount(report.tasks.length)})`,
      columns: [
        { title: 'Task', value: (row) => row.name },
        number('Scheduled', 'scheduled'),
        number('Failed', 'faulted'),
        ...spread('queued'),
        ...spread('ran'),
        { title: 'By', wide: true, value: (row) => ownFrame(row.stacks?.[0]?.frames ?? []) },
      ],
      rows: report.tasks,
      first: 20,
    }),
    table({
      caption: `Awaited (${formatCount(report.waits.length)})`,
      columns: [
        { title: 'What', value: (row) => row.name },
        { title: 'Kind', value: (row) => (row.is_blocking ? 'blocks a thread' : 'await') },
        ofWaits('Times', 'count', formatCount),
        ofWaits('Total', 'total_ns', formatNanos),
        ofWaits('50 %', 'p50_ns', formatNanos),
        ofWaits('99 %', 'p99_ns', formatNanos),
        ofWaits('Longest', 'max_ns', formatNanos),
        number('Still awaited', 'still_waiting'),
      ],
      rows: report.waits,
      first: 20,
    }),
    !range && stillAwaiting(whole),
  );
}

const fromTo = (least, most) => (least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`);

export function poolView(trace, route, range, extent) {
  const report = trace.reports.threadpool;
  if (!report || (!report.workers?.length && !report.adjustments?.length && !report.enqueued))
    return none('No events of the thread pool in this trace. Record with nettrace collect --clrevents threading.');
  const inRange = (rows) => (rows || []).filter((row) => isWithin(range, row.ts_ns));
  const workers = inRange(report.workers);
  const throughput = inRange(report.throughput);
  const adjustments = inRange(report.adjustments);
  const queue = inRange(report.queue);
  const waited = range ? null : report.latency;
  const shown = range || extent;
  return el(
    'div',
    null,
    el('h2', null, 'Thread pool'),
    facts([
      [
        'Active workers',
        workers.length ? fromTo(minOf(workers.map((row) => row.min)), maxOf(workers.map((row) => row.max))) : '–',
        'pool-active',
      ],
      adjustments.length > 0 && [
        'Wanted workers',
        fromTo(minOf(adjustments.map((row) => row.workers)), maxOf(adjustments.map((row) => row.workers))),
        'pool-wanted',
      ],
      ['Adjustments', formatCount(adjustments.length), 'pool-adjustments', adjustments.length],
      ['Starved', report.is_starved ? 'yes' : 'no'],
      !range && report.enqueued > 0 && ['Work items', formatCount(report.enqueued), 'pool-enqueued', report.enqueued],
      waited && ['Waited, 50 %', formatNanos(waited.p50_ns)],
      waited && ['Waited, 99 %', formatNanos(waited.p99_ns)],
    ]),
    workers.length > 0 && [
      el('h3', null, 'Active workers'),
      chart({
        points: workers.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        kind: 'steps',
        unit: formatCount,
        label: 'Active workers over time',
        fill: 'pool',
      }),
    ],
    queue.some((row) => row.max > 0) && [
      el('h3', null, 'Waiting work items'),
      chart({
        points: queue.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        kind: 'steps',
        unit: formatCount,
        label: 'Length of the queue over time',
        fill: 'request',
      }),
    ],
    throughput.length > 0 && [
      el('h3', null, 'Work items a second'),
      chart({
        points: throughput.map((row) => ({ at: row.ts_ns, value: row.last })),
        range: shown,
        unit: (value) => formatDecimal(value, 0),
        label: 'Throughput over time',
        fill: 'request',
      }),
    ],
    table({
      caption: 'Adjustments',
      columns: [
        moment('ts_ns'),
        { title: 'Wanted workers', number: true, value: (row) => row.workers },
        { title: 'Throughput', number: true, value: (row) => row.throughput, text: (row) => formatDecimal(row.throughput, 1) },
        { title: 'Reason', value: (row) => row.reason },
      ],
      rows: adjustments,
    }),
  );
}

export function countersView(trace, route, range, extent) {
  const series = trace.reports.counters?.series || [];
  if (!series.length) return none('No counters in this trace. Record with nettrace collect --counters System.Runtime.');
  const shown = range || extent;
  const rows = series.map((row) => {
    const points = row.points.filter((point) => isWithin(range, point.ts_ns) && Number.isFinite(point.value));
    // Where there are very many, a point stands for some neighbours.
    const count = points.reduce((all, point) => all + (point.joined ?? 1), 0);
    // A mean is of all that was measured in its interval, which may be nothing.
    const weight = (point) => point.measured ?? point.count ?? 1;
    const measured = points.filter((point) => weight(point) > 0);
    const weights = measured.reduce((all, point) => all + weight(point), 0);
    const sum = measured.reduce((all, point) => all + point.value * weight(point), 0);
    const ends = (key) => measured.map((point) => point[key] ?? point.value);
    return {
      ...row,
      points,
      count,
      min: weights ? minOf(ends('min')) : null,
      max: weights ? maxOf(ends('max')) : null,
      mean: weights ? sum / weights : null,
      last: ends('last').pop() ?? null,
      title: counterName(row),
    };
  });
  const number = (key) => ({
    title: key[0].toUpperCase() + key.slice(1),
    number: true,
    value: (row) => row[key],
    text: (row) => formatValue(row[key]),
  });
  return el(
    'div',
    null,
    el('h2', null, 'Counters'),
    thinned(trace, 'counters'),
    table({
      caption: `Counters (${formatCount(rows.length)})`,
      columns: [
        { title: 'Counter', value: (row) => row.title },
        { title: 'Provider', value: (row) => row.provider },
        { title: 'Unit', value: (row) => row.unit },
        { title: 'Values', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        number('min'),
        number('mean'),
        number('max'),
        number('last'),
      ],
      rows,
    }),
    el(
      'div',
      { class: 'cards' },
      rows
        .filter((row) => row.points.length > 0)
        .slice(0, 60)
        .map((row) =>
          el(
            'div',
            { class: 'card' },
            el('h3', null, row.title),
            chart({
              points: row.points.map((point) => ({ at: point.ts_ns, value: point.value })),
              range: shown,
              height: 84,
              unit: (value) => `${formatValue(value)} ${row.unit || ''}`,
              label: `${row.title}: from ${formatValue(row.min)} to ${formatValue(row.max)} ${row.unit || ''}`,
              fill: 'counter',
            }),
          ),
        ),
    ),
  );
}
