// The page of `nettrace diff`.
import { el, replace } from './dom.mjs';

export function diffPage(trace) {
  replace(document.getElementById('main'), el('p', null, 'not yet'));
}
