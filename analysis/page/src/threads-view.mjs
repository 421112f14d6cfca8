// The view of threads.
import { colour, el, keepDrawn, paint, pictureLink, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatCount, formatNanos } from './format.mjs';
import { binned } from './notices.mjs';
import { columnsOf, eachSample } from './ranges.mjs';
import { blockedBy, eventCounts, readingSums } from './sums.mjs';
import { table } from './table.mjs';
import { heldUp } from './waits-views.mjs';

// Words for the names of `model::WaitFor`.
const WAITS = {
  lock: 'a lock',
  pulse: 'a pulse of a monitor',
  handle: 'a wait handle',
  event: 'an event',
  semaphore: 'a semaphore',
  task: 'a task',
  thread: 'the end of a thread',
  sleep: 'time to pass',
  work: 'work',
  collection: 'the garbage collector',
  input: 'input',
  other: 'something',
};

export function threadsView(trace, route, range, extent, go) {
  const shown = range || extent;
  const [times, weights, threads, state] = columnsOf(trace, 'cpu', ['t', 'weight', 'thread', 'state']);
  const counts = eventCounts(trace, range);
  const all = trace.threads.map((row, index) => ({
    ...row,
    index,
    events: range ? (counts.threads.get(index) ?? 0) : row.events,
    states: [0, 0, 0, 0],
    samples: 0,
  }));
  const sampled = new Map();
  eachSample(trace, 'cpu', { range }, (row, weight, samples) => {
    const own = all[threads[row]];
    own.states[state[row]] += weight;
    own.samples += samples;
    if (!sampled.has(own.index)) sampled.set(own.index, []);
    sampled.get(own.index).push(row);
  });
  const counted = readingSums(trace, range);
  for (const [thread, sums] of counted) if (all[thread]) all[thread].counted = sums;
  // In a range, only threads with events, samples or readings are listed.
  const rows = all.filter((row) => !range || row.events > 0 || row.samples > 0 || row.counted);
  rows.sort((a, b) => b.states[0] + b.states[1] - (a.states[0] + a.states[1]) || b.samples - a.samples || b.events - a.events);
  const drawn = rows.filter((row) => row.samples > 0).slice(0, 60);
  const canvas = el('canvas', {
    role: 'img',
    'aria-label': 'States of threads over time; a click shows the stacks of one; the table below has their sums',
  });
  const box = el('div', { class: 'chart' }, canvas, pictureLink(canvas, 'Threads'));
  const draw = () =>
    paint(canvas, 18 + drawn.length * 18 + 4, (context, width, tall) => {
      const left = Math.min(220, width * 0.35);
      const scale = (width - left - 4) / (shown.to - shown.from);
      context.font = '11px system-ui, sans-serif';
      context.textBaseline = 'middle';
      const step = axisStep(shown.to - shown.from, (width - left) / 90);
      for (let at = Math.ceil(shown.from / step) * step; at <= shown.to; at += step) {
        const x = left + (at - shown.from) * scale;
        context.fillStyle = colour('grid');
        context.fillRect(x, 0, 1, tall);
        context.fillStyle = colour('faint');
        const text = formatAxis(at, step);
        if (x + widthOf(context, text) < width) write(context, text, x + 3, 9);
      }
      const [ink, ...fills] = ['ink', 'managed', 'native', 'waiting'].map(colour);
      drawn.forEach((thread, index) => {
        const top = 18 + index * 18 + 2;
        context.fillStyle = ink;
        write(context, thread.label, 0, top + 8, left - 6);
        // Samples are joined by pixels, because there may be a million of them.
        const bins = new Float64Array(Math.ceil(width - left) * 3);
        for (const row of sampled.get(thread.index)) {
          const from = (times[row] - shown.from) * scale;
          // With readings, a sample has a row for each of its parts, and short ones must not look longer than they are.
          const to = Math.min(from + Math.max(counted.size > 0 ? 0 : 0.6, weights[row] * scale), width - left);
          for (let bin = Math.max(0, Math.floor(from)); bin < to; bin += 1)
            bins[bin * 3 + Math.min(state[row], 2)] += Math.min(to, bin + 1) - Math.max(from, bin);
        }
        for (let bin = 0; bin * 3 < bins.length; bin += 1) {
          const sums = bins.subarray(bin * 3, bin * 3 + 3);
          // A pixel with any running sample shows it, because readers look for short runs among waits.
          const which = sums[0] + sums[1] > 0 ? (sums[0] >= sums[1] ? 0 : 1) : sums[2] > 0 ? 2 : null;
          if (which === null) continue;
          const bar = (state, high) => {
            context.fillStyle = fills[state];
            context.fillRect(left + bin, top + 15 - high, 1, high);
          };
          // With readings, most samples of waits ran for a moment, so a bar is as high as the part of the time that the thread ran.
          const ran = (sums[0] + sums[1]) / (sums[0] + sums[1] + sums[2]);
          if (which === 2 || (counted.size > 0 && sums[2] > 0)) bar(2, 4);
          if (which !== 2) bar(which, counted.size > 0 ? 14 * ran : 14);
        }
      });
    });
  keepDrawn(canvas, box, draw);
  const rowAt = (event) => drawn[Math.floor((event.clientY - canvas.getBoundingClientRect().top - 18) / 18)];
  canvas.addEventListener(
    'click',
    (event) => rowAt(event) && go({ view: 'cpu', kind: 'cpu', thread: rowAt(event).index, states: 'all', zoom: null }, true),
  );
  canvas.style.cursor = 'pointer';
  const waits = blockedBy(trace, range);
  const ofWaits =
    waits.length > 0 &&
    table({
      caption: 'What waiting threads waited for',
      columns: [
        { title: 'For', value: (row) => WAITS[row.word] ?? row.word },
        {
          title: 'Time, all threads',
          number: true,
          value: (row) => row.weight,
          text: (row) => formatNanos(row.weight),
          bar: (row) => row.weight / (waits[0].weight || 1),
        },
        { title: 'Samples', number: true, value: (row) => row.samples, text: (row) => formatCount(row.samples) },
        { title: 'Threads', number: true, value: (row) => row.threads.size, text: (row) => formatCount(row.threads.size) },
      ],
      rows: waits,
      onrow: () => go({ view: 'cpu', kind: 'cpu', thread: null, states: 'waiting', mine: true, zoom: null }, true),
    });
  const time = (title, which) => ({
    title,
    number: true,
    value: (row) => row.states[which],
    text: (row) => formatNanos(row.states[which]),
  });
  // What the operating system counted. Samples of a thread stand for times before and after its readings, too.
  const countedTime = (title, which) => ({
    title,
    number: true,
    value: (row) => row.counted?.[which] ?? 0,
    text: (row) => (row.counted ? formatNanos(row.counted[which]) : ''),
  });
  return el(
    'div',
    null,
    el('h2', null, 'Threads'),
    binned('events', range, counts.counted),
    drawn.length > 0 && [
      el(
        'p',
        { class: 'legend' },
        ['managed', 'native', 'waiting'].map((name) => el('span', null, el('i', { class: `swatch ${name}`, 'aria-hidden': 'true' }), name)),
        el('span', null, 'A click on a thread shows its stacks.'),
      ),
      box,
    ],
    table({
      caption: `Threads (${formatCount(rows.length)})`,
      columns: [
        { title: 'Thread', value: (row) => row.label },
        { title: 'Events', number: true, value: (row) => row.events, text: (row) => formatCount(row.events) },
        { title: 'Samples', number: true, value: (row) => row.samples, text: (row) => formatCount(row.samples) },
        time('Managed', 0),
        time('Native', 1),
        time('Waiting', 2),
        ...(counted.size > 0 ? [countedTime('Ran', 0), countedTime('Ready, without a processor', 1)] : []),
        ...([...counted.values()].some((sums) => sums[2] > 0) ? [countedTime('Of it throttled by the limit', 2)] : []),
      ],
      rows,
      onrow: (row) => go({ view: 'cpu', kind: 'cpu', thread: row.index, zoom: null }, true),
    }),
    ofWaits,
    heldUp(trace, range, go),
  );
}
