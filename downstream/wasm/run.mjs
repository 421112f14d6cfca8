// node run.mjs WASM TRACE: events and methods of a trace, read in WebAssembly.
import { readFileSync } from "node:fs";

const [program, path] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(program), {});
const { memory, room, events, top, text } = instance.exports;

const trace = readFileSync(path);
// Memory may grow, and then lies elsewhere: views of it are made anew after each call.
const place = room(trace.length);
new Uint8Array(memory.buffer).set(trace, place);

const start = performance.now();
const count = events();
const milliseconds = performance.now() - start;
const length = top();
const methods = new TextDecoder().decode(new Uint8Array(memory.buffer, text(), length));

console.log(`${Math.abs(count)} events${count < 0 ? ", not intact" : ""}`);
process.stdout.write(methods);
console.error(`the events took ${milliseconds.toFixed(1)} ms`);
