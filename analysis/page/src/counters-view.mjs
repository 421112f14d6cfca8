// The view of counters.
import { chart } from './chart.mjs';
import { el } from './dom.mjs';
import { formatCount, formatMeasured, formatValue, hasFittingUnit } from './format.mjs';
import { counterName } from './lanes.mjs';
import { none, thinned } from './notices.mjs';
import { isWithin, maxOf, minOf } from './ranges.mjs';
import { table } from './table.mjs';

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
    text: (row) => (hasFittingUnit(row) ? formatMeasured(row[key], row) : formatValue(row[key])),
  });
  return el(
    'div',
    null,
    el('h2', null, 'Counters'),
    thinned(trace, 'report', 'counters'),
    table({
      caption: `Counters (${formatCount(rows.length)})`,
      columns: [
        { title: 'Counter', value: (row) => row.title },
        { title: 'Provider', value: (row) => row.provider },
        { title: 'Unit', value: (row) => (hasFittingUnit(row) ? '' : row.unit) },
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
              unit: (value) => formatMeasured(value, row),
              label: `${row.title}: from ${formatMeasured(row.min, row)} to ${formatMeasured(row.max, row)}`,
              fill: 'counter',
            }),
          ),
        ),
    ),
  );
}
