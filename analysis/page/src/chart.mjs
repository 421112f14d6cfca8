// Small charts: bars and lines over time.
import { el, keepDrawn, paint, pictureLink, colour, tipOver, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatMoment } from './format.mjs';
import { maxOf, minOf } from './ranges.mjs';

// Pixels left of the first moment, where the axis has its numbers, and right of the last moment.
const LEFT = 74;
const RIGHT = 8;

// Returns a plot of values over time, with axes, a tip and a link to the picture. `inside(context, x, y)` draws the values. `tell(nanos,
// near)` returns the text of a tip, where `near(at)` is the distance of a moment in pixels.
function plot({ range, height, unit, label, most, least = 0, inside, tell }) {
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const length = range.to - range.from;
  const draw = () =>
    paint(canvas, height, (context, width, tall) => {
      const x = (nanos) => LEFT + ((nanos - range.from) / length) * (width - LEFT - RIGHT);
      const y = (value) => tall - 16 - ((value - least) / (most - least || 1)) * (tall - 24);
      context.font = '11px system-ui, sans-serif';
      context.textBaseline = 'middle';
      context.fillStyle = colour('faint');
      write(context, unit(most), 0, y(most) + 2, LEFT - 4);
      write(context, unit(least), 0, y(least), LEFT - 4);
      const step = axisStep(length, (width - LEFT) / 90);
      for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
        context.fillStyle = colour('grid');
        context.fillRect(x(at), 4, 1, tall - 18);
        context.fillStyle = colour('faint');
        const text = formatAxis(at, step);
        if (x(at) + widthOf(context, text) < width) write(context, text, x(at), tall - 6);
      }
      context.fillStyle = colour('line');
      context.fillRect(LEFT, y(least), width - LEFT - RIGHT, 1);
      inside(context, x, y);
    });
  const tip = tipOver(canvas, (_, place) => {
    const perPixel = length / (canvas.clientWidth - LEFT - RIGHT);
    const nanos = range.from + (place - LEFT) * perPixel;
    return tell(nanos, (at) => Math.abs(at - nanos) / perPixel);
  });
  const box = el('div', { class: 'chart lanebox' }, canvas, tip, pictureLink(canvas, label));
  keepDrawn(canvas, box, draw);
  return box;
}

// Returns a chart. `points` are { at, value, colour, text }. `kind` is bars, line, or steps, in which a value holds until the next.
export function chart({ points, range, height = 90, kind = 'line', unit, label, fill = 'accent' }) {
  const most = maxOf([0, ...points.map((point) => point.value)]) || 1;
  const least = kind === 'bars' ? 0 : minOf([0, ...points.map((point) => point.value)]);
  const inside = (context, x, y) => {
    if (kind === 'bars') {
      const fills = new Map([...new Set(points.map((point) => point.colour || fill))].map((name) => [name, colour(name)]));
      // Each pixel shows its highest bar, because thousands of bars over each other would look like a pattern.
      const highest = new Map();
      for (const point of points) {
        const place = Math.round(x(point.at));
        if (!(highest.get(place)?.value >= point.value)) highest.set(place, point);
      }
      const wide = highest.size > (x(range.to) - LEFT) / 4 ? 1 : 3;
      for (const [place, point] of highest) {
        context.fillStyle = fills.get(point.colour || fill);
        context.fillRect(place - (wide >> 1), y(point.value), wide, y(0) - y(point.value));
      }
      return;
    }
    context.strokeStyle = colour(fill);
    context.lineWidth = 1.5;
    context.beginPath();
    points.forEach((point, index) => {
      if (index && kind === 'steps') context.lineTo(x(point.at), y(points[index - 1].value));
      (index ? context.lineTo : context.moveTo).call(context, x(point.at), y(point.value));
    });
    if (kind === 'steps' && points.length) context.lineTo(x(range.to), y(points[points.length - 1].value));
    context.stroke();
    context.fillStyle = colour(fill);
    if (points.length < 60) for (const point of points) context.fillRect(x(point.at) - 1.5, y(point.value) - 1.5, 3, 3);
  };
  const tell = (nanos, near) => {
    const nearest = points.reduce((best, point) => (near(point.at) < (best ? near(best.at) : 8) ? point : best), null);
    return nearest ? nearest.text || `${formatMoment(nearest.at)}: ${unit(nearest.value)}` : '';
  };
  return plot({ range, height, unit, label, most, least, inside, tell });
}

// Returns a chart of stacked areas. `points` are { at, values }, with a value for each of `parts`, which are { name, fill }.
export function areas({ points, parts, range, height = 120, unit, label }) {
  const most = maxOf([0, ...points.map((point) => point.values.reduce((sum, value) => sum + value, 0))]) || 1;
  const inside = (context, x, y) => {
    const base = points.map(() => 0);
    parts.forEach((part, index) => {
      // An area without values is not drawn, because its edge would cover a pixel.
      if (points.every((point) => !point.values[index])) return;
      context.fillStyle = colour(part.fill);
      context.beginPath();
      points.forEach((point, place) => context.lineTo(x(point.at), y(base[place] + point.values[index])));
      for (let place = points.length - 1; place >= 0; place -= 1) context.lineTo(x(points[place].at), y(base[place]));
      context.fill();
      points.forEach((point, place) => (base[place] += point.values[index]));
    });
  };
  const tell = (nanos) => {
    const point = points.findLast((one) => one.at <= nanos);
    return point ? `${formatMoment(point.at)}: ${parts.map((part, index) => `${part.name} ${unit(point.values[index])}`).join(', ')}` : '';
  };
  return plot({ range, height, unit, label, most, inside, tell });
}
