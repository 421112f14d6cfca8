// The time line over the whole trace: lanes, and the range that filters every view.
import { el, isDark, keepDrawn, pictureLink, paint, colour, replace, announce, fit, say, tipOver, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatMoment, formatNanos } from './format.mjs';
import { counterLane, counterName, lanesOf, pointsOf, threadLanes } from './lanes.mjs';
import { lengthOf } from './query.mjs';
import { lowerBound, maxOf } from './ranges.mjs';

const AXIS = 18;
// Height of the overview of the whole trace, which is above the lanes while these show a part of it.
const STRIP = 22;
// Returns the width for each lane's name and highest value, which is less on narrow screens.
const labelsOf = (width) => (width < 600 ? 104 : Math.round(Math.min(190, Math.max(160, width * 0.16))));

// Returns the time line. `onrange(range)` is called when a range is chosen, with null for the whole trace. With `detail`, lanes show only
// the range. With `threads`, threads have lanes. `onlane(place)` is called to show the view of a lane.
export function timeline(trace, extent, { range, onrange, counters, oncounters, detail, threads, onchange, onlane }) {
  const lanes = lanesOf(trace);
  const canvas = el('canvas', {
    class: 'lanes',
    tabindex: '0',
    role: 'application',
    'aria-label':
      'Time line. Drag to choose a range; drag its head, above the lanes, to move it. Arrow keys move the range, ' +
      'with Shift they change its length, Z shows it in detail, Escape shows the whole trace.',
  });
  const box = el('div', { class: 'lanebox' }, canvas);
  const rangeText = el('span', { class: 'rangetext', id: 'range' });
  const from = el('input', { type: 'text', inputmode: 'decimal', size: '9', id: 'from', 'aria-label': 'From, in milliseconds' });
  const to = el('input', { type: 'text', inputmode: 'decimal', size: '9', id: 'to', 'aria-label': 'To, in milliseconds' });
  const clear = el('button', { type: 'button', onclick: () => choose(null), id: 'whole' }, 'Whole trace');
  const series = (trace.reports.counters?.series || []).map((row, index) => [row, index]).filter(([row]) => pointsOf(row).length > 0);
  const pick =
    series.length > 0 &&
    el(
      'select',
      {
        id: 'counter',
        'aria-label': 'Counter in the time line',
        onchange: () => oncounters([...counters.filter((number) => number !== Number(pick.value)), Number(pick.value)]),
      },
      el('option', { value: '' }, 'add a counter …'),
      series.map(([row, index]) => el('option', { value: String(index) }, `${row.provider} ${counterName(row)}`)),
    );
  const without = series.length > 0 && el('button', { type: 'button', id: 'nocounters', onclick: () => oncounters([]) }, 'Remove counters');
  const choosers = () => {
    if (!pick) return;
    pick.value = '';
    without.hidden = counters.length === 0;
  };
  choosers();
  const read = () => {
    const values = [from.value, to.value].map((text) => (text.trim() === '' ? null : Number(text.replace(/,/g, '')) * 1e6));
    if (values.some((value) => value !== null && !Number.isFinite(value))) return;
    const next = { from: values[0] ?? extent.from, to: values[1] ?? extent.to };
    if (next.to > next.from) choose(next);
  };
  // A single end counts when it is entered; the other field stays empty for a user who types both ends.
  for (const field of [from, to]) {
    field.addEventListener('change', () => from.value.trim() !== '' && to.value.trim() !== '' && read());
    field.addEventListener('keydown', (event) => event.key === 'Enter' && read());
  }
  // Lanes are folded on small screens, so that these have room for the view.
  let isFolded = matchMedia('(max-width: 600px), (max-height: 700px)').matches && lanes.length > 2;
  const fold =
    lanes.length > 2 &&
    el(
      'button',
      {
        type: 'button',
        id: 'foldlanes',
        'aria-pressed': String(isFolded),
        onclick: () => {
          isFolded = !isFolded;
          fold.ariaPressed = String(isFolded);
          forget();
        },
      },
      'Two lanes',
    );
  const zoomer = el(
    'button',
    {
      type: 'button',
      id: 'detail',
      title: 'the lanes show the range alone, below an overview of the whole trace; the wheel over the lanes does it too',
      onclick: () => setDetail(!detail),
    },
    'In detail',
  );
  const hasThreads = trace.column('cpu.t').length > 0;
  const byThread =
    hasThreads &&
    el(
      'button',
      {
        type: 'button',
        id: 'threadlanes',
        title: 'a lane for each of the threads that ran most',
        onclick: () => {
          threads = !threads;
          forget();
          onchange({ lanes: threads ? 'threads' : '' });
        },
      },
      'Threads',
    );
  const forget = () => {
    cache = null;
    picture = null;
    draw();
  };
  const setDetail = (next) => {
    if (detail === next) return;
    detail = next;
    onchange({ detail });
    draw();
  };
  // Returns the lanes that stay when folded: the first, and requests or pauses.
  const kept = () =>
    isFolded
      ? [lanes[0], lanes.find((lane) => lane.staysFolded) ?? lanes[1]].filter((lane, place, both) => both.indexOf(lane) === place)
      : lanes;
  let ofThreads = null;
  const all = () => [
    ...kept(),
    ...(threads ? (ofThreads ??= threadLanes(trace)) : []),
    ...counters.map((number) => counterLane(trace, number)).filter((lane) => lane),
  ];
  let drag = null;
  // The shown part while the wheel turns.
  let wheeling = null;
  const isDetail = () => Boolean(wheeling || (detail && range));
  // Returns the part of the trace that the lanes show.
  const part = () => wheeling || (detail && range) || extent;
  const head = () => (isDetail() ? STRIP : 0);
  const width = () => Math.max(60, canvas.clientWidth);
  const labels = () => labelsOf(width());
  const inner = () => width() - labels() - 6;
  const placeIn = (shown, nanos) => labels() + ((nanos - shown.from) / (shown.to - shown.from)) * inner();
  const momentIn = (shown, place) => shown.from + (Math.min(inner(), Math.max(0, place - labels())) / inner()) * (shown.to - shown.from);
  const x = (nanos) => placeIn(part(), nanos);
  const nanosAt = (place) => momentIn(part(), place);
  let cache = null;
  const drawLanes = (context) => {
    const count = Math.max(20, Math.floor(inner()));
    const shown = part();
    const key = `${count} ${counters} ${shown.from} ${shown.to}`;
    if (cache?.key !== key) cache = { key, lanes: all().map((lane) => ({ ...lane, sums: lane.values?.(shown, Math.floor(count / 2)) })) };
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    let top = head() + AXIS;
    const step = axisStep(shown.to - shown.from, inner() / 90);
    if (isDetail()) drawStrip(context);
    for (let at = Math.ceil(shown.from / step) * step; at <= shown.to; at += step) {
      context.fillStyle = colour('faint');
      const text = formatAxis(at, step);
      if (x(at) + widthOf(context, text) < width()) write(context, text, x(at) + 3, head() + AXIS / 2);
      context.fillStyle = colour('grid');
      context.fillRect(x(at), head(), 1, height());
    }
    for (const lane of cache.lanes) {
      // Values outside of the shown part must not be drawn over names.
      context.save();
      context.beginPath();
      context.rect(labels(), top - 1, inner() + 6, lane.height);
      context.clip();
      const most = drawLane(context, lane, top, inner());
      context.restore();
      context.font = '10px system-ui, sans-serif';
      context.fillStyle = colour('faint');
      // Narrow screens have no room for the highest value.
      const highest = width() < 600 ? '' : (lane.top ?? (lane.most || lane.unit)(most));
      const wide = widthOf(context, highest);
      write(context, highest, labels() - 6 - wide, top + lane.height / 2);
      context.font = '12px system-ui, sans-serif';
      context.fillStyle = colour('ink');
      write(context, fit(context, lane.name, labels() - wide - 14), 2, top + lane.height / 2);
      top += lane.height;
      context.fillStyle = colour('grid');
      context.fillRect(0, top - 1, width(), 1);
    }
  };
  // The overview: the first lane over the whole trace, with the part that the lanes show.
  let strip = null;
  const drawStrip = (context) => {
    const count = Math.floor(inner() / 2);
    if (strip?.count !== count) {
      const lane = lanes.find((one) => one.values);
      const sums = lane ? lane.values(extent, count) : [];
      strip = { count, sums: Array.from({ length: count }, (_, bin) => sums.reduce((sum, own) => sum + own[bin], 0)) };
    }
    const most = maxOf([1e-9, ...strip.sums]);
    context.fillStyle = colour('faint');
    write(context, fit(context, 'Whole trace', labels() - 8), 2, STRIP / 2);
    context.fillStyle = colour('line');
    strip.sums.forEach(
      (sum, bin) => sum > 0 && context.fillRect(labels() + bin * 2, STRIP - 3 - (sum / most) * (STRIP - 6), 2, (sum / most) * (STRIP - 6)),
    );
    context.fillRect(labels(), STRIP - 3, inner(), 1);
  };
  const drawLane = (context, lane, top, wide) => {
    const tall = lane.height - 5;
    const bottom = top + lane.height - 2;
    if (lane.marks) {
      const fills = new Map([...new Set(lane.marks.map((mark) => mark.colour))].map((name) => [name, colour(name)]));
      for (const mark of lane.marks) {
        if (mark.to < part().from || mark.from > part().to) continue;
        context.fillStyle = fills.get(mark.colour);
        context.fillRect(x(mark.from), top + 3, Math.max(1, x(mark.to) - x(mark.from)), tall);
      }
      return 0;
    }
    if (lane.line) {
      const highest = lane.line.reduce((high, point) => Math.max(high, point.value), 0);
      const most = highest || 1;
      context.strokeStyle = colour(lane.colours[0]);
      context.lineWidth = 1.5;
      context.beginPath();
      lane.line.forEach((point, index) => {
        const place = [x(point.at), bottom - (Math.max(0, point.value) / most) * tall];
        if (index === 0) context.moveTo(...place);
        else {
          context.lineTo(place[0], bottom - (Math.max(0, lane.line[index - 1].value) / most) * tall);
          context.lineTo(...place);
        }
      });
      // The last value holds until the end.
      const last = lane.line[lane.line.length - 1];
      context.lineTo(x(part().to), bottom - (Math.max(0, last.value) / most) * tall);
      context.stroke();
      return highest;
    }
    const parts = lane.sums;
    const stacked = parts[0].map((_, bin) => parts.reduce((sum, part) => sum + part[bin], 0));
    const most = lane.full ?? (stacked.reduce((high, value) => Math.max(high, value), 0) || 1);
    const step = wide / parts[0].length;
    const fills = lane.colours.map(colour);
    for (let bin = 0; bin < parts[0].length; bin += 1) {
      let base = bottom;
      parts.forEach((part, index) => {
        const high = (part[bin] / most) * tall;
        if (high <= 0) return;
        context.fillStyle = fills[index];
        context.fillRect(labels() + bin * step, base - Math.max(high, 0.7), Math.ceil(step), Math.max(high, 0.7));
        base -= high;
      });
    }
    return most;
  };
  const height = () => head() + AXIS + all().reduce((sum, lane) => sum + lane.height, 0) + 2;
  // Lanes are painted once and copied while a range is drawn over them, because they do not change then.
  let picture = null;
  const draw = () => {
    const key = `${width()} ${devicePixelRatio} ${counters} ${isDark()} ${part().from} ${part().to}`;
    if (picture?.key !== key) {
      const layer = document.createElement('canvas');
      layer.width = Math.round(width() * (devicePixelRatio || 1));
      layer.height = Math.round(height() * (devicePixelRatio || 1));
      const context = layer.getContext('2d');
      context.scale(devicePixelRatio || 1, devicePixelRatio || 1);
      drawLanes(context);
      picture = { key, layer };
    }
    paint(canvas, height(), (context, wide, tall) => {
      context.drawImage(picture.layer, 0, 0, wide, tall);
      const mark = (shown, of, top, bottom, headHeight) => {
        const [left, right] = [placeIn(of, shown.from), placeIn(of, shown.to)];
        context.fillStyle = colour('shade');
        context.fillRect(labels(), top, Math.max(0, left - labels()), bottom - top);
        context.fillRect(right, top, Math.max(0, labels() + inner() - right), bottom - top);
        context.fillStyle = colour('accent');
        context.fillRect(left - 1, top, 2, bottom - top);
        context.fillRect(right - 1, top, 2, bottom - top);
        // The head of the range, by which it is moved.
        context.globalAlpha = 0.35;
        context.fillRect(left, top, right - left, headHeight);
        context.globalAlpha = 1;
      };
      const shown = wheeling || drag || range;
      if (isDetail()) mark(isMoving && drag ? drag : part(), extent, 0, STRIP - 2, STRIP - 2);
      if (isDetail() ? drag && !isMoving : shown) mark(shown, part(), head(), tall, AXIS);
    });
    const shown = wheeling || drag || range;
    say(
      rangeText,
      shown
        ? `${formatMoment(shown.from)} to ${formatMoment(shown.to)} (${formatNanos(shown.to - shown.from)})`
        : `whole trace, ${formatNanos(lengthOf(trace, extent))}`,
    );
    if (document.activeElement !== from) from.value = shown ? (shown.from / 1e6).toFixed(3) : '';
    if (document.activeElement !== to) to.value = shown ? (shown.to / 1e6).toFixed(3) : '';
    clear.disabled = !shown;
    zoomer.disabled = !shown;
    zoomer.ariaPressed = String(isDetail());
    if (byThread) byThread.ariaPressed = String(threads);
  };
  // Whether the user moves the range as a whole.
  let isMoving = false;
  const choose = (next) => {
    const rounded = next && { from: Math.round(Math.max(extent.from, next.from)), to: Math.round(Math.min(extent.to + 1, next.to)) };
    range = rounded && rounded.to > rounded.from ? rounded : null;
    draw();
    announce(range ? `range ${rangeText.textContent}` : 'whole trace');
    onrange(range);
  };
  // Returns the lane at a height.
  const laneAt = (down) => {
    let top = head() + AXIS;
    return cache?.lanes.find((lane) => {
      top += lane.height;
      return down >= top - lane.height && down < top;
    });
  };
  const movedBy = (held, by) => {
    const from = Math.min(Math.max(held.from + by, extent.from), extent.to + 1 - (held.to - held.from));
    return { from, to: from + (held.to - held.from) };
  };
  // Fingers on the canvas. Two fingers zoom.
  const fingers = new Map();
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const bounds = canvas.getBoundingClientRect();
    const [begin, down] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const lane = laneAt(down);
    if (begin < labels() - 4) {
      if (lane?.place) onlane(lane.place);
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, begin);
    // A drag on the overview moves the range, or draws another. A drag on the lanes moves the range only by its head.
    const isOverview = isDetail() && down < STRIP;
    const of = isOverview ? extent : part();
    const isHead = isOverview || (!isDetail() && down < AXIS);
    const held = range && isHead && begin >= placeIn(of, range.from) - 3 && begin <= placeIn(of, range.to) + 3 ? range : null;
    isMoving = Boolean(held) || isOverview;
    let pinched = null;
    const move = (moved) => {
      const place = moved.clientX - bounds.left;
      fingers.set(moved.pointerId, place);
      if (fingers.size === 2) {
        const [one, other] = [...fingers.values()];
        const far = Math.max(8, Math.abs(one - other));
        pinched ??= { far, middle: nanosAt((one + other) / 2), from: part().from, to: part().to };
        drag = null;
        zoomTo(pinched, pinched.middle, pinched.far / far);
        return;
      }
      const isStill = Math.abs(place - begin) < 4;
      if (held) drag = isStill ? null : movedBy(held, ((place - begin) / inner()) * (of.to - of.from));
      else drag = isStill ? null : { from: momentIn(of, Math.min(begin, place)), to: momentIn(of, Math.max(begin, place)) };
      draw();
    };
    const up = (last) => {
      for (const [name, listener] of [
        ['pointermove', move],
        ['pointerup', up],
        ['pointercancel', up],
      ])
        canvas.removeEventListener(name, listener);
      fingers.delete(last.pointerId);
      const chosen = drag;
      drag = null;
      isMoving = false;
      if (chosen) choose(chosen);
      else {
        draw();
        if (!pinched && lane?.isThread) onlane(lane.place);
      }
    };
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
  });
  // The wheel and two fingers show a shorter or longer part in detail, around the pointer. Views follow when they rest.
  let wheeled = null;
  const zoomTo = (now, at, factor) => {
    const next = { from: Math.max(extent.from, at - (at - now.from) * factor), to: Math.min(extent.to, at + (now.to - at) * factor) };
    if (next.to - next.from < 1000) return;
    follow(next);
  };
  const follow = (next) => {
    wheeling = next;
    requestAnimationFrame(draw);
    clearTimeout(wheeled);
    wheeled = setTimeout(() => {
      const chosen = wheeling;
      wheeling = null;
      const isWhole = chosen.to - chosen.from >= (extent.to - extent.from) * 0.999;
      detail = !isWhole;
      onchange({ detail });
      choose(isWhole ? null : chosen);
    }, 150);
  };
  canvas.addEventListener(
    'wheel',
    (event) => {
      const now = part();
      const isAside = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isAside && !isDetail()) return;
      event.preventDefault();
      if (isAside) follow(movedBy(now, ((event.deltaX || event.deltaY) / inner()) * (now.to - now.from)));
      else
        zoomTo(
          now,
          nanosAt(event.clientX - canvas.getBoundingClientRect().left),
          1.0015 ** (event.ctrlKey ? event.deltaY * 5 : event.deltaY),
        );
    },
    { passive: false },
  );
  canvas.addEventListener('dblclick', () => choose(null));
  box.append(
    tipOver(canvas, (event, place, down) => {
      const isHead =
        range &&
        down < (isDetail() ? STRIP : AXIS) &&
        place >= placeIn(isDetail() ? extent : part(), range.from) &&
        place <= placeIn(isDetail() ? extent : part(), range.to);
      canvas.style.cursor = isHead ? 'grab' : laneAt(down)?.isThread || (place < labels() && laneAt(down)?.place) ? 'pointer' : '';
      return drag || place < labels() ? '' : tell(place, down);
    }),
  );
  const tell = (place, down) => {
    const nanos = nanosAt(place);
    const lane = laneAt(down);
    if (!lane) return '';
    const when = formatMoment(nanos);
    if (lane.marks) {
      const near = lane.marks.find((mark) => x(mark.from) - 3 <= place && place <= Math.max(x(mark.to), x(mark.from) + 1) + 3);
      return near ? `${formatMoment(near.from)}: ${near.text}` : '';
    }
    if (lane.line) {
      const index =
        lowerBound(
          lane.line.map((point) => point.at),
          nanos,
        ) - 1;
      return index >= 0 ? `${when}: ${lane.unit(lane.line[index].value)}` : '';
    }
    const bin = Math.min(lane.sums[0].length - 1, Math.floor(((place - labels()) / inner()) * lane.sums[0].length));
    const sums = lane.sums.map((own, index) => `${lane.names[index]} ${lane.unit(own[bin])}`).join(', ');
    return `${lane.isThread ? `${lane.tip ?? lane.name}, ` : ''}${when}: ${sums}`;
  };
  canvas.addEventListener('keydown', (event) => {
    const length = extent.to - extent.from;
    const now = range || { from: extent.from, to: extent.to };
    const step = Math.max(1, (now.to - now.from) / 10);
    const by = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (by !== undefined && event.shiftKey) choose({ from: now.from, to: Math.max(now.from + length / 1e4, now.to + by) });
    else if (by !== undefined && range)
      choose(now.from + by < extent.from || now.to + by > extent.to + 1 ? range : { from: now.from + by, to: now.to + by });
    else if (by !== undefined) choose({ from: extent.from, to: extent.from + length / 10 });
    else if (event.key === '+') choose({ from: now.from + step, to: now.to - step });
    else if (event.key === '-') choose({ from: now.from - step, to: now.to + step });
    else if (event.key === 'z' && range) setDetail(!detail);
    else if (event.key === 'Escape') choose(null);
    else return;
    event.preventDefault();
  });
  keepDrawn(canvas, box, () => draw());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw());
  const legend = lanes.flatMap(
    (lane) => lane.legend || (lane.names.length > 1 ? lane.names.map((name, index) => [lane.colours[index], `${lane.name}: ${name}`]) : []),
  );
  const bar = el(
    'div',
    { class: 'rangebar' },
    rangeText,
    el('label', null, 'from ', from),
    el('label', null, ' to ', to, ' ms'),
    clear,
    zoomer,
    fold,
    byThread,
    pick,
    without,
    pictureLink(canvas, 'Time line'),
    el(
      'span',
      { class: 'legend' },
      legend.map(([name, text]) => el('span', null, el('i', { class: `swatch ${name}`, 'aria-hidden': 'true' }), text)),
    ),
  );
  const place = el('section', { class: 'timeline', 'aria-label': 'Time line' });
  replace(place, box, bar);
  return {
    place,
    draw,
    setRange: (next) => {
      range = next;
      draw();
    },
    setShown: (next) => {
      if (threads !== next.threads) cache = picture = null;
      ({ detail, threads } = next);
      draw();
    },
    setCounters: (next) => {
      counters = next;
      choosers();
      draw();
    },
  };
}
