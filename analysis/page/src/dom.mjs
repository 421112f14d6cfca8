// Elements. Data become text nodes and attributes that are not run; nothing is parsed as HTML.

export function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// Colours come from the style sheet, so that they follow the colour scheme.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// A canvas as sharp as the screen; `draw(context, width, height)`.
export function paint(canvas, height, draw) {
  const width = Math.max(1, canvas.clientWidth || canvas.parentElement.clientWidth);
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  draw(context, width, height);
}

// Paper is light, whatever the screen is.
export const isDark = () => !document.documentElement.dataset.print && matchMedia('(prefers-color-scheme: dark)').matches;

// Draws a canvas now, whenever its box changes, and for paper.
export function keepDrawn(canvas, box, draw) {
  canvas.redraw = draw;
  new ResizeObserver(draw).observe(box);
}

// A page is narrower than most windows: what is drawn is drawn for it, not squeezed into it.
export function drawForPaper() {
  const redraw = () => document.querySelectorAll('canvas').forEach((canvas) => canvas.redraw?.());
  window.addEventListener('beforeprint', () => {
    document.documentElement.dataset.print = '1';
    redraw();
  });
  window.addEventListener('afterprint', () => {
    delete document.documentElement.dataset.print;
    redraw();
  });
}

// Says something to screen readers.
export function announce(text) {
  const place = document.getElementById('live');
  if (place) place.textContent = text;
}

// As much of a text as fits.
export function fit(context, text, width) {
  if (width < 14) return '';
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? `${text.slice(0, low)}…` : '';
}
