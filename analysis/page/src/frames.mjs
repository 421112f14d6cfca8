// Names and kinds of frames, by their numbers in the page's table of frames. Decisions use these columns; texts of frames are only for
// readers.

// Returns the number of the frame with a text, which is unique; null if there is no such frame. Documents of reports have only texts.
export function frameNumber(trace, text) {
  trace.numbers ??= new Map(trace.frames.text.map((own, frame) => [own, frame]));
  return trace.numbers.get(text) ?? null;
}

// Returns the name of a frame for readers: that of the endpoint, if the method is its handler.
export const nameText = ({ text, handler }, frame) => handler?.[frame] ?? text[frame];

// Returns the source line of a frame, such as `Program.cs:33`; an empty text if it is not known.
export function lineText({ line: lines }, frame) {
  const at = lines?.[frame];
  return at ? `${at.file.split(/[/\\]/).pop()}:${at.line}${at.first_line ? '+' : ''}` : '';
}

// Returns the address of the source file of a frame, by Source Link; null if it has none that a browser opens as a page.
export function sourceUrl({ line: lines }, frame) {
  const url = lines?.[frame]?.source_url ?? null;
  return url !== null && /^https?:\/\//i.test(url) ? url : null;
}

// Returns a name that fits into a rectangle: `Type.Method`, or the endpoint.
export const shortText = ({ text, type, method, handler }, frame) =>
  handler?.[frame] ?? ([type[frame], method[frame]].filter(Boolean).join('.') || text[frame]);

// Returns the module of a frame; an empty text for a frame without a name.
export const moduleText = ({ module: modules, named }, frame) => (named?.[frame] === 0 ? '' : modules[frame]);

// Returns whether a name is `outer`, or is inside of it.
const isIn = (name, outer) => name === outer || name.startsWith(`${outer}.`);

// Returns whether a module or type of a heap is .NET's, by its name.
export const isOfFramework = (name) => ['System', 'Microsoft', 'Interop', 'mscorlib'].some((outer) => isIn(name, outer));

// Returns whether a frame belongs to the threading library, or starts or resumes async methods.
function isThreading({ module: modules, namespace, type, carrier }, frame) {
  const isInterop = modules[frame] === 'System.Private.CoreLib' && namespace[frame] === '' && isIn(type[frame], 'Interop');
  return carrier[frame] === 1 || isIn(namespace[frame], 'System.Threading') || isInterop;
}

// Returns the frame in which the program waits: the innermost outside of the threading library. `frames` has the innermost first.
export const ownFrame = (trace, frames) => frames.find((frame) => !isThreading(trace.frames, frame)) ?? frames[0] ?? null;

// Returns the text of the frame in which the program waits, from a stack of texts of a report's document.
export function ownText(trace, texts) {
  const isOwn = (frame) => frame === null || !isThreading(trace.frames, frame);
  const found = texts.find((text) => isOwn(frameNumber(trace, text))) ?? texts[0] ?? '';
  const frame = frameNumber(trace, found);
  return frame === null ? found : nameText(trace.frames, frame);
}

export const frameText = (trace, frame) => (frame === null ? '' : nameText(trace.frames, frame));
