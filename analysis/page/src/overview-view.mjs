// The overview: findings, the reports that the trace has data for, and sums of a range.
import { colour, el } from './dom.mjs';
import { countOf, formatBytes, formatCount, formatMoment, formatNanos, formatPercent } from './format.mjs';
import { frameNumber, frameText } from './frames.mjs';
import { fromUntil } from './notices.mjs';
import { maxOf } from './ranges.mjs';
import { DEFAULTS, formatRoute } from './route.mjs';
import { allocKind, bins, rangeSums } from './sums.mjs';
import { facts } from './table.mjs';

// The view of each kind of finding. The tab `sandwich` shows the finding's method with its callers.
const PLACES = {
  lost_events: { view: 'overview' },
  cut_off: { view: 'overview' },
  faulty_source: { view: 'logs' },
  silent_sources: { view: 'overview' },
  no_activity_ids: { view: 'requests' },
  missing_names: { view: 'cpu', tab: 'modules' },
  collections: { view: 'gc' },
  allocations: { view: 'cpu', kind: 'alloc' },
  exceptions: { view: 'exceptions' },
  compilation: { view: 'jit' },
  hottest_method: { view: 'cpu', tab: 'sandwich' },
  own_method: { view: 'cpu', tab: 'sandwich' },
  finalizer: { view: 'cpu', tab: 'sandwich' },
  lock_spinning: { view: 'cpu', tab: 'sandwich' },
  sampled_lock_waits: { view: 'cpu', states: 'waiting' },
  lock_contention: { view: 'contention' },
  handle_waits: { view: 'waits' },
  deadlock: { view: 'contention' },
  endless_lock_wait: { view: 'contention' },
  stuck_in_lock: { view: 'contention' },
  stuck_workers: { view: 'cpu', states: 'waiting' },
  endless_awaits: { view: 'tasks' },
  starved_pool: { view: 'pool' },
  blocked_pool: { view: 'pool' },
  sync_over_async: { view: 'cpu', states: 'waiting' },
  no_starvation: { view: 'pool' },
  started_threads: { view: 'threads' },
  no_processor: { view: 'threads' },
  out_of_memory: { view: 'gc' },
  waits_for_process: { view: 'cpu', states: 'waiting' },
  waiting: { view: 'cpu', states: '' },
  idle: { view: 'threads' },
  requests: { view: 'requests' },
  failed_requests: { view: 'requests' },
  slow_call: { view: 'requests' },
  call_phase: { view: 'requests' },
  needless_connections: { view: 'requests' },
  repeated_query: { view: 'requests' },
  failed_activities: { view: 'requests' },
  slow_activity: { view: 'requests' },
  log_errors: { view: 'logs' },
  heap_held: { view: 'heap', heap_tab: 'tree' },
  heap_own_types: { view: 'heap', heap_tab: 'types' },
};

// The view of each report that the summary names.
const ANSWERS = {
  topN: { view: 'cpu', tab: 'top' },
  gc: { view: 'gc' },
  alloc: { view: 'cpu', kind: 'alloc', tab: 'types' },
  exceptions: { view: 'exceptions' },
  contention: { view: 'contention' },
  waits: { view: 'waits' },
  threadpool: { view: 'pool' },
  tasks: { view: 'tasks' },
  activities: { view: 'requests' },
  logs: { view: 'logs' },
  counters: { view: 'counters' },
  jit: { view: 'jit' },
  sql: { view: 'requests' },
};

// Returns sums of the chosen range.
function rangeFacts(trace, range) {
  const sums = rangeSums(trace, range);
  // Returns the counted range as a text, if it is not the chosen one because of bins of time.
  const of = ({ counted }) => (counted === range ? '' : ` (${fromUntil(counted)})`);
  const times = (name, one, id) =>
    one.count > 0 && [name, `${formatCount(one.count)}, ${formatNanos(one.nanos)} in total${of(one)}`, id, one.count];
  return [
    el('h3', null, `In the range, ${formatNanos(range.to - range.from)} from ${formatMoment(range.from)}`),
    facts([
      sums.cpu.count + sums.waiting.count > 0 && ['Threads ran', formatNanos(sums.cpu.weight), 'range-cpu', sums.cpu.weight],
      sums.waiting.count > 0 && ['Threads waited', formatNanos(sums.waiting.weight)],
      sums.alloc && ['Allocated, sampled', formatBytes(sums.alloc.weight), 'range-alloc', sums.alloc.weight],
      sums.gc.count > 0 && [
        'Collections',
        `${formatCount(sums.gc.count)}, ${formatNanos(sums.gc.pause)} paused${of(sums.gc)}`,
        'range-gc',
        sums.gc.count,
      ],
      sums.exceptions.count > 0 && [
        'Exceptions',
        `${formatCount(sums.exceptions.count)}${of(sums.exceptions)}`,
        'range-exceptions',
        sums.exceptions.count,
      ],
      times('Waits for locks', sums.contention, 'range-contention'),
      times('Waits', sums.waits),
      times('Compilations', sums.jit),
      times('Activities', sums.activities, 'range-activities'),
      times('HTTP requests', sums.requests, 'range-requests'),
      ['Events', `${formatCount(sums.events.all)}${of(sums.events)}`, 'range-events', sums.events.all],
    ]),
  ];
}

// Returns times and weights of the occurrences that a finding is about.
function overTime(trace, about) {
  const columns = (times, weights, lasts = false) =>
    trace.column(times).length ? [trace.column(times), weights && trace.column(weights), lasts] : null;
  const alloc = allocKind(trace);
  const collections = trace.reports.gc?.collections || [];
  const of = {
    gc: () => collections.length > 0 && [collections.map((row) => row.start_ns), collections.map((row) => row.pause_ns), true],
    jit: () => columns('span.JIT.start', 'span.JIT.nanos', true),
    alloc: () => columns(`${alloc}.t`, `${alloc}.weight`),
    exceptions: () => columns('exceptions.t', 'exceptions.weight'),
    contention: () => columns('span.Contention.start', 'span.Contention.nanos', true),
    waits: () => columns('span.Waits.start', 'span.Waits.nanos', true),
    activities: () => columns('activities.t'),
    slow_activity: () => columns('activities.t'),
    hottest_method: () => columns('cpu.t', 'cpu.weight', true),
  }[about];
  return of?.() || null;
}

// Returns a small picture of a finding's occurrences over time, with a link to the range that has most of them, if one stands out.
function spark(trace, extent, about, place) {
  const data = overTime(trace, about);
  if (!data) return null;
  const [times, weights, lasts] = data;
  const state = about === 'hottest_method' ? trace.column('cpu.state') : [];
  const sums = bins(times, weights, extent, 60, { lasts, wanted: state.length ? (row) => state[row] < 2 : null });
  const most = maxOf(sums);
  if (!(most > 0)) return null;
  const canvas = el('canvas', { class: 'spark', role: 'img', 'aria-label': 'over the time of the trace' });
  [canvas.width, canvas.height] = [240, 32];
  const context = canvas.getContext('2d');
  context.fillStyle = colour('accent');
  sums.forEach((sum, bin) => sum > 0 && context.fillRect(bin * 4, 32 - Math.max(2, (sum / most) * 30), 3, 32));
  const mean = sums.reduce((all, sum) => all + sum, 0) / sums.length;
  const step = (extent.to - extent.from) / sums.length;
  const bin = sums.indexOf(most);
  const [from, to] = [bin - 1, bin + 2].map((edge) => Math.round(extent.from + Math.min(sums.length, Math.max(0, edge)) * step));
  return [
    canvas,
    most > mean * 3 &&
      el('a', {
        class: 'when',
        href: linkTo(trace, { ...place, from, to }),
        'data-when': `most around ${formatMoment(extent.from + (bin + 0.5) * step)}`,
        'aria-label': `most around ${formatMoment(extent.from + (bin + 0.5) * step)}`,
      }),
  ];
}

// Returns the findings, the most important first, each with its view, its next command, its time and its severity.
function verdict(trace, extent) {
  const findings = trace.summary?.findings || [];
  if (!findings.length) return el('p', { class: 'none' }, 'Nothing stands out.');
  return el(
    'ol',
    { class: 'findings' },
    findings.map((finding) => {
      const place = placeOf(trace, finding);
      return el(
        'li',
        { class: finding.severity },
        el(
          'div',
          null,
          el(
            'a',
            { href: linkTo(trace, place), 'data-severity': finding.severity === 'notable' ? null : `${finding.severity}: ` },
            finding.text,
          ),
          el('code', { class: 'next' }, `nettrace ${finding.command} ${fileOf(trace)}`),
        ),
        spark(trace, extent, finding.about, place),
      );
    }),
  );
}

// The title of a trace without a file, as `STDIN_NAME` of the command.
const NO_FILE = 'standard input';

// Returns the trace's file name as a word of a command.
function fileOf({ title }) {
  if (title === NO_FILE) return 'FILE';
  return /^[\w.,@%+=:/\\-]+$/.test(title) ? title : `'${title.replace(/'/g, "'\\''")}'`;
}

// Returns the view of a finding. If the finding's method is no frame of the page, the view searches its list for the name. What is about an
// endpoint leads to its card, or to its stacks.
function placeOf(trace, { kind, method, endpoint }) {
  const place = PLACES[kind];
  const isServed = ['requests', 'cpu'].includes(place.view) && trace.texts.endpoints?.includes(endpoint);
  if (place.tab !== 'sandwich') return isServed ? { ...place, endpoint } : place;
  const frame = frameNumber(trace, method);
  return frame === null ? { ...place, tab: 'top' } : { ...place, focus: frameText(trace, frame) };
}

// Returns the address of a view. Allocations are shown by the kind of samples that the trace has.
const linkTo = (trace, place) => formatRoute({ ...DEFAULTS, ...place, kind: place.kind === 'alloc' ? allocKind(trace) : DEFAULTS.kind });

// Returns a text about times without work at the beginning and the end.
function idleEnds(trace, extent) {
  const times = trace.column('cpu.t');
  const state = trace.column('cpu.state');
  if (!times.length) return null;
  const sums = bins(times, trace.column('cpu.weight'), extent, 100, { lasts: true, wanted: (row) => state[row] < 2 });
  const mean = sums.reduce((all, sum) => all + sum, 0) / sums.length;
  const isActive = (sum) => sum > mean * 0.05;
  const first = sums.findIndex(isActive);
  const last = sums.findLastIndex(isActive);
  const at = (bin) => formatMoment(extent.from + (bin * (extent.to - extent.from)) / 100);
  const words = [first >= 5 && `idle until ${at(first)}`, last >= 0 && last <= 94 && `idle from ${at(last + 1)} on`].filter(Boolean);
  return words.length ? words.join(', ') : null;
}

// Returns what an operation of a benchmark took, as the summary says it; null if the trace has no benchmark.
function operation(benchmark) {
  if (!benchmark) return null;
  const { allocated_bytes: bytes, collections, pause_ns: pause } = benchmark;
  const operations = countOf(benchmark.operations, 'operation');
  return [
    el('h3', null, `An operation of ${benchmark.benchmark ?? 'the benchmark'}`),
    facts([
      ['Takes', formatNanos(benchmark.mean_ns), 'operation-time', benchmark.mean_ns],
      bytes !== null && ['Allocates', bytes < 1 ? 'under 1 B' : formatBytes(bytes), 'operation-bytes', bytes],
      collections !== null && ['Collections', collections.toFixed(3), 'operation-collections', collections],
      collections > 0 && ['Paused by them', formatNanos(pause), 'operation-pause', pause],
      ['Measured', `${operations} in ${countOf(benchmark.iterations, 'iteration')}`, 'operations', benchmark.operations],
    ]),
  ];
}

export function overviewView(trace, route, range, extent) {
  const summary = trace.summary || {};
  const { unnamed } = trace;
  const idle = idleEnds(trace, extent);
  return el(
    'div',
    null,
    range && rangeFacts(trace, range),
    el('h2', null, range ? 'What stands out in the whole trace' : 'What stands out'),
    verdict(trace, extent),
    operation(summary.benchmark),
    facts([
      ['Length', formatNanos(summary.duration_ns), 'duration', summary.duration_ns],
      idle && ['Activity', idle, 'idle'],
      ['Events', formatCount(summary.events), 'events', summary.events],
      ['Threads', formatCount(summary.threads), 'threads', summary.threads],
      ['Events lost', trace.outcome.losses_known ? formatCount(trace.outcome.lost) : 'unknown: version 3 does not number events', 'lost'],
      ['Damage', trace.outcome.damage_count ? countOf(trace.outcome.damage_count, 'place') : 'none', 'damage'],
      unnamed && [
        'Frames with names',
        unnamed.percent > 0 && Number.isInteger(unnamed.percent) ? `${100 - unnamed.percent} %` : formatPercent(100 - unnamed.percent),
        'named',
      ],
      trace.session.start_unix_ms !== null && [
        'Start',
        new Date(trace.session.start_unix_ms).toISOString().replace('T', ' ').replace('Z', ' UTC'),
      ],
      ...trace.facts,
    ]),
    el('h3', null, 'What the trace can answer'),
    el(
      'ul',
      { class: 'answers' },
      (summary.answers || []).map((answer) =>
        el(
          'li',
          null,
          ANSWERS[answer.report] ? el('a', { href: linkTo(trace, ANSWERS[answer.report]) }, answer.about) : answer.about,
          ` (${countOf(answer.events, 'event')}; nettrace report ${answer.report})`,
        ),
      ),
    ),
    trace.session.processes.length > 1 && [
      el('h3', null, 'Processes'),
      el(
        'ul',
        null,
        trace.session.processes.map((process) => el('li', null, command(`${process.id ?? '?'} ${process.name}`))),
      ),
    ],
    trace.thinned.length > 0 && [
      el('h3', null, 'What this page counts without listing each'),
      el(
        'ul',
        { id: 'thinned' },
        trace.thinned.map((row) => el('li', null, row.text)),
      ),
    ],
    el('h3', null, 'Keys'),
    el(
      'p',
      null,
      '/ searches, 1 to 9 show a view. In the time line: drag to choose a range, drag its head (above the lanes) to move it, ' +
        'arrow keys move it too, with Shift they change its length, + and - as well, the wheel, two fingers and Z show it in detail, ' +
        'Escape shows the whole trace. In the flame graph: arrow keys move, Enter zooms, Escape zooms out, S shows callers.',
    ),
  );
}

// Returns a command line, cut to one line until a click shows all of it.
export function command(text) {
  if (text.length < 60) return text;
  return el('details', { class: 'command' }, el('summary', null, text), el('code', null, text));
}
