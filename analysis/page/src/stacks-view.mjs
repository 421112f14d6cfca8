// The view of stacks with weights: CPU samples, allocations, exceptions, waits for locks and handles.
import { button, select } from './controls.mjs';
import { el, pictureLink, replace, say, visible } from './dom.mjs';
import { countOf, formatCount, formatPercent, formatWeight, formatNanos } from './format.mjs';
import { flameGraph, timeGraph } from './flame.mjs';
import { frameOptions } from './frame-options.mjs';
import { lineText, sourceUrl } from './frames.mjs';
import { callTree, groupSums, methodSums, sandwich, stacksOverTime } from './calls.mjs';
import { eachSample, endpointNumber } from './ranges.mjs';
import { facts, scrollBox, table } from './table.mjs';

const TABS = [
  ['flame', 'Flame graph'],
  ['top', 'Methods'],
  ['tree', 'Call tree'],
  ['sandwich', 'Callers and callees'],
  ['modules', 'Modules'],
  ['namespaces', 'Namespaces'],
  ['types', 'Types'],
  ['threads', 'Threads'],
];
// The tabs that can show threads as outermost frames.
const TREES = ['flame', 'tree'];

export function kindsOf(trace) {
  return Object.entries(trace.kinds).filter(([kind]) => trace.column(`${kind}.t`).length > 0);
}

// Returns the view. `go(change, isNew)` shows another state of the page.
export function stacksView(trace, route, range, extent, go) {
  const kinds = kindsOf(trace);
  if (!kinds.length)
    return el(
      'p',
      { class: 'none' },
      'The trace has no samples and no events with stacks. Record with nettrace collect --profile cpu-sampling.',
    );
  const kind = kinds.some(([key]) => key === route.kind) ? route.kind : kinds[0][0];
  const hasStates = kind === 'cpu';
  const hasTypes = trace.kinds[kind].labels.length > 0;
  const tabs = {
    flame: flameTab,
    top: methodsTab,
    tree: treeTab,
    sandwich: sandwichTab,
    modules: groupTab('module'),
    namespaces: groupTab('namespace'),
    types: hasTypes ? typesTab : null,
    threads: threadsTab,
  };
  const tab = tabs[route.tab] ? route.tab : 'flame';
  const endpoint = route.endpoint === null ? null : endpointNumber(trace, route.endpoint);
  const threads = threadsOf(trace, kind, { states: hasStates ? route.states : 'all', endpoint });
  // In the order of time, the graph shows one thread: the heaviest, unless another is chosen.
  const isOfOne = tab === 'flame' && route.order === 'time';
  const thread = route.thread ?? (isOfOne ? (threads[0]?.[0] ?? null) : null);
  const isInverted = route.inverted && TREES.includes(tab);
  const activity =
    route.of === null
      ? null
      : [...(trace.reports.activities?.slowest || []), ...(trace.reports.http?.slowest || [])].find(
          (row) => `${row.id ?? row.name}@${row.start_ns}` === route.of,
        );
  const spans = activity ? (activity.threads || []).map(([number, from, to]) => ({ thread: number, from, to })) : null;
  const wanted = { range, thread, spans, endpoint, states: hasStates ? route.states : 'all', transforms: route };
  const tree = callTree(trace, kind, {
    ...wanted,
    inverted: isInverted,
    byThread: (route.by_thread && TREES.includes(tab)) || tab === 'threads',
  });
  const whole = tree.total[0] - tree.recording.weight;
  const samples = tree.totalSamples[0] - tree.recording.samples;
  const place = el('div', { class: 'stacks', 'data-kind': kind });
  const clock = trace.reports.topN?.clock === 'cpu' ? 'CPU time' : 'wall time';
  const isCounted = Boolean(trace.reports.topN?.processor_time);
  const controls = el(
    'div',
    { class: 'controls' },
    el(
      'div',
      { role: 'tablist', 'aria-label': 'How stacks are shown' },
      TABS.filter(([key]) => tabs[key]).map(([key, text]) =>
        el(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: `tab-${key}`,
            'aria-selected': String(tab === key),
            'aria-controls': 'stackpanel',
            onclick: () => go({ tab: key }, true),
          },
          text,
        ),
      ),
    ),
    kinds.length > 1 &&
      el(
        'label',
        null,
        'What counts ',
        select(
          'kind',
          kinds.map(([key, row]) => [key, row.name]),
          kind,
          (value) => go({ kind: value, zoom: null, focus: null }, true),
        ),
      ),
    hasStates &&
      el(
        'label',
        null,
        'Threads that ',
        select(
          'states',
          [
            ['running', 'run'],
            ['managed', 'run managed code'],
            ['native', 'run native code'],
            ['waiting', 'wait'],
            ...(trace.reports.topN?.processor_time ? [['ready', 'are ready, without a processor']] : []),
            ['all', 'run or wait'],
          ],
          route.states,
          (value) => go({ states: value, zoom: null }, true),
        ),
      ),
    el(
      'label',
      null,
      'Thread ',
      select(
        'thread',
        [
          ...(isOfOne ? [] : [['', 'all']]),
          ...threads.map(([number, weight]) => [
            String(number),
            `${trace.threads[number]?.label ?? number} (${formatWeight(weight, tree.unit)})`,
          ]),
        ],
        thread === null ? '' : String(thread),
        (value) => go({ thread: value === '' ? null : Number(value), zoom: null }, true),
      ),
    ),
    TREES.includes(tab) &&
      button('By thread', route.by_thread, () => go({ by_thread: !route.by_thread, zoom: null }, true), {
        title: 'show threads as outermost frames',
        id: 'bythread',
      }),
    TREES.includes(tab) &&
      button('Callers', route.inverted, () => go({ inverted: !route.inverted, zoom: null }, true), {
        title: 'begin with the innermost call, and show its callers inside',
        id: 'inverted',
      }),
  );
  const head = facts([
    ['Counted', formatWeight(whole, tree.unit), 'counted', whole],
    ['Samples', formatCount(samples), 'samples', samples],
    hasStates &&
      !['all', 'waiting', 'ready'].includes(route.states) && [
        'Waiting (not counted)',
        formatNanos(tree.waitingWeight),
        'waiting',
        tree.waitingWeight,
      ],
    hasStates && ['Times are', isCounted ? 'thread time, divided by readings of the operating system' : `${clock} between samples`],
  ]);
  const isWhole = !range && thread === null && endpoint === null && !activity;
  const certainty = kind === 'cpu' && route.states === 'running' && isWhole && certaintyText(trace.reports.topN);
  const panel = el('div', { id: 'stackpanel', role: 'tabpanel', 'aria-labelledby': `tab-${tab}` });
  const show = tabs[tab];
  if (tree.totalSamples[0] === 0) panel.append(el('p', { class: 'none' }, 'No samples here: choose another range, thread or state.'));
  else show(panel, { trace, tree, whole, route, go, kind, range, extent, thread, endpoint });
  const only =
    activity &&
    el(
      'p',
      { class: 'notice', role: 'note', id: 'only' },
      `Only samples of the threads that worked for ${activity.name} ${activity.id ?? ''}, while they did. `,
      el('button', { type: 'button', onclick: () => go({ of: null, from: null, to: null }, true) }, 'All samples'),
    );
  replace(
    place,
    el('h2', null, trace.kinds[kind].name),
    only,
    route.endpoint !== null && ofEndpoint(route.endpoint, go),
    controls,
    frameOptions(route, go),
    head,
    certainty && el('p', { id: 'certainty' }, certainty),
    panel,
  );
  return place;
}

// Returns the notice that only samples of the requests to an endpoint count.
const ofEndpoint = (name, go) =>
  el(
    'p',
    { class: 'notice', role: 'note', id: 'only-endpoint' },
    `Only samples of the threads that worked for requests to ${name}, while they did. `,
    el('button', { type: 'button', onclick: () => go({ view: 'requests' }, true) }, 'The endpoint'),
    el('button', { type: 'button', onclick: () => go({ endpoint: null }, true) }, 'All samples'),
  );

// Returns a text about how certain it is that the sampled threads ran.
function certaintyText(report) {
  const running = report?.running;
  if (!running) return null;
  const parts = [
    [running.managed, 'ran managed code', 'ran managed code'],
    [running.computing, 'ran native code that computes', 'ran native code that computes'],
    [running.at_gc_poll, 'was caught at a GC poll (for the nearest own method)', 'were caught at a GC poll (for the nearest own method)'],
    [running.taking_lock, 'was taking a lock', 'were taking a lock'],
    [running.native_calls, 'was in native calls, which may not have run', 'were in native calls, which may not have run'],
  ];
  const isCounted = Boolean(report.processor_time);
  const shown = parts.filter(([count]) => !isCounted && count > 0).map(([count, one, more]) => countOf(count, one, more));
  const cut = (report.cut_off_samples ?? 0) + (report.repaired_samples ?? 0);
  if (cut > 0)
    shown.push(`${formatCount(cut)} had lost their callers beyond 100 frames (${formatCount(report.repaired_samples ?? 0)} repaired)`);
  const untold =
    running.untold > 0 && !isCounted
      ? 'This runtime does not tell managed from native code: what is no known wait, native call or idle thread ' +
        'counts as managed code that ran. '
      : '';
  const parted = shown.length < (isCounted ? 1 : 2) ? '' : `Of ${countOf(report.samples, 'sample')} ${shown.join(', ')}.`;
  return (isCounted ? `${processorText(report.processor_time)} ` : untold) + parted || null;
}

// Returns how the processor time of the process is divided, as `report topN` says it.
function processorText({ process_ns, measured_ns, estimated_ns, recording_ns, ready_ns }) {
  const [measured, estimated, ready] = [measured_ns, estimated_ns, ready_ns].map(formatNanos);
  const recording = recording_ns > 0 ? `, of it ${formatNanos(recording_ns)} for the recording, no part of 100 %` : '';
  const ran = process_ns === null ? '' : `; the process ran ${formatNanos(process_ns)}${recording}`;
  return (
    `${measured} are measured and ${estimated} estimated, where threads ran in part between two readings${ran}.` +
    (ready_ns > 0 ? ` Threads were ready for ${ready} without a processor: choose "are ready" to see where.` : '')
  );
}

// Returns threads with their weights, the heaviest first.
function threadsOf(trace, kind, wanted) {
  const threads = trace.column(`${kind}.thread`);
  const weights = new Map([...new Set(threads)].map((thread) => [thread, 0]));
  eachSample(trace, kind, wanted, (row, weight) => weights.set(threads[row], weights.get(threads[row]) + weight));
  return [...weights].sort((a, b) => b[1] - a[1]).slice(0, 300);
}

function flameTab(panel, { trace, tree, route, go, kind, range, extent, thread, endpoint }) {
  const found = el('span', { id: 'found', role: 'status' });
  const search = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search methods ( / )',
    'aria-label': 'Search methods',
    value: route.q,
  });
  const line = el('p', { class: 'none', id: 'chosen' }, 'Click zooms in, a right click or S shows callers and callees.');
  const byTime = route.order === 'time';
  const bar = el(
    'div',
    { class: 'controls' },
    search,
    found,
    button('Heaviest first', !byTime, () => go({ order: 'heavy' }, true)),
    button('By time', byTime, () => go({ order: 'time' }, true), { title: 'the stacks of one thread, one after the other' }),
    !byTime && button('Upright', route.upright, () => go({ upright: !route.upright }, true)),
    !byTime && el('button', { type: 'button', id: 'zoomout', onclick: () => graph.zoom(0) }, 'Zoom out'),
  );
  let graph = null;
  if (byTime) {
    const rectangles = stacksOverTime(trace, kind, thread, { range, endpoint, states: kind === 'cpu' ? route.states : 'all' });
    const shown = range || extent;
    const label = `Stacks of ${trace.threads[thread]?.label} from ${formatNanos(shown.from)} to ${formatNanos(shown.to)}`;
    const time = timeGraph(rectangles, tree, shown, {
      label,
      search: route.q,
      onrange: (chosen) => go({ from: Math.round(chosen.from), to: Math.round(chosen.to) }, true),
    });
    search.addEventListener('input', () => {
      time.setSearch(search.value);
      go({ q: search.value }, false, true);
    });
    panel.append(
      bar,
      el('p', { class: 'none' }, `${label}. Click a call to select its time${range ? '; Whole trace, above, shows all again' : ''}.`),
      time.box,
    );
    return;
  }
  graph = flameGraph(tree, {
    upright: route.upright,
    search: route.q,
    zoom: route.zoom,
    label: `Flame graph of ${trace.kinds[kind].name}`,
    onzoom: (node) => go({ zoom: node || null }, true, true),
    onfocus: (frame) => (tree.sortOf(frame) === 'thread' ? null : go({ tab: 'sandwich', focus: tree.texts(frame) }, true)),
    onchoose: (node, about) => say(line, about),
  });
  search.addEventListener('input', () => {
    graph.setSearch(search.value);
    say(found, graph.foundText());
    go({ q: search.value }, false, true);
  });
  say(found, graph.foundText());
  bar.append(pictureLink(graph.canvas, `Flame graph of ${trace.kinds[kind].name}`));
  panel.append(
    bar,
    el(
      'p',
      { class: 'legend' },
      ['own', 'framework', 'native'].map((name) =>
        el(
          'span',
          null,
          el('i', { class: `swatch frame-${name}`, 'aria-hidden': 'true' }),
          { own: 'your code', framework: '.NET and libraries, by module', native: 'native, or without a name' }[name],
        ),
      ),
    ),
    graph.box,
    line,
  );
}

const weightColumns = (tree, whole) => [
  {
    title: 'Self',
    number: true,
    value: (row) => row.self,
    text: (row) => formatWeight(row.self, tree.unit),
    bar: (row) => row.self / whole,
  },
  { title: 'Self %', number: true, value: (row) => row.self, text: (row) => formatPercent((row.self / whole) * 100) },
  {
    title: 'Total',
    number: true,
    value: (row) => row.total,
    text: (row) => formatWeight(row.total, tree.unit),
    bar: (row) => row.total / whole,
  },
  { title: 'Total %', number: true, value: (row) => row.total, text: (row) => formatPercent((row.total / whole) * 100) },
  { title: 'Samples', number: true, value: (row) => row.totalSamples, text: (row) => formatCount(row.totalSamples) },
];

// Returns the source line of a frame for readers, which leads to the file on the web if the PDB says where it is.
function sourceLine(trace, frame) {
  const [text, url] = [lineText(trace.frames, frame), sourceUrl(trace.frames, frame)];
  const title = trace.frames.line?.[frame]?.file;
  return url === null
    ? el('span', { title }, text)
    : el('a', { class: 'source', href: url, title, target: '_blank', rel: 'noopener noreferrer' }, text);
}

function methodsTab(panel, { trace, tree, whole, route, go }) {
  const source = {
    title: 'Line',
    value: (row) => lineText(trace.frames, row.frame),
    node: (row) => sourceLine(trace, row.frame),
  };
  const rows = methodSums(tree).map((row) => ({ ...row, name: tree.texts(row.frame) }));
  const box = el('div');
  const draw = (wanted) =>
    replace(
      box,
      table({
        isNear: true,
        caption: `Methods (${formatCount(rows.length)})`,
        columns: [{ title: 'Method', value: (row) => row.name }, ...weightColumns(tree, whole), ...(trace.frames.line ? [source] : [])],
        rows: rows.filter((row) => row.name.toLowerCase().includes(wanted.trim().toLowerCase())),
        onrow: (row) => go({ tab: 'sandwich', focus: row.name }, true),
        sort: { column: 1, down: true },
      }),
    );
  const search = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search methods ( / )',
    'aria-label': 'Search methods',
    value: route.q,
    oninput: () => {
      draw(search.value);
      go({ q: search.value }, false, true);
    },
  });
  draw(route.q);
  panel.append(el('div', { class: 'controls' }, search), box);
}

function groupTab(by) {
  return (panel, { trace, tree, whole }) => {
    const names = trace.frames[by];
    const rows = groupSums(tree, (frame) =>
      frame < names.length ? names[frame] || '(none)' : tree.sortOf(frame) === 'group' ? tree.texts(frame) : '(types)',
    );
    panel.append(
      table({
        isNear: true,
        caption: by === 'module' ? 'Modules' : 'Namespaces',
        columns: [{ title: by === 'module' ? 'Module' : 'Namespace', value: (row) => row.name }, ...weightColumns(tree, whole)],
        rows,
        sort: { column: 1, down: true },
      }),
    );
  };
}

// Shows allocations or exceptions by type.
function typesTab(panel, { tree, whole, go }) {
  const rows = methodSums(tree)
    .filter((row) => tree.sortOf(row.frame) === 'type')
    .map((row) => ({ ...row, name: tree.texts(row.frame) }));
  const [, , total, percent, samples] = weightColumns(tree, whole);
  panel.append(
    table({
      isNear: true,
      caption: `Types (${formatCount(rows.length)})`,
      columns: [{ title: 'Type', value: (row) => tree.labelOf(row.frame) }, total, percent, samples],
      rows,
      onrow: (row) => go({ tab: 'sandwich', focus: row.name }, true),
      sort: { column: 1, down: true },
    }),
  );
}

function threadsTab(panel, { tree, whole, kind, go }) {
  const rows = (tree.children[0] || []).map((node) => ({
    thread: tree.threadOf(tree.frame[node]),
    name: tree.texts(tree.frame[node]),
    total: tree.total[node],
    totalSamples: tree.totalSamples[node],
  }));
  const [, , total, percent, samples] = weightColumns(tree, whole);
  panel.append(
    table({
      isNear: true,
      caption: `Threads (${formatCount(rows.length)})`,
      columns: [{ title: 'Thread', value: (row) => row.name }, total, percent, samples],
      rows,
      onrow: (row) => go({ tab: 'flame', thread: row.thread, kind, zoom: null }, true),
    }),
  );
}

// Returns a table of a tree, which is open along the heaviest path.
export function callTreeTable(tree, whole, caption, onname = null, titles = ['Total', 'Total %', 'Self', 'Samples']) {
  const body = el('tbody');
  const rows = [];
  const draw = () =>
    replace(
      body,
      rows.map((row) => row.element),
    );
  const make = (node, depth) => {
    const isParent = Boolean(tree.children[node]?.length);
    const row = { node, depth, isOpen: false };
    const twist = isParent
      ? el(
          'button',
          {
            type: 'button',
            class: 'twist',
            'aria-expanded': 'false',
            'aria-label': `open ${tree.texts(tree.frame[node])}`,
            onclick: () => toggle(row),
          },
          '▸',
        )
      : el('span', { class: 'twist' }, ' ');
    const name = tree.texts(tree.frame[node]);
    const cell = el(
      'th',
      { scope: 'row' },
      el(
        'span',
        { class: 'name' },
        twist,
        onname ? el('button', { type: 'button', class: 'link', onclick: () => onname(name) }, name) : el('span', null, name),
      ),
    );
    cell.style.paddingLeft = `${8 + Math.min(depth, 60) * 14}px`;
    row.twist = twist;
    row.element = el(
      'tr',
      null,
      cell,
      el('td', { class: 'number' }, formatWeight(tree.total[node], tree.unit)),
      el('td', { class: 'number' }, formatPercent((tree.total[node] / whole) * 100)),
      el('td', { class: 'number' }, formatWeight(tree.self[node], tree.unit)),
      el('td', { class: 'number' }, formatCount(tree.totalSamples[node])),
    );
    return row;
  };
  const open = (row) => {
    const at = rows.indexOf(row);
    const children = (tree.children[row.node] || []).slice(0, 500).map((node) => make(node, row.depth + 1));
    rows.splice(at + 1, 0, ...children);
    row.isOpen = true;
    if (row.twist.tagName === 'BUTTON') {
      say(row.twist, '▾');
      row.twist.setAttribute('aria-expanded', 'true');
    }
    return children;
  };
  const toggle = (row) => {
    if (row.isOpen) {
      const at = rows.indexOf(row) + 1;
      let end = at;
      while (end < rows.length && rows[end].depth > row.depth) end += 1;
      rows.splice(at, end - at);
      row.isOpen = false;
      say(row.twist, '▸');
      row.twist.setAttribute('aria-expanded', 'false');
    } else open(row);
    draw();
    row.twist.focus();
  };
  const top = (tree.children[0] || []).slice(0, 500).map((node) => make(node, 0));
  rows.push(...top);
  let next = top[0];
  for (let step = 0; next && step < 40; step += 1) {
    const children = open(next);
    next = children[0] && tree.total[children[0].node] > whole * 0.1 ? children[0] : null;
  }
  draw();
  return scrollBox(
    caption,
    'tree near',
    el(
      'table',
      null,
      el('caption', null, caption),
      el(
        'thead',
        null,
        el(
          'tr',
          null,
          el('th', { scope: 'col' }, tree.thing ? 'Type' : 'Method'),
          titles.map((title) => el('th', { scope: 'col', class: 'number' }, title)),
        ),
      ),
      body,
    ),
  );
}

function treeTab(panel, { tree, whole, go }) {
  panel.append(callTreeTable(tree, whole, 'Call tree', (name) => go({ tab: 'sandwich', focus: name }, true)));
}

function sandwichTab(panel, { trace, tree, whole, route, go }) {
  const rows = methodSums(tree);
  const name = route.focus ?? (rows.length ? tree.texts(rows[0].frame) : null);
  // The field's text has no hidden characters, so names are compared without them, too.
  const row =
    rows.find((one) => tree.texts(one.frame) === name) ?? rows.find((one) => visible(tree.texts(one.frame)) === visible(name ?? ''));
  const list = el(
    'datalist',
    { id: 'methods' },
    rows.slice(0, 500).map((one) => el('option', { value: tree.texts(one.frame) })),
  );
  const pick = el('input', {
    type: 'search',
    list: 'methods',
    size: '50',
    id: 'focus',
    'aria-label': 'Method',
    value: name ?? '',
    onchange: () => go({ focus: pick.value }, true),
  });
  panel.append(el('div', { class: 'controls' }, el('label', null, 'Method ', pick), list));
  if (!row) {
    panel.append(el('p', { class: 'none' }, `${name} is not on any stack that is counted here.`));
    return;
  }
  const { callers, callees } = sandwich(tree, row.frame);
  panel.append(
    facts([
      ['Self', `${formatWeight(row.self, tree.unit)}, ${formatPercent((row.self / whole) * 100)}`],
      ['Total', `${formatWeight(row.total, tree.unit)}, ${formatPercent((row.total / whole) * 100)}`],
      ['Samples', formatCount(row.totalSamples)],
      lineText(trace.frames, row.frame) && ['Line', sourceLine(trace, row.frame)],
    ]),
  );
  const to = (graph) => (frame) => go({ focus: graph.texts(frame) }, true);
  const above = flameGraph(callers, { upright: true, search: '', label: `Callers of ${name}`, onfocus: to(callers) });
  const below = flameGraph(callees, { upright: false, search: '', label: `Called by ${name}`, onfocus: to(callees) });
  panel.append(el('h3', null, 'Callers'), above.box, el('h3', null, 'What it calls'), below.box);
  panel.append(callTreeTable(callers, whole, 'Callers as a table', (other) => go({ focus: other }, true)));
}
