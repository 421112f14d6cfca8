// What is known of frames, by their numbers in the page's table of them: their texts are for readers.

// The number of the frame with a text, which no two have; null if the page has none. Documents of reports have texts alone.
export function frameNumber(trace, text) {
  trace.numbers ??= new Map(trace.frames.text.map((own, frame) => [own, frame]));
  return trace.numbers.get(text) ?? null;
}

// `Type.Method`: what fits into a rectangle.
export const shortText = ({ text, type, method }, frame) => [type[frame], method[frame]].filter(Boolean).join('.') || text[frame];

// The module of a frame that has a name.
export const moduleText = ({ module: modules, named }, frame) => (named?.[frame] === 0 ? '' : modules[frame]);

// Whether a name is that of a namespace, a module or a type, or of something in it.
const isIn = (name, outer) => name === outer || name.startsWith(`${outer}.`);

// Whether a name is one of .NET's, as far as modules and types of a heap tell.
export const isOfFramework = (name) => ['System', 'Microsoft', 'Interop', 'mscorlib'].some((outer) => isIn(name, outer));

// Whether a call is of the runtime's threading library, or of what starts and resumes async methods.
function isThreading({ module: modules, namespace, type, carrier }, frame) {
  const isInterop = modules[frame] === 'System.Private.CoreLib' && namespace[frame] === '' && isIn(type[frame], 'Interop');
  return carrier[frame] === 1 || isIn(namespace[frame], 'System.Threading') || isInterop;
}

// Where the program waits: the innermost call outside of the threading library. Frames are innermost first.
export const ownFrame = (trace, frames) => frames.find((frame) => !isThreading(trace.frames, frame)) ?? frames[0] ?? null;

// The text of that frame among texts, as documents of reports have them.
export function ownText(trace, texts) {
  const isOwn = (frame) => frame === null || !isThreading(trace.frames, frame);
  return texts.find((text) => isOwn(frameNumber(trace, text))) ?? texts[0] ?? '';
}

export const frameText = (trace, frame) => (frame === null ? '' : trace.frames.text[frame]);
