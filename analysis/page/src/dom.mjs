// Makes elements. Data become text nodes and attributes that are not run, and nothing is parsed as HTML. All texts from outside (names in
// traces, words of the address) go through `visible`, because only this module writes texts on elements and canvases.

// Control, direction, separator and invisible characters, as in `is_hidden` of export/src/hidden.rs.
const HIDDEN = new RegExp(
  '[\\0-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
    '\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\ufffe\\uffff\\u{e0000}-\\u{e0fff}]',
  'gu',
);

// Replaces each hidden character by U+FFFD.
export const printable = (text) => String(text).replace(HIDDEN, '\ufffd');

// Replaces hidden characters, but keeps line ends and tabs, which messages have, and which elements and canvases show as blanks.
export const visible = (text) => String(text).replace(HIDDEN, (hidden) => (/[\t\n\r]/.test(hidden) ? hidden : '\ufffd'));

export function say(element, text) {
  element.textContent = visible(text);
}

// Writes a text on a canvas. A text wider than `most` pixels is squeezed.
export function write(context, text, x, y, most) {
  context.fillText(visible(text), x, y, most);
}

export const widthOf = (context, text) => context.measureText(visible(text)).width;

export function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else if (key === 'value') element.value = visible(value);
    else element.setAttribute(key, value === true ? '' : visible(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// Returns a colour of the style sheet, which follows the colour scheme.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Paints a canvas as sharp as the screen, by `draw(context, width, height)`.
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

// Returns whether the page is dark. Paper is light even if the screen is dark.
export const isDark = () => !document.documentElement.dataset.print && matchMedia('(prefers-color-scheme: dark)').matches;

// Draws a canvas now, whenever the size of its box changes, and for paper.
export function keepDrawn(canvas, box, draw) {
  canvas.redraw = draw;
  new ResizeObserver(draw).observe(box);
}

// Shows a text beside the pointer, which `textAt(event)` returns for the place below the pointer; it may be empty. The tip is an element of
// the canvas's box.
export function tipOver(canvas, textAt) {
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true' });
  canvas.addEventListener('pointermove', (event) => {
    const bounds = canvas.getBoundingClientRect();
    const text = textAt(event, event.clientX - bounds.left, event.clientY - bounds.top);
    say(tip, text);
    tip.style.display = text ? 'block' : 'none';
    tip.style.left = `${Math.max(0, Math.min(event.clientX - bounds.left + 13, bounds.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.clientY - bounds.top + 17}px`;
  });
  canvas.addEventListener('pointerleave', () => (tip.style.display = 'none'));
  return tip;
}

// Returns a link that saves the canvas as a picture, on the page's background.
export function pictureLink(canvas, name) {
  return el(
    'a',
    {
      class: 'csv png',
      href: '#',
      download: `${name.replace(/[^a-zA-Z0-9]+/g, '-').slice(0, 60)}.png`,
      'aria-label': `PNG: ${name}`,
      onclick: (event) => {
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext('2d');
        context.fillStyle = colour('bg');
        context.fillRect(0, 0, copy.width, copy.height);
        context.drawImage(canvas, 0, 0);
        event.currentTarget.href = copy.toDataURL('image/png');
      },
    },
    'PNG',
  );
}

// Draws canvases anew for paper, which is narrower than most windows, and would squeeze them.
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

export function entitle(text) {
  document.title = visible(text);
}

// Says something to screen readers.
export function announce(text) {
  const place = document.getElementById('live');
  if (place) say(place, text);
}

// Returns as much of a text as fits.
export function fit(context, text, width) {
  if (width < 14) return '';
  if (widthOf(context, text) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(context, `${text.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  // A surrogate pair is not cut in two.
  if (/[\ud800-\udbff]/.test(text[low - 1] ?? '')) low -= 1;
  return low > 1 ? `${text.slice(0, low)}…` : '';
}
