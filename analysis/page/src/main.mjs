// The page: the time line above, one view below, both as the address says.
import { el, entitle, replace, announce, drawForPaper } from './dom.mjs';
import { fromBase64, readTrace, unpack } from './data.mjs';
import { formatBytes, formatCount, formatMoment, formatNanos, formatPercent } from './format.mjs';
import { extentOf, faultsOf, rangeSums, unnamedOf } from './query.mjs';
import { DEFAULTS, countersOf, formatRoute, parseRoute, rangeOf } from './route.mjs';
import { kindsOf, stacksView } from './stacks-view.mjs';
import { timeline } from './timeline.mjs';
import { facts } from './table.mjs';
import { contentionView, countersView, exceptionsView, gcView, jitView, poolView, waitsView } from './report-views.mjs';
import { eventsView, logsView, requestsView, threadsView } from './list-views.mjs';
import { diffPage } from './diff-view.mjs';

const VIEWS = [
  ['overview', 'Overview', overviewView, () => true],
  ['cpu', 'Stacks', stacksView, (trace) => kindsOf(trace).length > 0],
  ['gc', 'GC', gcView, (trace) => trace.reports.gc?.collections?.length > 0],
  ['exceptions', 'Exceptions', exceptionsView, (trace) => trace.column('thrown.t').length > 0],
  ['contention', 'Contention', contentionView, (trace) => trace.column('span.Contention.start').length > 0],
  ['waits', 'Waits', waitsView, (trace) => trace.column('span.Waits.start').length > 0],
  ['threads', 'Threads', threadsView, (trace) => trace.threads.length > 0],
  ['pool', 'Thread pool', poolView, (trace) => trace.reports.threadpool?.workers?.length > 0],
  ['jit', 'JIT and startup', jitView, (trace) => trace.reports.jit?.methods?.length > 0 || trace.reports.loader?.assemblies?.some((row) => row.loaded_ns !== null) || trace.column('span.JIT.start').length > 0],
  ['requests', 'Requests', requestsView, (trace) => trace.column('activities.t').length + trace.column('requests.t').length > 0],
  ['logs', 'Logs', logsView, (trace) => trace.reports.logs?.count > 0],
  ['counters', 'Counters', countersView, (trace) => trace.reports.counters?.series?.length > 0],
  ['events', 'Events', eventsView, () => true],
];

// Where a finding of the summary is shown.
const PLACES = {
  gc: 'view=gc', jit: 'view=jit', alloc: 'view=cpu&kind=alloc', exceptions: 'view=exceptions', contention: 'view=contention', waits: 'view=waits', starvation: 'view=pool',
  hottest_method: 'view=cpu&tab=top', activities: 'view=requests', slow_activity: 'view=requests', log_errors: 'view=logs', lost_events: 'view=overview', missing_names: 'view=cpu&tab=modules',
};

// Where a report's subject is shown.
const ANSWERS = {
  topN: 'view=cpu&tab=top', tree: 'view=cpu&tab=tree', modules: 'view=cpu&tab=modules', threads: 'view=threads', gc: 'view=gc', alloc: 'view=cpu&kind=alloc&tab=types', exceptions: 'view=exceptions', contention: 'view=contention',
  waits: 'view=waits', threadpool: 'view=pool', tasks: 'view=requests', activities: 'view=requests', http: 'view=requests', logs: 'view=logs', counters: 'view=counters', jit: 'view=jit', loader: 'view=jit',
};

// Sums of the chosen range.
function rangeFacts(trace, range) {
  const sums = rangeSums(trace, range);
  const times = (name, one, id) => one.count > 0 && [name, `${formatCount(one.count)}, ${formatNanos(one.nanos)} in total`, id, one.count];
  return [el('h3', null, `In the range, ${formatNanos(range.to - range.from)} from ${formatMoment(range.from)}`), facts([
    sums.cpu.count + sums.waiting.count > 0 && ['Threads ran', formatNanos(sums.cpu.weight), 'range-cpu', sums.cpu.weight], sums.waiting.count > 0 && ['Threads waited', formatNanos(sums.waiting.weight)],
    sums.alloc && ['Allocated, sampled', formatBytes(sums.alloc.weight), 'range-alloc', sums.alloc.weight], sums.gc.count > 0 && ['Collections', `${formatCount(sums.gc.count)}, ${formatNanos(sums.gc.pause)} paused`, 'range-gc', sums.gc.count],
    sums.exceptions.count > 0 && ['Exceptions', formatCount(sums.exceptions.count), 'range-exceptions', sums.exceptions.count], times('Waits for locks', sums.contention, 'range-contention'), times('Waits', sums.waits), times('Compilations', sums.jit), times('Activities', sums.activities, 'range-activities'), times('HTTP requests', sums.requests, 'range-requests'), ['Events', formatCount(sums.events.all), 'range-events', sums.events.all],
  ])];
}

function overviewView(trace, route, range) {
  const summary = trace.summary || {};
  const findings = summary.findings || [];
  const alloc = trace.has('alloc.t') ? 'alloc' : 'alloc_ticks';
  const unnamed = unnamedOf(trace);
  return el('div', null,
    el('h2', null, 'Overview'),
    range && rangeFacts(trace, range),
    range && el('h3', null, 'The whole trace'),
    facts([
      ['Length', formatNanos(summary.duration_ns), 'duration', summary.duration_ns], ['Events', formatCount(summary.events), 'events', summary.events], ['Threads', formatCount(summary.threads), 'threads', summary.threads],
      ['Events lost', trace.outcome.losses_known ? formatCount(trace.outcome.lost) : 'unknown: version 3 does not number events', 'lost'],
      ['Damage', trace.outcome.damage_count ? `${formatCount(trace.outcome.damage_count)} ${trace.outcome.damage_count === 1 ? 'place' : 'places'}` : 'none', 'damage'],
      unnamed && ['Frames with names', unnamed.percent > 0 && Number.isInteger(unnamed.percent) ? `${100 - unnamed.percent} %` : formatPercent(100 - unnamed.percent), 'named'],
      trace.session.start_unix_ms !== null && ['Start', new Date(trace.session.start_unix_ms).toISOString().replace('T', ' ').replace('Z', ' UTC')],
      ...trace.facts,
    ]),
    el('h3', null, 'What stands out'),
    findings.length
      ? el('ul', { class: 'findings' }, findings.map((finding) => el('li', null, el('a', { href: `#${(PLACES[finding.about] || 'view=overview').replace('kind=alloc', `kind=${alloc}`)}` }, finding.text))))
      : el('p', { class: 'none' }, 'Nothing stands out.'),
    el('h3', null, 'What the trace can answer'),
    el('ul', { class: 'answers' }, (summary.answers || []).map((answer) => el('li', null, ANSWERS[answer.report] ? el('a', { href: `#${ANSWERS[answer.report].replace('kind=alloc&', `kind=${alloc}&`)}` }, answer.about) : answer.about, ` (${formatCount(answer.events)} events; nettrace report ${answer.report})`))),
    trace.session.processes.length > 1 && [el('h3', null, 'Processes'), el('ul', null, trace.session.processes.map((process) => el('li', null, `${process.id ?? '?'} ${process.name}`)))],
    trace.thinned.length > 0 && [el('h3', null, 'What this page leaves out'), el('ul', { id: 'thinned' }, trace.thinned.map((row) => el('li', null, row.text)))],
    el('h3', null, 'Keys'),
    el('p', null, '/ searches, 1 to 9 show a view. In the time line: drag to choose a range, drag its head (above the lanes) to move it, arrow keys move it too, with Shift they change its length, + and - as well, Escape shows the whole trace. In the flame graph: arrow keys move, Enter zooms, Escape zooms out, S shows callers.'));
}

function header(trace) {
  const summary = trace.summary || {};
  const process = summary.process;
  const { outcome } = trace;
  const notices = [...faultsOf(outcome), unnamedOf(trace)?.advice].filter(Boolean);
  return [
    el('h1', null, trace.title),
    el('p', null, [summary.kind, process].filter(Boolean).join(' · ')),
    notices.length > 0 && el('div', { class: outcome.lost > 0 || outcome.damage_count > 0 || !outcome.complete ? 'notice bad' : 'notice', role: 'note', id: 'notices' }, notices.map((text) => el('div', null, text))),
  ];
}

function start(trace) {
  entitle(`${trace.title} – nettrace`);
  replace(document.getElementById('top'), header(trace));
  const extent = extentOf(trace);
  let route = parseRoute(location.hash);
  const main = document.getElementById('main');
  const nav = document.getElementById('views');
  const current = () => VIEWS.find(([key]) => key === route.view) || VIEWS[0];
  const showNav = () => replace(nav, VIEWS.map(([key, name, , has]) => el('a', { href: formatRoute({ ...DEFAULTS, from: route.from, to: route.to, counters: route.counters, view: key }), 'aria-current': current()[0] === key ? 'page' : null, class: has(trace) ? null : 'empty' }, name, !has(trace) && el('span', { class: 'unseen' }, ' (nothing in this trace)'))));
  // `isNew`: a new entry in the browser's history. `isShown`: the view shows the change already.
  const go = (change, isNew, isShown = false) => {
    route = { ...route, ...change };
    if ('view' in change && !('q' in change)) route.q = '';
    const address = formatRoute(route);
    if (address !== location.hash) history[isNew ? 'pushState' : 'replaceState'](null, '', address);
    showNav();
    if (!isShown) show();
  };
  const line = timeline(trace, extent, {
    range: rangeOf(route, extent),
    counters: countersOf(route),
    onrange: (range) => go({ from: range?.from ?? null, to: range?.to ?? null }, true),
    oncounters: (counters) => {
      go({ counters: counters.join(',') }, false, true);
      line.setCounters(counters);
    },
  });
  replace(document.getElementById('time'), line.place);
  const show = () => {
    const focused = document.activeElement?.id;
    const [, , view] = current();
    replace(main, view(trace, route, rangeOf(route, extent), extent, go));
    main.dataset.view = current()[0];
    if (focused && focused !== 'main') document.getElementById(focused)?.focus();
  };
  const fromAddress = () => {
    route = parseRoute(location.hash);
    line.setRange(rangeOf(route, extent));
    line.setCounters(countersOf(route));
    showNav();
    show();
    announce(`${current()[1]}`);
  };
  window.addEventListener('popstate', fromAddress);
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input, select, textarea')) return;
    if (event.key === '/') {
      const search = document.getElementById('search') || document.getElementById('focus');
      if (search) {
        search.focus();
        event.preventDefault();
      }
    } else if (/^[1-9]$/.test(event.key) && VIEWS[Number(event.key) - 1]) go({ view: VIEWS[Number(event.key) - 1][0] }, true);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  showNav();
  show();
  line.draw();
  document.documentElement.dataset.ready = '1';
}

async function begin() {
  drawForPaper();
  try {
    const data = document.getElementById('data');
    const trace = readTrace(await unpack(fromBase64(data.textContent)));
    data.remove();
    if (trace.diff) diffPage(trace);
    else start(trace);
  } catch (error) {
    replace(document.getElementById('main'), el('p', { class: 'notice bad' }, `This page cannot be shown: ${error.message}`));
    throw error;
  }
}

begin();
