// Samples added up as trees of calls. This module touches no element of the page.
import { moduleText, nameText, shortText } from './frames.mjs';
import { columnsOf, eachSample } from './ranges.mjs';
import { hasTransforms, ownFrames, transformOf } from './transforms.mjs';

// Returns the samples of a kind as a tree of calls, with nodes after their parents, and node 0 for the sum. `transforms` are the route's
// options for frames. With `inverted`, the innermost call is at the root. With `spans`, only samples of these threads and times count, with
// `endpoint` only those of its requests.
export function callTree(
  trace,
  kind,
  {
    range = null,
    thread = null,
    states = 'running',
    byThread = false,
    transforms = {},
    inverted = false,
    spans = null,
    endpoint = null,
  } = {},
) {
  const base = baseNodes(trace);
  const [times, threads, leaves, labelOf] = columnsOf(trace, kind, ['t', 'thread', 'node', 'label']);
  const labels = trace.kinds[kind]?.labels || [];
  const self = new Map();
  const width = labels.length + 1;
  const isIn = (row) => !spans || spans.some((span) => span.thread === threads[row] && span.from <= times[row] && times[row] < span.to);
  let waitingWeight = 0;
  const recording = { weight: 0, samples: 0 };
  if (trace.column(`${kind}.state`).length)
    eachSample(trace, kind, { range, thread, states: 'waiting', endpoint }, (row, weight) => (waitingWeight += isIn(row) ? weight : 0));
  eachSample(trace, kind, { range, thread, states, endpoint }, (row, weight, samples) => {
    if (!isIn(row)) return;
    const key = leaves[row] * width + (labelOf.length ? labelOf[row] : 0);
    const group = byThread ? threads[row] : 0;
    let own = self.get(group);
    if (!own) self.set(group, (own = new Map()));
    const sum = own.get(key);
    if (sum) {
      sum[0] += weight;
      sum[1] += samples;
    } else own.set(key, [weight, samples]);
  });
  const builder = new TreeBuilder();
  const [named, labelled] = [trace.frames.text.length, trace.frames.text.length + labels.length];
  const groups = labelled + (trace.threads?.length ?? 0);
  const transform = hasTransforms(transforms) ? transformOf(trace, transforms, groups) : null;
  const paths = new Map();
  // Returns the shown frames of a node, outermost first; null if the stack is left out.
  const pathOf = (node) => {
    if (!paths.has(node)) {
      const frames = [];
      for (let up = node; up !== 0; up = base.parent[up]) frames.push(base.frame[up]);
      frames.reverse();
      const path = transform ? transform.apply(frames) : frames;
      paths.set(node, inverted ? (path?.reverse() ?? null) : path);
    }
    return paths.get(node);
  };
  for (const [group, own] of self) {
    // With `byThread`, the thread is the outermost frame of its calls.
    const root = byThread ? builder.child(0, labelled + group) : 0;
    for (const [key, [weight, samples]] of own) {
      const label = key % width;
      const leaf = (key - label) / width;
      const path = pathOf(leaf);
      if (!path) continue;
      if (leaf === trace.kinds[kind]?.recording) {
        recording.weight += weight;
        recording.samples += samples;
      }
      let node = root;
      // The type of an allocation or exception is the innermost frame.
      if (label > 0 && inverted) node = builder.child(node, named + label - 1);
      for (const frame of path) node = builder.child(node, frame);
      if (label > 0 && !inverted) node = builder.child(node, named + label - 1);
      builder.add(node, weight, samples);
    }
  }
  const verb = kind === 'exceptions' ? 'throw' : 'new';
  const texts = (frame) => {
    if (frame < named) return nameText(trace.frames, frame);
    if (frame < labelled) return `${verb} ${labels[frame - named]}`;
    return frame < groups ? (trace.threads[frame - labelled]?.label ?? 'a thread') : transform.names[frame - groups];
  };
  // Returns the kind of a frame of the tree.
  const sortOf = (frame) => (frame < named ? 'method' : frame < labelled ? 'type' : frame < groups ? 'thread' : 'group');
  const own = ownFrames(trace, transforms.own);
  return builder.finish({
    texts,
    sortOf,
    shortOf: (frame) => (frame < named ? shortText(trace.frames, frame) : texts(frame)),
    // Returns the text by which frames have a hue.
    moduleOf: (frame) => (frame < named ? moduleText(trace.frames, frame) : sortOf(frame) === 'type' ? '\u0001' : ''),
    // Returns the type of an allocation or exception, or the number of a thread.
    labelOf: (frame) => labels[frame - named],
    threadOf: (frame) => frame - labelled,
    // An address without a name and labels such as `(recording)` are nobody's code.
    isOwn: (frame) => Boolean(own[frame]) && !trace.frames.nobody[frame],
    inverted,
    waitingWeight,
    // What percentages leave out: work of the recording, by the readings of threads.
    recording,
    unit: trace.kinds[kind]?.unit || 'count',
  });
}

// Returns the nodes of all stacks. Columns begin with node 1, because node 0 is the root.
export function baseNodes(trace) {
  if (!trace.base) {
    trace.base = { parent: [0, ...trace.column('nodes.parent')], frame: [-1, ...trace.column('nodes.frame')] };
  }
  return trace.base;
}

export class TreeBuilder {
  constructor() {
    this.parent = [0];
    this.frame = [-1];
    this.self = [0];
    this.selfSamples = [0];
    this.known = new Map();
  }

  child(parent, frame) {
    const key = parent * 4194304 + frame;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.parent.length;
      this.known.set(key, node);
      this.parent.push(parent);
      this.frame.push(frame);
      this.self.push(0);
      this.selfSamples.push(0);
    }
    return node;
  }

  add(node, weight, samples) {
    this.self[node] += weight;
    this.selfSamples[node] += samples;
  }

  finish(more) {
    const { parent, frame, self, selfSamples } = this;
    const total = Float64Array.from(self);
    const totalSamples = Float64Array.from(selfSamples);
    const children = Array.from({ length: parent.length }, () => null);
    for (let node = parent.length - 1; node > 0; node -= 1) {
      total[parent[node]] += total[node];
      totalSamples[parent[node]] += totalSamples[node];
    }
    for (let node = 1; node < parent.length; node += 1) (children[parent[node]] ||= []).push(node);
    for (const list of children) list?.sort((a, b) => total[b] - total[a] || a - b);
    return { parent, frame, self, selfSamples, total, totalSamples, children, ...more };
  }
}

// Returns the self and total weight of each frame. Recursion counts once.
export const methodSums = (tree) =>
  groupSums(tree, (frame) => frame)
    .map(({ name, ...sums }) => ({ frame: name, ...sums }))
    .sort((a, b) => b.self - a.self || b.selfSamples - a.selfSamples || b.total - a.total);

// Visits all nodes but the root; `open` counts how often each frame is on the path to a node, itself included.
function walk(tree, visit, root = 0, key = (frame) => frame) {
  const open = new Map();
  const stack = [[root, 0]];
  while (stack.length) {
    const top = stack[stack.length - 1];
    const [node, next] = top;
    if (next === 0 && node !== 0) {
      const name = key(tree.frame[node]);
      open.set(name, (open.get(name) || 0) + 1);
      visit(node, open);
    }
    const child = tree.children[node]?.[next];
    top[1] += 1;
    if (child !== undefined) stack.push([child, 0]);
    else {
      stack.pop();
      if (node !== 0) {
        const name = key(tree.frame[node]);
        open.set(name, open.get(name) - 1);
      }
    }
  }
}

// Returns the self and total weight of groups, such as modules. `key(frame)` returns the name of a frame's group.
export function groupSums(tree, key) {
  const rows = new Map();
  walk(
    tree,
    (node, open) => {
      const name = key(tree.frame[node]);
      let sums = rows.get(name);
      if (!sums) rows.set(name, (sums = { name, self: 0, total: 0, selfSamples: 0, totalSamples: 0 }));
      sums.self += tree.self[node];
      sums.selfSamples += tree.selfSamples[node];
      if (open.get(name) === 1) {
        sums.total += tree.total[node];
        sums.totalSamples += tree.totalSamples[node];
      }
    },
    0,
    key,
  );
  return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

// Returns the callers and the callees of a frame, as two trees with the frame as their root. In recursion, the outermost call counts.
export function sandwich(tree, frame) {
  const callers = new TreeBuilder();
  const callees = new TreeBuilder();
  const under = new Map();
  walk(tree, (node, open) => {
    if (tree.frame[node] === frame && open.get(frame) === 1) {
      let up = callers.child(0, frame);
      for (let caller = tree.parent[node]; caller !== 0; caller = tree.parent[caller]) up = callers.child(up, tree.frame[caller]);
      callers.add(up, tree.total[node], tree.totalSamples[node]);
      under.set(node, callees.child(0, frame));
    } else if (under.has(tree.parent[node])) {
      under.set(node, callees.child(under.get(tree.parent[node]), tree.frame[node]));
    }
    if (under.has(node)) callees.add(under.get(node), tree.self[node], tree.selfSamples[node]);
  });
  const { texts, sortOf, shortOf, moduleOf, isOwn, unit } = tree;
  const more = { texts, sortOf, shortOf, moduleOf, isOwn, unit };
  return { callers: callers.finish(more), callees: callees.finish(more) };
}

// Returns the samples of a thread in time order as rectangles. A frame of several samples in a row is one rectangle.
export function stacksOverTime(trace, kind, thread, { range = null, states = 'running', endpoint = null } = {}) {
  const base = baseNodes(trace);
  const [times, leaves] = columnsOf(trace, kind, ['t', 'node']);
  const rectangles = [];
  let open = [];
  let lastEnd = -Infinity;
  eachSample(trace, kind, { range, thread, states, endpoint }, (row, weight) => {
    const path = [];
    for (let node = leaves[row]; node !== 0; node = base.parent[node]) path.push(node);
    path.reverse();
    const until = times[row] + weight;
    let same = 0;
    // The sampler's intervals vary a little, so frames that are less than half an interval apart are joined.
    if (times[row] - lastEnd <= weight / 2) while (same < path.length && same < open.length && open[same].node === path[same]) same += 1;
    for (let depth = 0; depth < same; depth += 1) open[depth].to = until;
    open = open.slice(0, same);
    for (let depth = same; depth < path.length; depth += 1) {
      const rectangle = { node: path[depth], frame: base.frame[path[depth]], depth, from: times[row], to: until };
      rectangles.push(rectangle);
      open.push(rectangle);
    }
    lastEnd = until;
  });
  return rectangles;
}
