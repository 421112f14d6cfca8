// Small charts: bars and lines over time.
import { el, keepDrawn, paint, pictureLink, colour, say, widthOf, write } from './dom.mjs';
import { axisStep, formatAxis, formatMoment } from './format.mjs';

// `points`: { at, value, colour, text }. `kind`: bars, line, or steps, where a value holds until the next one.
export function chart({ points, range, height = 90, kind = 'line', unit, label, fill = 'accent' }) {
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true' });
  const box = el('div', { class: 'chart lanebox' }, canvas, tip, pictureLink(canvas, label));
  const left = 74;
  const x = (nanos, width) => left + ((nanos - range.from) / (range.to - range.from)) * (width - left - 8);
  const most = points.reduce((high, point) => Math.max(high, point.value), 0) || 1;
  const least = kind !== 'bars' ? Math.min(0, points.reduce((low, point) => Math.min(low, point.value), 0)) : 0;
  const draw = () => paint(canvas, height, (context, width, tall) => {
    const y = (value) => tall - 16 - ((value - least) / (most - least || 1)) * (tall - 24);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = colour('faint');
    write(context, unit(most), 0, y(most) + 2, left - 4);
    write(context, unit(least), 0, y(least), left - 4);
    const step = axisStep(range.to - range.from, (width - left) / 90);
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
      context.fillStyle = colour('grid');
      context.fillRect(x(at, width), 4, 1, tall - 18);
      context.fillStyle = colour('faint');
      const text = formatAxis(at, step);
      if (x(at, width) + widthOf(context, text) < width) write(context, text, x(at, width), tall - 6);
    }
    context.fillStyle = colour('line');
    context.fillRect(left, y(least), width - left - 8, 1);
    if (kind === 'bars') {
      const fills = new Map([...new Set(points.map((point) => point.colour || fill))].map((name) => [name, colour(name)]));
      // The highest of each pixel: thousands of bars over each other are a pattern that is not there.
      const highest = new Map();
      for (const point of points) {
        const place = Math.round(x(point.at, width));
        if (!(highest.get(place)?.value >= point.value)) highest.set(place, point);
      }
      const wide = highest.size > (width - left) / 4 ? 1 : 3;
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
      if (index && kind === 'steps') context.lineTo(x(point.at, width), y(points[index - 1].value));
      (index ? context.lineTo : context.moveTo).call(context, x(point.at, width), y(point.value));
    });
    if (kind === 'steps' && points.length) context.lineTo(x(range.to, width), y(points[points.length - 1].value));
    context.stroke();
    context.fillStyle = colour(fill);
    if (points.length < 60) for (const point of points) context.fillRect(x(point.at, width) - 1.5, y(point.value) - 1.5, 3, 3);
  });
  canvas.addEventListener('pointermove', (event) => {
    const bounds = canvas.getBoundingClientRect();
    let near = null;
    for (const point of points) {
      const far = Math.abs(x(point.at, bounds.width) - (event.clientX - bounds.left));
      if (far < 8 && (!near || far < near.far)) near = { far, point };
    }
    tip.style.display = near ? 'block' : 'none';
    if (near) {
      say(tip, near.point.text || `${formatMoment(near.point.at)}: ${unit(near.point.value)}`);
      tip.style.left = `${Math.max(0, Math.min(event.clientX - bounds.left + 12, bounds.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${event.clientY - bounds.top + 16}px`;
    }
  });
  canvas.addEventListener('pointerleave', () => (tip.style.display = 'none'));
  keepDrawn(canvas, box, draw);
  return box;
}

// Areas on top of each other. `points`: { at, values }, one value for each of `parts`: { name, fill }.
export function areas({ points, parts, range, height = 120, unit, label }) {
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true' });
  const box = el('div', { class: 'chart lanebox' }, canvas, tip, pictureLink(canvas, label));
  const left = 74;
  const x = (nanos, width) => left + ((nanos - range.from) / (range.to - range.from)) * (width - left - 8);
  const most = points.reduce((high, point) => Math.max(high, point.values.reduce((sum, value) => sum + value, 0)), 0) || 1;
  const draw = () => paint(canvas, height, (context, width, tall) => {
    const y = (value) => tall - 16 - (value / most) * (tall - 24);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = colour('faint');
    write(context, unit(most), 0, y(most) + 2, left - 4);
    write(context, unit(0), 0, y(0), left - 4);
    const base = points.map(() => 0);
    parts.forEach((part, index) => {
      // No area where there is nothing: its edge would be smeared over a pixel.
      if (points.every((point) => !point.values[index])) return;
      context.fillStyle = colour(part.fill);
      context.beginPath();
      points.forEach((point, place) => context.lineTo(x(point.at, width), y(base[place] + point.values[index])));
      for (let place = points.length - 1; place >= 0; place -= 1) context.lineTo(x(points[place].at, width), y(base[place]));
      context.fill();
      points.forEach((point, place) => (base[place] += point.values[index]));
    });
    const step = axisStep(range.to - range.from, (width - left) / 90);
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
      context.fillStyle = colour('grid');
      context.fillRect(x(at, width), 4, 1, tall - 18);
      context.fillStyle = colour('faint');
      const text = formatAxis(at, step);
      if (x(at, width) + widthOf(context, text) < width) write(context, text, x(at, width), tall - 6);
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const bounds = canvas.getBoundingClientRect();
    const nanos = range.from + ((event.clientX - bounds.left - left) / (bounds.width - left - 8)) * (range.to - range.from);
    const point = points.filter((one) => one.at <= nanos).pop();
    tip.style.display = point ? 'block' : 'none';
    if (point) {
      say(tip, `${formatMoment(point.at)}: ${parts.map((part, index) => `${part.name} ${unit(point.values[index])}`).join(', ')}`);
      tip.style.left = `${Math.max(0, Math.min(event.clientX - bounds.left + 12, bounds.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${event.clientY - bounds.top + 16}px`;
    }
  });
  canvas.addEventListener('pointerleave', () => (tip.style.display = 'none'));
  keepDrawn(canvas, box, draw);
  return box;
}
