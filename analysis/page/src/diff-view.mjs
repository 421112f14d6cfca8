// The page of `nettrace diff`: findings, and a flame graph of both sides.
import { el, entitle, replace, say } from './dom.mjs';
import { countOf, formatBytes, formatCount, formatDecimal, formatNanos, formatPercent } from './format.mjs';
import { flameGraph } from './flame.mjs';
import { TreeBuilder } from './calls.mjs';
import { shortText } from './frames.mjs';
import { facts, table } from './table.mjs';

function diffValue(row, value) {
  if (row.unit === 'ns') return formatNanos(value);
  if (row.unit === 'bytes') return formatBytes(value);
  return formatDecimal(value, Math.abs(value) >= 1000 ? 0 : 2);
}

// Returns the interval of a change: `+25 to +52 %`.
function intervalText(row) {
  if (!row.interval || !row.old) return '';
  const [low, high] = row.interval.map((ratio) => (ratio - 1) * 100);
  const sign = (value) => `${value >= 0 ? '+' : ''}${formatDecimal(value, 0)}`;
  return high > 9999 ? `${sign(low)} % and more` : `${sign(low)} to ${sign(high)} %`;
}

const signed = (change) => (change === null ? 'new' : `${change > 0 ? '+' : ''}${formatDecimal(change, 1)} %`);

// Returns both sides as one tree. Each call is as wide as its heavier side, and has its change as text.
function diffTree(trace) {
  const parents = trace.column('nodes.parent');
  const frames = trace.column('nodes.frame');
  const [old, now] = ['nodes.old', 'nodes.new'].map((name) => trace.column(name));
  const sides = [0, 1].map(() => new TreeBuilder());
  parents.forEach((parent, index) =>
    sides.forEach((side, which) => {
      const node = side.child(parent, frames[index]);
      side.add(node, (which === 0 ? old : now)[index] / (trace.divisors[which] || 1), 0);
    }),
  );
  const [before, after] = sides.map((side) => side.finish({}));
  return { before, after };
}

// Returns the calls of methods that are findings, and their callers. Other calls stay grey, because their differences may be chance.
function findingNodes(trace, tree) {
  const isFinding = new Uint8Array(tree.parent.length);
  // Callers come before their callees, so the loop goes backwards.
  for (let node = tree.parent.length - 1; node > 0; node -= 1) {
    if (trace.frames.is_finding[tree.frame[node]]) isFinding[node] = 1;
    if (isFinding[node]) isFinding[tree.parent[node]] = 1;
  }
  return isFinding;
}

// Returns the tree of one side, with changes against the other side.
function sideOf(trace, own, other, isNew) {
  const isFinding = findingNodes(trace, own);
  return {
    ...own,
    texts: (frame) => trace.frames.text[frame],
    shortOf: (frame) => shortText(trace.frames, frame),
    unit: 'nanoseconds',
    tint: (node) => {
      if (node === 0) return null;
      if (!isFinding[node]) return 0;
      const [was, is] = isNew ? [other.total[node], own.total[node]] : [own.total[node], other.total[node]];
      const most = Math.max(own.total[0], other.total[0]) || 1;
      const share = (is - was) / most;
      const ratio = (is - was) / Math.max(is, was, 1);
      // The colour is strong only if both share and ratio are large, because a small call that doubled matters little.
      return Math.sign(share) * Math.min(1, Math.sqrt(Math.abs(share) * 8) * Math.abs(ratio));
    },
    about: (node) => {
      const name = node === 0 ? 'all' : trace.frames.text[own.frame[node]];
      const [was, is] = isNew ? [other.total[node], own.total[node]] : [own.total[node], other.total[node]];
      const change = was ? signed(((is - was) / was) * 100) : 'new';
      return `${name}: ${formatNanos(was)} before, ${formatNanos(is)} after (${change}) per ${trace.diff.per}`;
    },
  };
}

export function diffPage(trace) {
  const { diff } = trace;
  entitle('nettrace diff');
  const side = (word, row, names) => {
    const counts = [
      row.samples > 0 && countOf(row.samples, 'sample'),
      row.requests > 0 && countOf(row.requests, 'request'),
      row.lost > 0 && countOf(row.lost, 'event lost', 'events lost'),
    ];
    return [word, `${names.join(', ')}: ${[formatNanos(row.duration_ns), ...counts.filter(Boolean)].join(', ')}`];
  };
  replace(document.getElementById('top'), el('h1', null, 'What changed'), el('p', null, `sums are per ${diff.per}: ${diff.per_reason}`));
  document.getElementById('views').remove();
  document.getElementById('time').remove();
  const beyond = diff.rows.filter((row) => row.is_significant);
  const columns = [
    { title: 'What', value: (row) => row.what },
    { title: 'Old', number: true, value: (row) => row.old, text: (row) => diffValue(row, row.old) },
    { title: 'New', number: true, value: (row) => row.new, text: (row) => diffValue(row, row.new) },
    { title: 'Change', number: true, value: (row) => row.change_percent ?? Infinity, text: (row) => signed(row.change_percent) },
    {
      title: 'Weight',
      number: true,
      value: (row) => row.weight_percent,
      text: (row) => formatPercent(row.weight_percent),
      bar: (row) => row.weight_percent / 100,
      about: 'how much of its subject the change is: of all processor time, of all allocated bytes, of the value',
    },
    {
      title: '95 % interval',
      number: true,
      value: (row) => row.interval?.[0] ?? 0,
      text: intervalText,
      about: 'between which the true change is, with a probability of 95 %',
    },
  ];
  const { before, after } = diffTree(trace);
  const hasStacks = before.total[0] + after.total[0] > 0;
  const place = el('div', { class: 'flames' });
  let isNew = true;
  const search = el('input', { type: 'search', id: 'search', placeholder: 'Search methods ( / )', 'aria-label': 'Search methods' });
  const found = el('span', { role: 'status' });
  const line = el('p', { class: 'none', id: 'chosen' });
  const draw = () => {
    const tree = isNew ? sideOf(trace, after, before, true) : sideOf(trace, before, after, false);
    const graph = flameGraph(tree, {
      search: search.value,
      label: `Flame graph of ${isNew ? 'the new' : 'the old'} traces, coloured by what changed`,
      onchoose: (node, about) => say(line, about),
    });
    search.oninput = () => {
      graph.setSearch(search.value);
      say(found, graph.foundText());
    };
    const which = (text, value) =>
      el(
        'button',
        {
          type: 'button',
          'aria-pressed': String(isNew === value),
          onclick: () => {
            isNew = value;
            draw();
          },
        },
        text,
      );
    replace(
      place,
      el(
        'div',
        { class: 'controls' },
        which('As wide as new', true),
        which('As wide as old', false),
        search,
        found,
        el('button', { type: 'button', onclick: () => graph.zoom(0) }, 'Zoom out'),
        el(
          'span',
          { class: 'legend' },
          el('span', null, el('i', { class: 'swatch up', 'aria-hidden': 'true' }), 'more than before'),
          el('span', null, el('i', { class: 'swatch down', 'aria-hidden': 'true' }), 'less'),
          el('span', null, el('i', { class: 'swatch', 'aria-hidden': 'true' }), 'no finding'),
        ),
      ),
      graph.box,
      line,
    );
  };
  if (hasStacks) draw();
  replace(
    document.getElementById('main'),
    facts([side('Old', diff.old, trace.old_names), side('New', diff.new, trace.new_names)], 'lines'),
    el('p', { id: 'verdict' }, el('strong', null, diff.verdict)),
    facts([
      ['Findings', formatCount(diff.significant), 'significant', diff.significant],
      ['Other values', formatCount(diff.rows.length - diff.significant)],
    ]),
    diff.notes.length > 0 && el('div', { class: 'notice', role: 'note' }, diff.notes.join('; ')),
    diff.not_compared.length > 0 && el('div', { class: 'notice', role: 'note' }, 'Not compared: ', diff.not_compared.join('; ')),
    trace.conditions.length > 0 &&
      el(
        'ul',
        { class: 'findings', id: 'conditions' },
        trace.conditions.map((row) =>
          el(
            'li',
            { class: row.holds ? 'holds' : null },
            `${row.condition}: ${
              row.holds
                ? `holds for ${row.because
                    .map((found) => found.what)
                    .slice(0, 5)
                    .join(', ')}`
                : row.undecided
                  ? `cannot be decided: ${row.undecided}`
                  : 'does not hold'
            }`,
          ),
        ),
      ),
    [
      ['What stands out in NEW only', diff.stands_out.appeared],
      ['What stood out in OLD only', diff.stands_out.gone],
    ].map(
      ([title, list]) =>
        list.length > 0 && [
          el('h2', null, title),
          el(
            'ul',
            { class: 'findings' },
            list.map((one) => el('li', { class: one.severity, title: one.severity }, one.text)),
          ),
        ],
    ),
    beyond.length ? table({ caption: 'Findings', columns, rows: beyond }) : el('p', { class: 'none' }, 'No finding.'),
    hasStacks && [el('h2', null, 'Where threads ran'), place],
    el(
      'details',
      null,
      el('summary', null, 'All that was compared'),
      table({ caption: 'All rows', columns, rows: diff.rows, isDim: (row) => !row.is_significant }),
    ),
  );
  window.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.matches?.('input')) {
      search.focus();
      event.preventDefault();
    }
  });
  document.documentElement.dataset.ready = '1';
}
