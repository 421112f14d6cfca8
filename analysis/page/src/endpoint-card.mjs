// What runs and waits in all requests to one endpoint.
import { el } from './dom.mjs';
import { countOf, formatCount, formatNanos, formatPercent } from './format.mjs';
import { none } from './notices.mjs';
import { partsOf } from './request-parts.mjs';
import { endpointTime } from './sums.mjs';
import { facts, table } from './table.mjs';

// Returns the endpoint of requests that came in, with the row of its report; null for requests that went out, and other activities.
export function endpointOf(trace, name) {
  const rows = () => (trace.reports.http?.activities || []).filter((row) => row.direction === 'in');
  trace.incoming ??= new Map(rows().map((row) => [row.name, row]));
  const row = trace.incoming.get(name);
  return row ? { name, endpoint: name.replace(/^in /, ''), row } : null;
}

// Returns a bar of the parts of the requests' time, with a legend.
function partBar(parts) {
  const shown = partsOf(parts);
  const total = shown.reduce((sum, part) => sum + part.nanos, 0);
  const share = (part) => formatPercent((part.nanos / total) * 100);
  if (total === 0) return null;
  return [
    el(
      'div',
      { class: 'parts', role: 'img', 'aria-label': shown.map((part) => `${part.words} ${share(part)}`).join(', ') },
      shown.map((part) => {
        const box = el('i', { class: `swatch ${part.fill}`, title: `${part.words} ${share(part)}` });
        box.style.width = `${((part.nanos / total) * 100).toFixed(3)}%`;
        return box;
      }),
    ),
    el(
      'p',
      { class: 'legend', id: 'endpoint-parts' },
      shown.map((part) =>
        el(
          'span',
          null,
          el('i', { class: `swatch ${part.fill}`, 'aria-hidden': 'true' }),
          `${part.words} ${share(part)}, ${formatNanos(part.nanos)}`,
        ),
      ),
    ),
  ];
}

// Returns the card of an endpoint. `slowest` is the table of its slowest requests.
export function endpointCard(trace, { endpoint, row, group, range }, slowest, go) {
  const time = endpointTime(trace, endpoint, range);
  const { tree } = time;
  const of = (nanos, whole) => formatPercent((nanos / (whole || 1)) * 100);
  const stacks = (more) => go({ view: 'cpu', kind: 'cpu', tab: 'flame', endpoint, focus: null, ...more }, true);
  const total = partsOf(row.parts).reduce((sum, part) => sum + part.nanos, 0);
  const calls = row.calls ?? [];
  const callsNanos = calls.reduce((sum, call) => sum + call.total_ns, 0);
  const ofWhole = range ? ', of the whole trace' : '';
  const hasSamples = tree.totalSamples[0] + time.waitSamples > 0;
  return el(
    'section',
    { class: 'card', id: 'endpoint', 'aria-label': `Endpoint ${endpoint}` },
    el('h3', null, endpoint),
    facts([
      ['Requests', formatCount(group.count), 'endpoint-count', group.count],
      group.failed > 0 && ['Failed', formatCount(group.failed)],
      group.mean !== null && ['Mean', formatNanos(group.mean)],
      group.mean !== null && ['Longest', formatNanos(group.max)],
      group.unknown > 0 && ['Length unknown', formatCount(group.unknown)],
      hasSamples && ['Threads ran', formatNanos(tree.total[0]), 'endpoint-ran', tree.total[0]],
      hasSamples && ['Threads waited', formatNanos(time.waitWeight), 'endpoint-waited', time.waitWeight],
      calls.length > 0 && [
        `Its calls${ofWhole}`,
        `${formatNanos(callsNanos)}, ${of(callsNanos, total)} of its time`,
        'endpoint-calls',
        callsNanos,
      ],
      row.sql_commands > 0 && [
        `SQL${ofWhole}`,
        `${countOf(row.sql_commands, 'command')}, ${formatNanos(row.sql_ns)}, ${of(row.sql_ns, total)} of its time`,
        'endpoint-sql',
        row.sql_commands,
      ],
    ]),
    el('h4', null, `Parts of its requests' time${ofWhole}`),
    partBar(row.parts),
    el(
      'div',
      { class: 'controls' },
      hasSamples &&
        el('button', { type: 'button', id: 'endpoint-stacks', onclick: () => stacks({ states: 'running' }) }, 'Stacks that ran'),
      hasSamples && el('button', { type: 'button', onclick: () => stacks({ states: 'waiting' }) }, 'Stacks that waited'),
      el('button', { type: 'button', onclick: () => go({ endpoint: null }, true) }, 'Close'),
    ),
    !hasSamples && none('No thread is known to have been sampled while it worked for these requests.'),
    time.methods.length > 0 &&
      table({
        caption: `What ran (${formatNanos(tree.total[0])})`,
        isNear: true,
        first: 10,
        columns: [
          { title: 'Method', value: (method) => tree.texts(method.frame) },
          {
            title: 'Self',
            number: true,
            value: (method) => method.self,
            text: (method) => formatNanos(method.self),
            bar: (method) => method.self / (tree.total[0] || 1),
          },
          { title: 'Self %', number: true, value: (method) => method.self, text: (method) => of(method.self, tree.total[0]) },
          { title: 'Total', number: true, value: (method) => method.total, text: (method) => formatNanos(method.total) },
          { title: 'Total %', number: true, value: (method) => method.total, text: (method) => of(method.total, tree.total[0]) },
          { title: 'Samples', number: true, value: (method) => method.totalSamples, text: (method) => formatCount(method.totalSamples) },
        ],
        rows: time.methods,
        onrow: (method) => stacks({ tab: 'sandwich', states: 'running', focus: tree.texts(method.frame) }),
      }),
    time.waits.length > 0 &&
      table({
        caption: `Where it waited (${formatNanos(time.waitWeight)})`,
        isNear: true,
        first: 10,
        columns: [
          { title: 'Call', value: (wait) => wait.call },
          { title: 'By', value: (wait) => wait.by ?? '' },
          {
            title: 'Waited',
            number: true,
            value: (wait) => wait.weight,
            text: (wait) => formatNanos(wait.weight),
            bar: (wait) => wait.weight / (time.waitWeight || 1),
          },
          { title: '%', number: true, value: (wait) => wait.weight, text: (wait) => of(wait.weight, time.waitWeight) },
          { title: 'Samples', number: true, value: (wait) => wait.samples, text: (wait) => formatCount(wait.samples) },
        ],
        rows: time.waits,
        onrow: () => stacks({ states: 'waiting' }),
      }),
    calls.length > 0 &&
      table({
        caption: `Outgoing requests of these${ofWhole}`,
        isNear: true,
        first: 10,
        columns: [
          { title: 'Request', value: (call) => call.name.replace(/^out /, '') },
          { title: 'Calls', number: true, value: (call) => call.count, text: (call) => formatCount(call.count) },
          { title: 'Total', number: true, value: (call) => call.total_ns, text: (call) => formatNanos(call.total_ns) },
        ],
        rows: calls,
      }),
    slowest,
  );
}
