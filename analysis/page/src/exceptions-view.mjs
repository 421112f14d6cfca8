// The view of exceptions.
import { el, printable } from './dom.mjs';
import { countOf, formatCount, formatMoment } from './format.mjs';
import { binned, none, thinned } from './notices.mjs';
import { exceptionGroups } from './query.mjs';
import { facts, table } from './table.mjs';

export function exceptionsView(trace, route, range) {
  if (!trace.column('thrown.t').length) return none('No exceptions in this trace. Record with nettrace collect --clrevents exception.');
  const { groups, count, counted } = exceptionGroups(trace, range);
  const handled = new Map((trace.reports.exceptions?.types || []).map((row) => [row.type, row]));
  return el(
    'div',
    null,
    el('h2', null, 'Exceptions'),
    binned('exceptions', range, counted),
    thinned(trace, 'samples', 'exceptions'),
    thinned(trace, 'report', 'exceptions'),
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
            { title: 'Message', about: '# stands for numbers and ids, which differ', value: (row) => row.message || '(none)' },
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
        group.stacks.length > 20 && none(`${countOf(group.stacks.length - 20, 'further stack')} of fewer exceptions`),
      ),
    ),
  );
}
