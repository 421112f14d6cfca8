// Flame graphs on a canvas.
import { el, isDark, keepDrawn, paint, colour, announce, fit, tipOver, write } from './dom.mjs';
import { formatCount, formatPercent, formatWeight, formatNanos } from './format.mjs';

const ROW = 18;
const LEAST_WIDTH = 0.6;

// Hues of modules, far apart. Lightness differs, too, for readers without colour vision. The program's own code has `OWN_HUE`.
const OWN_HUE = 205;
const HUES = [38, 165, 320, 55, 15, 90, 285];
function frameColour(name, module_, dark, isOwn = false) {
  let hash = 7;
  for (let at = 0; at < module_.length; at += 1) hash = (hash * 31 + module_.charCodeAt(at)) >>> 0;
  let shade = 0;
  for (let at = 0; at < name.length; at += 1) shade = (shade * 33 + name.charCodeAt(at)) >>> 0;
  if (isOwn) return dark ? `hsl(${OWN_HUE} 60% ${32 + (shade % 9)}%)` : `hsl(${OWN_HUE} 78% ${70 + (shade % 9)}%)`;
  if (module_ === '') return `hsl(0 0% ${dark ? 30 + (shade % 6) : 80 - (shade % 6)}%)`;
  const hue = HUES[hash % HUES.length];
  return dark ? `hsl(${hue} 42% ${28 + (shade % 9)}%)` : `hsl(${hue} 62% ${76 + (shade % 9)}%)`;
}

// Returns the colour of a change: red for more, blue for less, grey for none. Lightness differs, too, for readers without colour vision.
function tintColour(change, dark) {
  const strength = Math.abs(change);
  if (change > 0)
    return dark ? `hsl(16 ${20 + 60 * strength}% ${30 + 16 * strength}%)` : `hsl(16 ${30 + 60 * strength}% ${88 - 26 * strength}%)`;
  if (change < 0)
    return dark ? `hsl(205 ${20 + 60 * strength}% ${28 + 8 * strength}%)` : `hsl(205 ${30 + 60 * strength}% ${88 - 16 * strength}%)`;
  return dark ? 'hsl(0 0% 30%)' : 'hsl(0 0% 88%)';
}

// Returns the rectangles of a tree below `root` that are wide enough to be seen, the heaviest call of each node first.
export function layoutTree(tree, root, width) {
  const rectangles = [];
  const whole = tree.total[root] || 1;
  const path = [];
  for (let node = root; node !== 0; node = tree.parent[node]) path.push(node);
  path.push(0);
  path.reverse().forEach((node, depth) => rectangles.push({ node, depth, x: 0, width, isAbove: node !== root }));
  const open = [{ node: root, depth: path.length - 1, x: 0 }];
  while (open.length) {
    const { node, depth, x } = open.pop();
    let left = x;
    for (const child of tree.children[node] || []) {
      const wide = (tree.total[child] / whole) * width;
      if (wide < LEAST_WIDTH) break;
      rectangles.push({ node: child, depth: depth + 1, x: left, width: wide, isAbove: false });
      open.push({ node: child, depth: depth + 1, x: left });
      left += wide;
    }
  }
  return rectangles;
}

// Returns a flame graph with search, zoom and keys. `options` are upright, search, label, onzoom(node), onfocus(frame).
export function flameGraph(tree, options) {
  const canvas = el('canvas', {
    tabindex: '0',
    role: 'application',
    class: 'flame',
    'aria-label':
      `${options.label}. Arrow keys move, Enter zooms, Escape zooms out. ` + 'The tabs Call tree and Methods have the same as tables.',
  });
  const box = el('div', { class: options.upright ? 'flamebox upright' : 'flamebox' }, canvas);
  // An upright graph begins at its bottom, which may be far below its top.
  let isAtRoot = !options.upright;
  let root = options.zoom && options.zoom < tree.parent.length ? options.zoom : 0;
  let rectangles = [];
  // The inputs of the last layout. Moves of the pointer draw again, but need no new layout.
  let layout = {};
  let chosen = -1;
  let hovered = -1;
  let found = null;
  const search = () => {
    const wanted = options.search.trim().toLowerCase();
    found = null;
    if (!wanted) return;
    const isFound = new Map();
    found = tree.frame.map((frame, node) => {
      if (node === 0) return false;
      if (!isFound.has(frame)) isFound.set(frame, tree.texts(frame).toLowerCase().includes(wanted));
      return isFound.get(frame);
    });
  };
  const foundShare = () => {
    // A match counts with all nodes below, so matches among these add nothing.
    let sum = 0;
    const open = [root];
    while (open.length) {
      const node = open.pop();
      if (node !== 0 && found[node]) sum += tree.total[node];
      else open.push(...(tree.children[node] || []));
    }
    return tree.total[root] ? (sum / tree.total[root]) * 100 : 0;
  };
  const name = (node) => (node === 0 ? 'all' : tree.texts(tree.frame[node]));
  const short = (node) => (node === 0 ? 'all' : tree.shortOf(tree.frame[node]));
  const about = (node) => {
    if (tree.about) return tree.about(node);
    const share = tree.total[0] ? (tree.total[node] / tree.total[0]) * 100 : 0;
    const own = tree.self[node] > 0 ? `, ${formatWeight(tree.self[node], tree.unit)} by itself` : '';
    const samples = `${formatCount(tree.totalSamples[node])} ${tree.thing ?? 'samples'}`;
    return `${name(node)}: ${formatWeight(tree.total[node], tree.unit)}${own}, ${formatPercent(share)}, ${samples}`;
  };
  let depthMost = 1;
  const height = () => Math.max(120, (depthMost + 1) * ROW + 4);
  const y = (depth) => (options.upright ? height() - (depth + 1) * ROW - 2 : depth * ROW + 2);
  const draw = () => {
    const width = Math.max(50, canvas.clientWidth || box.clientWidth || 800);
    if (layout.root !== root || layout.width !== width) {
      rectangles = layoutTree(tree, root, width);
      layout = { root, width };
    }
    depthMost = rectangles.reduce((most, rectangle) => Math.max(most, rectangle.depth), 1);
    const dark = isDark();
    paint(canvas, height(), (context) => {
      context.font = '12px system-ui, sans-serif';
      context.textBaseline = 'middle';
      const ink = colour('flame-ink');
      const [rootFill, foundFill, foundInk, accent] = ['flame-root', 'found', 'found-ink', 'accent'].map(colour);
      rectangles.forEach((rectangle) => {
        const { node, depth, x, width: wide, isAbove } = rectangle;
        const top = y(depth);
        context.globalAlpha = isAbove ? 0.55 : found && node !== 0 && !found[node] ? 0.35 : 1;
        context.fillStyle =
          node === 0
            ? rootFill
            : found?.[node]
              ? foundFill
              : tree.tint
                ? tintColour(tree.tint(node), dark)
                : frameColour(
                    name(node),
                    node === 0 ? '' : tree.moduleOf(tree.frame[node]),
                    dark,
                    node !== 0 && tree.isOwn?.(tree.frame[node]),
                  );
        context.fillRect(x, top, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), ROW - 1);
        if (wide > 34) {
          context.fillStyle = found?.[node] ? foundInk : ink;
          context.globalAlpha = found && node !== 0 && !found[node] ? 0.6 : 1;
          write(context, fit(context, short(node), wide - 8), x + 4, top + ROW / 2);
        }
        if (node === chosen || node === hovered) {
          context.globalAlpha = 1;
          context.strokeStyle = accent;
          context.lineWidth = node === chosen ? 2 : 1;
          context.strokeRect(x + 0.5, top + 0.5, Math.max(1, wide - 1), ROW - 2);
        }
      });
      context.globalAlpha = 1;
    });
    if (!isAtRoot && box.isConnected) {
      isAtRoot = true;
      box.style.maxHeight = `${Math.max(300, window.innerHeight - box.getBoundingClientRect().top - 12)}px`;
      box.scrollTop = box.scrollHeight;
    }
    canvas.dataset.root = String(root);
    canvas.dataset.rectangles = String(rectangles.length);
  };
  const at = (event) => {
    const bounds = canvas.getBoundingClientRect();
    const [x, top] = [event.clientX - bounds.left, event.clientY - bounds.top];
    return rectangles.find(
      (rectangle) => x >= rectangle.x && x < rectangle.x + rectangle.width && top >= y(rectangle.depth) && top < y(rectangle.depth) + ROW,
    );
  };
  const choose = (node) => {
    chosen = node;
    announce(about(node));
    options.onchoose?.(node, about(node));
    draw();
  };
  const zoom = (node) => {
    root = node;
    chosen = node;
    draw();
    announce(`zoomed to ${about(node)}`);
    options.onzoom?.(node);
  };
  const hover = (node) => {
    if (node === hovered) return;
    hovered = node;
    draw();
  };
  box.append(
    tipOver(canvas, (event) => {
      const node = at(event)?.node ?? -1;
      hover(node);
      return node >= 0 ? about(node) : '';
    }),
  );
  canvas.addEventListener('pointerleave', () => hover(-1));
  canvas.addEventListener('click', (event) => {
    const rectangle = at(event);
    if (rectangle) zoom(rectangle.node);
  });
  canvas.addEventListener('contextmenu', (event) => {
    const rectangle = at(event);
    if (rectangle && rectangle.node !== 0 && options.onfocus) {
      event.preventDefault();
      options.onfocus(tree.frame[rectangle.node]);
    }
  });
  canvas.addEventListener('keydown', (event) => {
    const siblings = () => tree.children[tree.parent[chosen]] || [];
    const [inwards, outwards] = options.upright ? ['ArrowUp', 'ArrowDown'] : ['ArrowDown', 'ArrowUp'];
    if (chosen < 0 && event.key.startsWith('Arrow')) chosen = root;
    const moves = {
      [inwards]: () => tree.children[chosen]?.[0],
      [outwards]: () => (chosen === 0 ? 0 : tree.parent[chosen]),
      ArrowLeft: () => siblings()[siblings().indexOf(chosen) - 1],
      ArrowRight: () => siblings()[siblings().indexOf(chosen) + 1],
      Home: () => root,
    };
    if (event.key in moves) {
      const next = moves[event.key]();
      if (next !== undefined) choose(next);
    } else if (event.key === 'Enter' && chosen >= 0) zoom(chosen);
    else if (event.key === 'Escape' && root !== 0) zoom(0);
    else if (event.key === 's' && chosen > 0) options.onfocus?.(tree.frame[chosen]);
    else return;
    event.preventDefault();
  });
  search();
  keepDrawn(canvas, box, draw);
  return {
    box,
    draw,
    canvas,
    foundText: () => (found ? `${formatPercent(foundShare())} found` : ''),
    setSearch: (text) => {
      options.search = text;
      search();
      draw();
    },
    zoom,
    root: () => root,
  };
}

// Returns the graph of a thread's stacks in time order. `options` are label, search, and onrange(range), for a click on a rectangle.
export function timeGraph(rectangles, tree, range, options) {
  const canvas = el('canvas', { class: 'flame', role: 'img', 'aria-label': options.label });
  const box = el('div', { class: 'flamebox' }, canvas);
  const depth = rectangles.reduce((most, rectangle) => Math.max(most, rectangle.depth), 0);
  let search = options.search.trim().toLowerCase();
  const draw = () => {
    const [ink, foundFill, foundInk] = ['flame-ink', 'found', 'found-ink'].map(colour);
    const isFound = new Map();
    const found = (frame) => {
      if (!isFound.has(frame)) isFound.set(frame, search !== '' && tree.texts(frame).toLowerCase().includes(search));
      return isFound.get(frame);
    };
    const dark = isDark();
    paint(canvas, (depth + 1) * ROW + 4, (context, width) => {
      const scale = width / (range.to - range.from);
      context.font = '12px system-ui, sans-serif';
      context.textBaseline = 'middle';
      for (const rectangle of rectangles) {
        const x = (rectangle.from - range.from) * scale;
        const wide = (rectangle.to - rectangle.from) * scale;
        if (x > width || x + wide < 0) continue;
        const isMatch = found(rectangle.frame);
        context.globalAlpha = search === '' || isMatch ? 1 : 0.4;
        context.fillStyle = isMatch
          ? foundFill
          : frameColour(tree.texts(rectangle.frame), tree.moduleOf(rectangle.frame), dark, tree.isOwn(rectangle.frame));
        context.fillRect(x, rectangle.depth * ROW + 2, Math.max(0.4, wide), ROW - 1);
        if (wide > 34) {
          context.fillStyle = isMatch ? foundInk : ink;
          write(context, fit(context, tree.shortOf(rectangle.frame), wide - 6), x + 3, rectangle.depth * ROW + 2 + ROW / 2);
        }
      }
      context.globalAlpha = 1;
    });
  };
  const at = (event) => {
    const bounds = canvas.getBoundingClientRect();
    const nanos = range.from + ((event.clientX - bounds.left) / bounds.width) * (range.to - range.from);
    const level = Math.floor((event.clientY - bounds.top - 2) / ROW);
    return rectangles.find((rectangle) => rectangle.depth === level && rectangle.from <= nanos && nanos < rectangle.to);
  };
  canvas.addEventListener('click', (event) => {
    const rectangle = at(event);
    if (rectangle) options.onrange(rectangle);
  });
  box.append(
    tipOver(canvas, (event) => {
      const found = at(event);
      return found ? `${tree.texts(found.frame)}: ${formatNanos(found.to - found.from)}` : '';
    }),
  );
  keepDrawn(canvas, box, draw);
  return {
    box,
    draw,
    setSearch: (text) => {
      search = text.trim().toLowerCase();
      draw();
    },
  };
}
