// Buttons that stay pressed, and lists to choose from.
import { el } from './dom.mjs';

export const button = (text, pressed, onclick, more = {}) =>
  el('button', { type: 'button', 'aria-pressed': String(pressed), onclick, ...more }, text);

export function select(id, options, value, onchange) {
  const element = el(
    'select',
    { id, onchange: () => onchange(element.value) },
    options.map(([key, text]) => el('option', { value: key }, text)),
  );
  element.value = value;
  return element;
}
