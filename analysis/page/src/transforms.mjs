// Folds, groups and leaves out frames of stacks before these are added up, as options of `nettrace report topN` do.

import { frameNumber, nameText } from './frames.mjs';

// Maximum length of a recursive cycle, as in analysis/src/model/folding.rs.
const LONGEST_CYCLE = 8;

// Returns the user's pattern as a regular expression, or as plain text if it is no valid expression; null if it is empty.
function patternOf(text) {
  const wanted = (text ?? '').trim();
  if (wanted === '') return null;
  try {
    return new RegExp(wanted, 'i');
  } catch {
    return new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
}

// Returns which frames are the program's own: those that match a pattern, else those that are not the framework's. In a program that is the
// framework's, such as a compiler, own frames share the first word of the entry point's namespace.
export function ownFrames(trace, pattern) {
  const { text, framework, namespace, module: modules, kind, method } = trace.frames;
  const wanted = patternOf(pattern);
  if (wanted) return text.map((name) => wanted.test(name));
  const known =
    trace.own ??
    (trace.own = (() => {
      const own = text.map((_, frame) => !framework?.[frame] && kind?.[frame] === 0);
      if (own.some((is) => is)) return text.map((_, frame) => !framework?.[frame]);
      const entry = text.findIndex((_, frame) => kind?.[frame] === 0 && ['Main', '<Main>$'].includes(method[frame]));
      if (entry < 0) return own;
      const root = namespace[entry].split('.').slice(0, 2).join('.');
      return text.map(
        (_, frame) =>
          modules[frame] === modules[entry] || (root !== '' && (namespace[frame] === root || namespace[frame].startsWith(`${root}.`))),
      );
    })());
  return known;
}

export const hasTransforms = (route) =>
  Boolean(route.mine || route.async || route.recursion || route.group || route.fold || route.exclude || route.include);

// Returns a function from a stack's frames, outermost first, to the frames that are shown, or to null if the stack is left out. `first` is
// the number of the first group, whose names are in `names`.
export function transformOf(trace, { mine, own, async, recursion, group, fold, exclude, include }, first) {
  const { text, carrier, machine, async: methods, framework, named, module: modules, namespace, waking } = trace.frames;
  const isOwn = mine ? ownFrames(trace, own) : null;
  const folds = patternOf(fold);
  const [excludes, includes] = [patternOf(exclude), patternOf(include)];
  const isMatch = (pattern, frame) => pattern.test(text[frame]) || pattern.test(nameText(trace.frames, frame));
  const matches = (pattern) => pattern && text.map((_, frame) => isMatch(pattern, frame));
  const [isFolded, isExcluded, isIncluded] = [matches(folds), matches(excludes), matches(includes)];
  // Returns whether a frame is the state machine of the method that called it.
  const isStarted = (outer, inner) =>
    machine?.[inner] === 1 && (outer === inner || (methods[inner] > 0 && methods[outer] === methods[inner]));
  const names = [];
  const numbers = new Map();
  const numberOf = (name) => {
    if (!numbers.has(name)) {
      numbers.set(name, first + names.length);
      names.push(name);
    }
    return numbers.get(name);
  };
  // `group` is `REGEX=NAME`, as the option --group takes it, or `module` or `namespace`.
  const [, words, called] = /^(.*)=([^=]*)$/.exec(group ?? '') ?? [];
  const grouped = group === 'module' || group === 'namespace' ? null : patternOf(words);
  const groupOf = (frame) => {
    if (group === 'module') return modules[frame] || '(no module)';
    if (group === 'namespace') return namespace[frame] || modules[frame] || '(no namespace)';
    const match = grouped?.exec(text[frame]);
    return match ? called.replace('$1', match[1] ?? '') || '?' : null;
  };
  const isUnknown = (frame) => named?.[frame] === 0 && modules[frame] === '';
  const apply = (frames) => {
    if (isIncluded && !frames.some((frame) => isIncluded[frame])) return null;
    if (isExcluded && frames.some((frame) => isExcluded[frame])) return null;
    const path = [];
    let isInFramework = false;
    let last = null;
    for (const [index, frame] of frames.entries()) {
      // Code without a name that the framework calls is one of its stubs.
      const isStub = mine && isInFramework && isUnknown(frame) && !(index + 1 < frames.length && isUnknown(frames[index + 1]));
      isInFramework = Boolean(framework?.[frame]);
      const isCarrier = (async || mine) && carrier?.[frame];
      if (isCarrier || isStub || isFolded?.[frame] || (isOwn && !isOwn[frame])) {
        continue;
      }
      const name = groupOf(frame);
      const shown = name === null ? frame : numberOf(name);
      const isSame = path.length > 0 && path[path.length - 1] === shown;
      // An async method and the state machine that it starts become one frame.
      const isMachine = (async || mine) && name === null && last !== null && isStarted(last, frame);
      last = frame;
      if (isSame && (name !== null || isMachine)) continue;
      if (isMachine) path.pop();
      path.push(shown);
      if (!recursion) continue;
      // Shorter cycles are tried first.
      for (let period = 1; period <= LONGEST_CYCLE && period * 2 <= path.length; period += 1) {
        const end = path.length;
        let isCycle = true;
        for (let at = 1; isCycle && at <= period; at += 1) isCycle = path[end - at] === path[end - period - at];
        if (isCycle) {
          path.length = end - period;
          break;
        }
      }
    }
    // A stack keeps at least one frame, because its weight would vanish with it.
    if (path.length === 0 && frames.length > 0) path.push(isOwn ? numberOf('(not my code)') : frames[0]);
    return path;
  };
  // Going to sleep and waking is a call of the innermost frame that is left.
  const applyAll = (frames) => {
    if (!waking?.[frames.at(-1)]) return apply(frames);
    const path = apply(frames.slice(0, -1));
    const last = path?.at(-1);
    if (last === undefined) return path;
    const name = `${last < first ? text[last] : names[last - first]}${trace.frames.waking_text}`;
    return [...path, frameNumber(trace, name) ?? numberOf(name)];
  };
  return { apply: applyAll, names };
}
