// The page: the time line, and below it the view that the address names.
import { announce, drawForPaper, el, entitle, replace } from './dom.mjs';
import { fromBase64, readTrace, unpack } from './data.mjs';
import { extentOf, faultsOf } from './query.mjs';
import { DEFAULTS, countersOf, formatRoute, parseRoute, rangeOf } from './route.mjs';
import { kindsOf, stacksView } from './stacks-view.mjs';
import { timeline } from './timeline.mjs';
import { countersView } from './counters-view.mjs';
import { eventsView, logsView } from './events-views.mjs';
import { exceptionsView } from './exceptions-view.mjs';
import { gcView } from './gc-view.mjs';
import { jitView } from './jit-view.mjs';
import { unnamed } from './notices.mjs';
import { command, overviewView } from './overview-view.mjs';
import { requestsView } from './requests-view.mjs';
import { poolView, tasksView } from './tasks-views.mjs';
import { threadsView } from './threads-view.mjs';
import { contentionView, waitsView } from './waits-views.mjs';
import { heapView } from './heap-view.mjs';
import { diffPage } from './diff-view.mjs';

const VIEWS = [
  ['overview', 'Overview', overviewView, () => true],
  ['cpu', 'Stacks', stacksView, (trace) => kindsOf(trace).length > 0],
  ['gc', 'GC', gcView, (trace) => trace.reports.gc?.collections?.length > 0],
  ['heap', 'Heap', heapView, (trace) => Boolean(trace.reports.heap)],
  ['exceptions', 'Exceptions', exceptionsView, (trace) => trace.column('thrown.t').length > 0],
  ['contention', 'Contention', contentionView, (trace) => trace.column('span.Contention.start').length > 0],
  ['waits', 'Waits', waitsView, (trace) => trace.column('span.Waits.start').length > 0],
  ['threads', 'Threads', threadsView, (trace) => trace.threads.length > 0],
  ['pool', 'Thread pool', poolView, (trace) => trace.reports.threadpool?.workers?.length > 0],
  ['tasks', 'Tasks', tasksView, (trace) => trace.reports.tasks?.scheduled + trace.reports.tasks?.waits_begun > 0],
  [
    'jit',
    'JIT and startup',
    jitView,
    (trace) =>
      trace.reports.jit?.totals.methods > 0 ||
      trace.reports.loader?.assemblies?.some((row) => row.loaded_ns !== null) ||
      trace.column('span.JIT.start').length > 0,
  ],
  ['requests', 'Requests', requestsView, (trace) => trace.column('activities.t').length + trace.column('requests.t').length > 0],
  ['logs', 'Logs', logsView, (trace) => trace.reports.logs?.count > 0],
  ['counters', 'Counters', countersView, (trace) => trace.reports.counters?.series?.length > 0],
  ['events', 'Events', eventsView, () => true],
];

// Views that show names of frames.
const NAMING = ['cpu', 'gc', 'exceptions', 'contention', 'waits', 'threads', 'tasks', 'events'];

// Returns the name of a command line's program: `b` for `dotnet exec a/b.dll -x`.
function programOf(line) {
  const words = line.trim().split(/\s+/);
  const base = (word) =>
    word
      .replace(/^["']|["']$/g, '')
      .replace(/^.*[/\\]/, '')
      .replace(/\.(dll|exe)$/i, '');
  const first = base(words[0] ?? '');
  if (first.toLowerCase() !== 'dotnet') return first;
  const program = words.slice(1).find((word) => /\.(dll|exe)["']?$/i.test(word));
  return program ? base(program) : first;
}

function header(trace) {
  const summary = trace.summary || {};
  const process = summary.process;
  const program = process ? programOf(process) : null;
  const isMore = process && process !== program;
  return [
    el('h1', null, program || trace.title),
    el('p', null, [program && trace.title, summary.kind].filter(Boolean).join(' · ')),
    isMore && el('div', { class: 'process', id: 'process' }, command(process)),
  ];
}

// Returns the notice about losses and damage.
function faultNotice({ outcome }) {
  const faults = faultsOf(outcome);
  return (
    faults.length > 0 &&
    el(
      'div',
      { class: 'notice bad', role: 'note', id: 'notices' },
      faults.map((text) => el('div', null, text)),
    )
  );
}

function start(trace) {
  entitle(`${trace.title} – nettrace`);
  replace(document.getElementById('top'), header(trace));
  replace(document.getElementById('faults'), faultNotice(trace));
  const extent = extentOf(trace);
  let route = parseRoute(location.hash);
  const main = document.getElementById('main');
  const nav = document.getElementById('views');
  const current = () => VIEWS.find(([key]) => key === route.view) || VIEWS[0];
  const showNav = () => {
    replace(
      nav,
      VIEWS.map(([key, name, , has]) =>
        el(
          'a',
          {
            href: formatRoute({
              ...DEFAULTS,
              from: route.from,
              to: route.to,
              counters: route.counters,
              detail: route.detail,
              lanes: route.lanes,
              view: key,
            }),
            'aria-current': current()[0] === key ? 'page' : null,
            class: has(trace) ? null : 'empty',
          },
          name,
          !has(trace) && el('span', { class: 'unseen' }, ' (nothing in this trace)'),
        ),
      ),
    );
    // On short screens the views are one line, which scrolls.
    const link = nav.querySelector('[aria-current]');
    nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  };
  // Changes the address. With `isNew`, the browser's history gets an entry. With `isShown`, the view shows the change already.
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
    detail: route.detail,
    threads: route.lanes === 'threads',
    onchange: (change) => go(change, false, true),
    onlane: (place) =>
      go(
        { ...DEFAULTS, ...place, from: route.from, to: route.to, counters: route.counters, detail: route.detail, lanes: route.lanes },
        true,
      ),
    oncounters: (counters) => {
      go({ counters: counters.join(',') }, false, true);
      line.setCounters(counters);
    },
  });
  replace(document.getElementById('time'), line.place);
  const show = () => {
    const focused = document.activeElement?.id;
    const [key, , view] = current();
    replace(main, NAMING.includes(key) && unnamed(trace), view(trace, route, rangeOf(route, extent), extent, go));
    main.dataset.view = key;
    if (focused && focused !== 'main') document.getElementById(focused)?.focus();
  };
  const fromAddress = () => {
    route = parseRoute(location.hash);
    line.setRange(rangeOf(route, extent));
    line.setCounters(countersOf(route));
    line.setShown({ detail: route.detail, threads: route.lanes === 'threads' });
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
  // An element that gets the focus is scrolled to below the time line, which stays in place.
  const time = document.getElementById('time');
  new ResizeObserver(
    () =>
      (document.documentElement.style.scrollPaddingTop = getComputedStyle(time).position === 'sticky' ? `${time.offsetHeight + 4}px` : ''),
  ).observe(time);
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
