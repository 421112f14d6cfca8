// The view of compilation and loading.
import { chart } from './chart.mjs';
import { el } from './dom.mjs';
import { formatBytes, formatCount, formatDecimal, formatNanos } from './format.mjs';
import { binned, moment, none, thinned } from './notices.mjs';
import { isWithin } from './ranges.mjs';
import { bins, compiledIn, spanSums, spansOf } from './sums.mjs';
import { facts, table } from './table.mjs';

export function jitView(trace, route, range, extent) {
  const report = trace.reports.jit;
  const spans = spansOf(trace, 'JIT', range);
  const assemblies = (trace.reports.loader?.assemblies || []).filter((row) => row.loaded_ns !== null && isWithin(range, row.loaded_ns));
  if (!report?.totals.methods && !spans.length && !assemblies.length)
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
  const ofRange = range && compiledIn(trace, range);
  const tiers = ofRange?.tiers ?? report?.tiers ?? [];
  const methods = tiers.reduce((sum, row) => sum + row.methods, 0);
  return el(
    'div',
    null,
    el('h2', null, 'Compilation and startup'),
    binned('compilations', range, compiled.counted),
    thinned(trace, 'spans', 'jit'),
    thinned(trace, 'report', 'jit'),
    range && binned('methods', range, ofRange.counted),
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
    tiers.length > 0 &&
      table({
        caption: 'By tier',
        columns: [
          { title: 'Tier', value: (row) => row.tier },
          { title: 'Methods', number: true, value: (row) => row.methods, text: (row) => formatCount(row.methods) },
          { title: 'Total', number: true, value: (row) => row.duration_ns, text: (row) => formatNanos(row.duration_ns) },
        ],
        rows: tiers,
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
