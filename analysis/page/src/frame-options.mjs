// Options of stacks that fold, group and leave out frames. Each change is part of the address.
import { button, select } from './controls.mjs';
import { el } from './dom.mjs';

// The options by their names in the address, with the words that say which are in use.
const OPTIONS = [
  ['own', (value) => `mine is ${value}`],
  ['async', () => 'async folded'],
  ['recursion', () => 'recursion collapsed'],
  ['group', (value) => `frames are ${{ module: 'modules', namespace: 'namespaces' }[value] ?? value}`],
  ['fold', (value) => `folded ${value}`],
  ['include', (value) => `only stacks with ${value}`],
  ['exclude', (value) => `no stacks with ${value}`],
];
const GROUPS = [
  ['', 'methods'],
  ['module', 'modules'],
  ['namespace', 'namespaces'],
];

// Whether the options are shown. A change of one shows the view anew, and they stay open.
let areShown = false;

// Returns the options: "Just my code", a button that shows the others, and the others that are in use, each with a click to end it.
export function frameOptions(route, go) {
  const change = (key, value) => go({ [key]: value, zoom: null }, true);
  const without = (key) => (typeof route[key] === 'boolean' ? false : '');
  const flag = (key, text, title) => button(text, route[key], () => change(key, !route[key]), { id: `transform-${key}`, title });
  const field = (key, text, placeholder, title) => {
    const input = el('input', {
      type: 'text',
      id: `transform-${key}`,
      size: '14',
      placeholder,
      title,
      value: route[key],
      onchange: () => change(key, input.value.trim()),
    });
    return el('label', null, `${text} `, input);
  };
  const used = OPTIONS.filter(([key]) => route[key]);
  const isOther = !GROUPS.some(([key]) => key === route.group);
  const others = el(
    'div',
    { class: 'controls transforms', id: 'frame-options', role: 'group', 'aria-label': 'Options of frames', hidden: !areShown },
    field('own', 'mine is', 'all but .NET', 'a regular expression of the frames that are yours, such as ^csc!|Microsoft.CodeAnalysis'),
    flag('async', 'Fold async', 'an async method is one frame, without the builders that start and resume it'),
    flag('recursion', 'Collapse recursion', 'recursion is shown once'),
    el(
      'label',
      null,
      'Frames are ',
      select('transform-group-by', [...GROUPS, ...(isOther ? [[route.group, route.group]] : [])], route.group, (value) =>
        change('group', value),
      ),
    ),
    field('group', 'group', 'REGEX=NAME', 'matching frames are one frame of this name; $1 stands for the first group of the expression'),
    field('fold', 'fold', 'REGEX', 'matching frames are hidden: their time counts for their caller'),
    field('include', 'only stacks with', 'REGEX', 'only stacks with a matching frame count'),
    field('exclude', 'none with', 'REGEX', 'stacks with a matching frame do not count'),
  );
  const opener = el(
    'button',
    {
      type: 'button',
      id: 'frame-options-button',
      'aria-expanded': String(areShown),
      'aria-controls': 'frame-options',
      onclick: () => {
        areShown = !areShown;
        others.hidden = !areShown;
        opener.ariaExpanded = String(areShown);
      },
    },
    'Frames …',
  );
  return [
    el(
      'div',
      { class: 'controls' },
      flag('mine', 'Just my code', 'hide frames of .NET and its libraries: their time counts for your method that called them'),
      opener,
      used.map(([key, words]) =>
        el(
          'button',
          { type: 'button', class: 'used', title: 'without this option', onclick: () => change(key, without(key)) },
          `${words(route[key])} ×`,
        ),
      ),
      (used.length > 0 || route.mine) &&
        el(
          'button',
          {
            type: 'button',
            id: 'transform-none',
            onclick: () =>
              go({ ...Object.fromEntries(['mine', ...OPTIONS.map(([key]) => key)].map((key) => [key, without(key)])), zoom: null }, true),
          },
          'As recorded',
        ),
    ),
    others,
  ];
}
