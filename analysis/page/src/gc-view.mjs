// The view of collections.
import { areas, chart } from './chart.mjs';
import { el, printable } from './dom.mjs';
import { countOf, formatBytes, formatCount, formatMoment, formatNanos, formatPercent, generationName } from './format.mjs';
import { binned, moment, none, thinned } from './notices.mjs';
import { collectionTotals, occurrences } from './query.mjs';
import { maxOf } from './ranges.mjs';
import { pausesOf, triggerPlaces } from './sums.mjs';
import { facts, table } from './table.mjs';

export function gcView(trace, route, range, extent, go) {
  if (!trace.reports.gc?.collections?.length)
    return none('No collections in this trace. Record with nettrace collect --profile gc-collect.');
  const totals = collectionTotals(trace, range);
  const shown = range || extent;
  const length = shown.to - shown.from;
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
      ['Of the time', formatPercent(totals.percent ?? (totals.pause / length) * 100)],
      ['Longest pause', formatNanos(totals.max), 'gc-max', totals.max],
      ['50th percentile', formatNanos(totals.p50)],
      ['99th percentile', formatNanos(totals.p99), 'gc-p99', totals.p99],
      suspends.length > 0 && ['Stopping all threads took', `at most ${formatNanos(maxOf(suspends))}`, 'gc-suspend', maxOf(suspends)],
      totals.allocated > 0 && ['Allocated', `at least ${formatBytes(totals.allocated)}`],
      totals.promoted > 0 && ['Promoted', formatBytes(totals.promoted)],
    ]),
    thinned(trace, 'report', 'gc'),
    binned('collections', range, totals.counted),
    el('h3', null, 'Pauses'),
    legend,
    chart({
      points: (totals.all.length > totals.rows.length ? totals.all : totals.rows).map(pointOf),
      range: shown,
      kind: 'bars',
      unit: formatNanos,
      label: `Pauses of ${countOf(totals.count, 'collection')}, the longest ${formatNanos(totals.max)}`,
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
    totals.all.length > 5 && pauseHistogram(totals.all.flatMap(pausesOf)),
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

// Returns the bar of a collection, or of the longest pause of several in one bin.
function pointOf(row) {
  const nanos = row.max ?? row.pause_ns;
  const reason = row.reason ? `, ${row.reason}` : '';
  const text = `${formatMoment(row.start_ns)}: gen ${row.generation}${reason}, ${formatNanos(nanos)}`;
  return { at: row.start_ns, value: nanos, colour: `gen${Math.min(2, row.generation ?? 2)}`, text };
}

// Returns the calls for which the runtime collected.
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

// Returns the length of an activity as a text.
const lengthText = (one) => (one.isOpen ? 'still open' : one.isUnknown ? 'length unknown' : formatNanos(one.nanos));

// Returns a histogram of pauses by length. Each bar covers lengths twice as long as the bar before.
function pauseHistogram(pauses) {
  const steps = new Map();
  for (const [nanos, times] of pauses) {
    const step = 2 ** Math.floor(Math.log2(Math.max(1, nanos / 1e3)));
    steps.set(step, (steps.get(step) || 0) + times);
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

// Returns the card of a collection, with the requests that its pauses held up.
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
          { title: 'Took', number: true, value: (one) => one.nanos, text: lengthText },
        ],
        rows: held.sort((a, b) => b.nanos - a.nanos),
        onrow: (one) => go({ view: 'requests', from: Math.round(one.start), to: Math.round(one.start + one.nanos + 1) }, true),
      }),
  );
}
