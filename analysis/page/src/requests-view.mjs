// The view of activities and requests.
import { colour, el } from './dom.mjs';
import { endpointCard, endpointOf } from './endpoint-card.mjs';
import { eventColumns } from './events-views.mjs';
import { formatCount, formatMoment, formatNanos } from './format.mjs';
import { binned, none } from './notices.mjs';
import { occurrences } from './query.mjs';
import { maxOf, rowsWithin } from './ranges.mjs';
import { keyOf, partLegend, phaseColumns, phaseTable, phasesText, waterfall } from './request-parts.mjs';
import { facts, table } from './table.mjs';

export function requestsView(trace, route, range, extent, go) {
  if (!trace.column('activities.t').length && !trace.column('requests.t').length)
    return none(
      'No activities in this trace. Record with nettrace collect --providers Microsoft-Diagnostics-DiagnosticSource, ' +
        'or with a source of your own that has Start and Stop events.',
    );
  const activities = occurrences(trace, 'activities', range);
  const requests = occurrences(trace, 'requests', range);
  const hasRequests = trace.column('requests.t').length > 0;
  const report = trace.reports.activities;
  // An activity that is a request has the row of the request, with its phases.
  const details = new Map(
    [...(report?.slowest || []), ...(trace.reports.http?.slowest || [])].map((row) => [`${row.start_ns} ${row.duration_ns}`, row]),
  );
  const chosen = [...details.values()].find((row) => keyOf(row) === route.activity) || null;
  // If the page has no parts of the activity, it shows the time.
  const choose = (row) =>
    go(row.parts ? { activity: keyOf(row) } : { from: Math.round(row.start_ns), to: Math.round(row.start_ns + row.duration_ns + 1) }, true);
  // Returns the activities that began in the range, the slowest first.
  const slowestOf = (all) =>
    all.rows
      .filter((row) => !row.isOpen && !row.isUnknown)
      .sort((a, b) => b.nanos - a.nanos || a.start - b.start)
      .slice(0, 1000)
      .map((row) => {
        const known = details.get(`${row.start} ${row.nanos}`);
        return {
          threads: known?.threads,
          id: known?.id,
          key: known?.key,
          fields: known?.fields,
          parts: known?.parts,
          phases: known?.phases,
          thread_id: known?.thread_id,
          stop_thread_id: known?.stop_thread_id,
          name: row.name,
          start_ns: row.start,
          duration_ns: row.nanos,
          is_error: row.failed,
        };
      });
  const slowest = slowestOf(activities);
  const slowRequests = slowestOf(requests);
  const served = requests.groups.map((row) => endpointOf(trace, row.name)).find((row) => row && row.endpoint === route.endpoint);
  const part = (title, sum, about = null) => ({
    title,
    about,
    number: true,
    value: (row) => (row.parts ? sum(row.parts) : null),
    text: (row) => (row.parts ? formatNanos(sum(row.parts)) : 'not kept'),
  });
  const slowTable = (caption, rows, all, title, shown) =>
    rows.length > 0 &&
    table({
      caption: `${caption} (${listedOf(rows, all)})`,
      columns: [
        { title, value: shown },
        rows.some((row) => row.fields) && { title: 'What', wide: true, value: (row) => row.fields ?? '' },
        {
          title: 'Took',
          number: true,
          value: (row) => row.duration_ns,
          text: (row) => formatNanos(row.duration_ns),
          bar: (row) => row.duration_ns / (rows[0].duration_ns || 1),
        },
        ...(rows.some((row) => row.parts)
          ? [
              part('Ran', (parts) => parts.running_ns + parts.native_ns),
              part('Waited', (parts) => parts.waiting_ns + parts.lock_ns, 'its thread was blocked, for locks included'),
              part('Awaited', (parts) => parts.await_ns),
              part('In pauses', (parts) => parts.gc_ns),
            ]
          : []),
        ...(title === 'Request' ? phaseColumns(rows, (row) => row.phases) : []),
        { title: 'Start', number: true, value: (row) => row.start_ns, text: (row) => formatMoment(row.start_ns) },
        { title: 'Failed', value: (row) => (row.is_error ? 'yes' : '') },
      ].filter(Boolean),
      rows,
      onrow: choose,
      first: 15,
    });
  // Calls `show` with the requests of one name, and the slowest of them.
  const ofOne = (name, show) => {
    const rows = requests.rows.filter((row) => row.name === name);
    const { count, open, unknown } = requests.groups.find((row) => row.name === name);
    return show({ count, open, unknown }, slowestOf({ rows }));
  };
  const drawn = (hasRequests ? slowRequests : slowest).filter((row) => row.parts).slice(0, 20);
  return el(
    'div',
    null,
    el('h2', null, hasRequests ? 'Requests and other activities' : 'Activities'),
    binned('requests', range, requests.counted),
    binned('activities', range, activities.counted),
    facts([
      hasRequests && ['HTTP requests', formatCount(requests.count), 'requests-count', requests.count],
      hasRequests && ['Failed requests', formatCount(requests.failed), 'requests-failed', requests.failed],
      hasRequests &&
        requests.count > 0 && [
          slowestOfKnown(requests, 'Slowest request'),
          formatNanos(requests.max),
          'requests-slowest',
          requests.max,
        ],
      ['Activities', formatCount(activities.count), 'activities-count', activities.count],
      ['Failed', formatCount(activities.failed), 'activities-failed', activities.failed],
      activities.count > 0 && [slowestOfKnown(activities, 'Slowest'), formatNanos(activities.max), 'activities-slowest', activities.max],
      ...unknownFacts(hasRequests ? requests : activities),
      trace.reports.activities?.lacks_turns && [
        'Awaited',
        'may be work of methods that .NET 11 itself suspends, which write no events when they go on; collect --async records it',
        'lacks-turns',
      ],
      activities.open > 0 && ['Not stopped', `${formatCount(activities.open)} still open`, 'activities-open', activities.open],
    ]),
    chosen && activityCard(trace, chosen, [...details.values()], go),
    served &&
      endpointCard(
        trace,
        { ...served, range, group: requests.groups.find((row) => row.name === served.name) },
        ofOne(served.name, (all, rows) => slowTable('Its slowest requests', rows, all, 'Request', (row) => row.name)),
        go,
      ),
    hasRequests &&
      occurrenceTable('Endpoints', 'Endpoint', requests.groups, {
        leads: (row) => Boolean(endpointOf(trace, row.name)),
        onrow: (row) => go({ endpoint: endpointOf(trace, row.name).endpoint, activity: null }, true),
      }),
    phaseTable(trace, range),
    slowTable('Slowest requests', slowRequests, requests, 'Request', (row) => row.name),
    drawn.length > 0 && [
      el('h3', null, `What the slowest ${hasRequests ? 'requests' : 'activities'} did, each from its start`),
      partLegend(
        (key) => drawn.some((row) => row.parts[key] > 0),
        (_, words) => words,
      ),
      none('Each part is added up; they are not in their order in time.'),
      waterfall(drawn, choose, null, true),
    ],
    statements(trace, range),
    occurrenceTable('By name', 'Activity', activities.groups),
    slowTable('Slowest', slowest, activities, 'Activity', (row) => row.name),
  );
}

// Returns how many of all activities a table lists.
function listedOf(rows, all) {
  const whole = all.count > rows.length + all.open ? ` of ${formatCount(all.count)}` : '';
  const unknown = all.unknown > 0 ? `, ${formatCount(all.unknown)} of unknown length` : '';
  return `${formatCount(rows.length)}${whole}${unknown}`;
}

// Returns SQL statements of the whole trace, because the page does not know when each ran.
function statements(trace, range) {
  const report = trace.reports.sql;
  if (!report?.statements?.length) return null;
  const spread = (title, key) => ({
    title,
    number: true,
    value: (row) => row.durations[key],
    text: (row) => formatNanos(row.durations[key]),
  });
  return table({
    caption: `Statements of databases${range ? ', of the whole trace' : ''} (${formatCount(report.different)})`,
    isNear: true,
    first: 10,
    columns: [
      { title: 'Statement', value: (row) => row.text },
      { title: 'Commands', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
      { title: 'Failed', number: true, value: (row) => row.errors, text: (row) => formatCount(row.errors) },
      spread('Mean', 'mean_ns'),
      spread('99 %', 'p99_ns'),
      spread('Total', 'total_ns'),
      {
        title: 'Most in one request',
        number: true,
        value: (row) => maxOf([0, ...(row.places || []).map((place) => place.most_in_one)]),
        text: (row) => formatCount(maxOf([0, ...(row.places || []).map((place) => place.most_in_one)])),
      },
    ],
    rows: report.statements,
  });
}

// Returns what is said about activities of unknown length.
const unknownFacts = (all) =>
  all.unknown > 0
    ? [
        [
          'Length unknown',
          `${formatCount(all.unknown)}: several with one id ran at once, and no stop tells which of them it ends`,
          'length-unknown',
          all.unknown,
        ],
      ]
    : [];

// Returns the name of the greatest length, which leaves out unknown ones.
const slowestOfKnown = (all, name) => (all.unknown > 0 ? `${name} of known length` : name);

// Returns a table of activities or requests by name, with the distribution of their lengths. `more` are further options of the table.
function occurrenceTable(caption, title, groups, more = {}) {
  const longest = maxOf([1, ...groups.map((row) => row.max)]);
  const time = (name, key) => ({
    title: name,
    number: true,
    value: (row) => (row.stopped ? row[key] : null),
    text: (row) => (row.stopped ? formatNanos(row[key]) : '–'),
  });
  return table({
    caption,
    isNear: true,
    columns: [
      { title, value: (row) => row.name },
      { title: 'Count', number: true, value: (row) => row.count, text: (row) => formatCount(row.count) },
      { title: 'Failed', number: true, value: (row) => row.failed, text: (row) => formatCount(row.failed) },
      {
        title: 'Mean',
        number: true,
        value: (row) => row.mean ?? null,
        text: (row) => (row.mean === null ? '–' : formatNanos(row.mean)),
      },
      time('50 %', 'p50'),
      time('99 %', 'p99'),
      time('Longest', 'max'),
      { title: 'Total', number: true, value: (row) => row.total, text: (row) => formatNanos(row.total) },
      {
        title: 'Spread',
        value: (row) => row.p50,
        node: (row) => histogram(row, longest),
        about: 'how many took how long; each step is twice as long as the one before',
      },
      groups.some((row) => row.unknown > 0) && {
        title: 'Length unknown',
        about: 'several with one id ran at once, and no stop tells which of them it ends; 50 %, 99 % and the longest leave them out',
        number: true,
        value: (row) => row.unknown,
        text: (row) => (row.unknown > 0 ? `${formatCount(row.unknown)}, not in 50 %, 99 %, longest` : '0'),
      },
      groups.some((row) => row.open > 0) && {
        title: 'Still open',
        number: true,
        value: (row) => row.open,
        text: (row) => formatCount(row.open),
      },
    ].filter((column) => column),
    rows: groups,
    first: 20,
    ...more,
  });
}

// Returns a small histogram of lengths. Each bar covers lengths twice as long as the bar before, from a microsecond on.
function histogram(row, longest) {
  const steps = Math.max(2, Math.ceil(Math.log2(Math.max(2, longest / 1e3))) + 1);
  const sums = new Float64Array(steps);
  for (const [nanos, count] of row.rows) sums[Math.min(steps - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, nanos / 1e3)))))] += count;
  const most = maxOf([1, ...sums]);
  const canvas = el('canvas', {
    class: 'histogram',
    role: 'img',
    'aria-label': row.stopped ? `half took at most ${formatNanos(row.p50)}, 99 % ${formatNanos(row.p99)}` : 'none stopped',
  });
  canvas.width = steps * 5;
  canvas.height = 18;
  canvas.style.width = `${steps * 5}px`;
  const context = canvas.getContext('2d');
  context.fillStyle = colour('request');
  sums.forEach((sum, step) => sum > 0 && context.fillRect(step * 5, 18 - Math.max(1, (sum / most) * 17), 4, 18));
  return canvas;
}

// Returns the card of an activity: the parts of its time, the activities inside and around it, and its threads' events during it.
function activityCard(trace, row, all, go) {
  const end = row.start_ns + row.duration_ns;
  const range = { from: Math.round(row.start_ns), to: Math.round(end + 1) };
  const isAround = (one, other) => (one.id === other.id && one.key === other.key) || other.around.includes(one.id);
  const family = all.filter(
    (one) =>
      keyOf(one) === keyOf(row) ||
      (row.id && (isAround(row, one) || isAround(one, row)) && one.start_ns < end && one.start_ns + one.duration_ns > row.start_ns),
  );
  const near = family.sort((a, b) => a.start_ns - b.start_ns || b.duration_ns - a.duration_ns).slice(0, 60);
  const threads = new Set([row.thread_id, row.stop_thread_id]);
  const times = trace.column('events.t');
  const threadOf = trace.column('events.thread');
  const [begin, stop] = rowsWithin(times, range);
  const events = [];
  for (let place = begin; place < stop && events.length < 2000; place += 1)
    if (threads.has(trace.threads[threadOf[place]]?.id)) events.push(place);
  return el(
    'section',
    { class: 'card', id: 'activity', 'aria-label': `Activity ${row.name}` },
    el('h3', null, `${row.name}${row.is_error ? ' (failed)' : ''}`),
    el('p', null, row.fields),
    row.phases && el('p', { id: 'phases' }, `Its phases: ${phasesText(row.phases)}.`),
    partLegend(
      (key) => row.parts[key] > 0,
      (key, words) => `${words} ${formatNanos(row.parts[key])}`,
    ),
    waterfall(near, (one) => go({ activity: keyOf(one) }, true), row),
    el(
      'div',
      { class: 'controls' },
      el('button', { type: 'button', onclick: () => go({ from: range.from, to: range.to }, true) }, 'Select its time'),
      row.threads?.length > 0 &&
        el(
          'button',
          {
            type: 'button',
            id: 'own-stacks',
            onclick: () => go({ view: 'cpu', kind: 'cpu', tab: 'flame', states: 'all', of: keyOf(row), ...range }, true),
          },
          'Its own stacks',
        ),
      el(
        'button',
        { type: 'button', onclick: () => go({ view: 'cpu', kind: 'cpu', tab: 'flame', of: null, ...range }, true) },
        'All stacks meanwhile',
      ),
      el('button', { type: 'button', onclick: () => go({ view: 'events', ...range }, true) }, 'Events in its time'),
      el('button', { type: 'button', onclick: () => go({ activity: null }, true) }, 'Close'),
    ),
    table({
      caption: `Events of its threads meanwhile (${formatCount(events.length)}${events.length === 2000 ? ' and more' : ''})`,
      columns: eventColumns(trace),
      rows: events,
      first: 12,
    }),
    trace.events.all > times.length &&
      none(
        'The page lists only some of the frequent events. All of this activity: ' +
          `nettrace report activities ${trace.title} --id ${row.key ?? row.id ?? ''}`,
      ),
  );
}
