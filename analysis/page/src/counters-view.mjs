// The view of counters.
import { chart } from './chart.mjs';
import { el } from './dom.mjs';
import { added, formatCount, formatMeasured, formatValue, hasFittingUnit } from './format.mjs';
import { counterName } from './lanes.mjs';
import { none, thinned } from './notices.mjs';
import { isWithin, maxOf, minOf } from './ranges.mjs';
import { table } from './table.mjs';

// Returns a row for each histogram: the count and the mean of what was measured, and the series of its quantiles by percentile.
export function distributionsOf(rows) {
  const found = new Map();
  for (const row of rows) {
    const { Percentile: percentile, ...tags } = row.tags;
    const key = JSON.stringify([row.provider, row.name, tags]);
    if (!found.has(key)) found.set(key, { ...row, tags, title: counterName({ ...row, tags }), quantiles: new Map() });
    found.get(key).quantiles.set(Number(percentile), row);
  }
  return [...found.values()].map((row) => ({
    ...row,
    measured: row.weights,
    mean: row.sum !== null && row.weights > 0 ? row.sum / row.weights : null,
    highest: row.quantiles.get(Math.max(...row.quantiles.keys())),
  }));
}

export function countersView(trace, route, range, extent) {
  const series = trace.reports.counters?.series || [];
  if (!series.length) return none('No counters in this trace. Record with nettrace collect --counters System.Runtime.');
  const shown = range || extent;
  const rows = series.map((row) => {
    const points = row.points.filter((point) => isWithin(range, point.ts_ns) && Number.isFinite(point.value));
    // If there are very many points, each shown one stands for its neighbours, too.
    const count = points.reduce((all, point) => all + (point.joined ?? 1), 0);
    // The weight of a point is the number of measurements in its interval, which may be 0.
    const weight = (point) => point.measured ?? point.count ?? 1;
    const measured = points.filter((point) => weight(point) > 0);
    const weights = measured.reduce((all, point) => all + weight(point), 0);
    const sum = measured.reduce((all, point) => all + point.value * weight(point), 0);
    const sums = row.kind === 'histogram' ? measured.map((point) => point.sum) : [];
    const ends = (key) => measured.map((point) => point[key] ?? point.value);
    return {
      ...row,
      points,
      count,
      weights,
      sum: sums.length > 0 && sums.every(Number.isFinite) ? sums.reduce((all, one) => all + one, 0) : null,
      min: weights ? minOf(ends('min')) : null,
      max: weights ? maxOf(ends('max')) : null,
      mean: weights ? sum / weights : null,
      last: ends('last').pop() ?? null,
      title: counterName(row),
    };
  });
  const isHistogram = (row) => row.kind === 'histogram';
  const distributions = distributionsOf(rows.filter(isHistogram));
  const others = rows.filter((row) => !isHistogram(row));
  const text = (value, row) => (hasFittingUnit(row) ? formatMeasured(value, row) : formatValue(value));
  const number = (key) => ({
    title: key[0].toUpperCase() + key.slice(1),
    number: true,
    value: (row) => row[key],
    text: (row) => text(row[key], row),
  });
  const unit = { title: 'Unit', value: (row) => `${hasFittingUnit(row) ? '' : row.unit} ${added(row)}`.trim() };
  const provider = { title: 'Provider', value: (row) => row.provider };
  const percentiles = [...new Set(distributions.flatMap((row) => [...row.quantiles.keys()]))].sort((one, other) => one - other);
  return el(
    'div',
    null,
    el('h2', null, 'Counters'),
    thinned(trace, 'report', 'counters'),
    (trace.reports.counters.other_intervals || []).map((other) => {
      const [asked, came] = [other.asked_ms, other.came_ms].map((millis) => `${millis / 1e3} s`);
      const why = 'because another session asked for that';
      return el('p', null, `${other.provider}: values were asked for every ${asked} and come every ${came}, ${why}.`);
    }),
    table({
      caption: `Counters (${formatCount(others.length)})`,
      columns: [
        { title: 'Counter', value: (row) => row.title },
        provider,
        unit,
        { title: 'Values', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
        number('min'),
        number('mean'),
        number('max'),
        number('last'),
      ],
      rows: others,
    }),
    others.some((row) => row.base === 'session_start') &&
      el('p', null, 'added: by an UpDownCounter since the metrics session began; the level at that time is not known.'),
    others.some((row) => row.base === 'unknown') &&
      el(
        'p',
        null,
        'added?: by an UpDownCounter since the metrics session began, or the level of an ObservableUpDownCounter: ' +
          'the trace began later, and does not tell which.',
      ),
    distributions.length > 0 &&
      table({
        caption: `Histograms (${formatCount(distributions.length)})`,
        columns: [
          { title: 'Histogram', value: (row) => row.title },
          provider,
          unit,
          { title: 'Count', number: true, value: (row) => row.measured, text: (row) => formatCount(row.measured) },
          number('mean'),
          ...percentiles.map((percentile) => ({
            title: `P${percentile}`,
            number: true,
            value: (row) => row.quantiles.get(percentile)?.mean ?? null,
            text: (row) => text(row.quantiles.get(percentile)?.mean, row),
          })),
        ],
        rows: distributions,
      }),
    el(
      'div',
      { class: 'cards' },
      [...others, ...distributions.map((row) => row.highest)]
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
              unit: (value) => formatMeasured(value, row),
              label: `${row.title}: from ${formatMeasured(row.min, row)} to ${formatMeasured(row.max, row)}`,
              fill: 'counter',
            }),
          ),
        ),
    ),
  );
}
