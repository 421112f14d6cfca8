// Asks Perfetto's trace processor:  node perfetto.cjs FOLDER TRACE SQL...
// FOLDER is where `install` put it. Prints one JSON document a query: a list of rows, each a list of values.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);
const node = process;

// The engine is a script for a web worker; what it misses in Node is given here.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.importScripts = () => {};
globalThis.location = {href: 'http://localhost/engine_bundle.js', pathname: '/engine_bundle.js', origin: 'http://localhost'};
globalThis.fetch = async (url) => {
  const bytes = fs.readFileSync(path.join(folder, path.basename(String(url))));
  return new Response(bytes, {headers: {'content-type': 'application/wasm'}});
};
globalThis.XMLHttpRequest = class {
  open(_method, url) { this.url = url; }
  send() {
    const bytes = fs.readFileSync(path.join(folder, path.basename(this.url)));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    this.status = 200;
    if (this.onload) this.onload();
  }
};

// The engine takes requests before its code is compiled, and fails then.
let isCompiled = false;
const compile = WebAssembly.instantiate;
WebAssembly.instantiate = async (...rest) => {
  const made = await compile.apply(WebAssembly, rest);
  isCompiled = true;
  return made;
};
// The other way wants a browser's response.
WebAssembly.instantiateStreaming = undefined;
const {Instance} = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...rest) { super(...rest); isCompiled = true; }
};

const replies = [];
let wake = () => {};
const port = {onmessage: null, postMessage: (data) => { replies.push(Buffer.from(data)); wake(); }};

// Protocol buffers, as much as is needed.
const varint = (n) => { const out = []; n = BigInt(n); while (n >= 128n) { out.push(Number(n & 127n) | 128); n >>= 7n; } out.push(Number(n)); return Buffer.from(out); };
const uint = (field, n) => Buffer.concat([varint(field << 3), varint(n)]);
const bytes = (field, data) => Buffer.concat([varint(field << 3 | 2), varint(data.length), data]);
function* fields(buffer) {
  let at = 0;
  const number = () => { let n = 0n, shift = 0n; for (;;) { const b = buffer[at++]; n |= BigInt(b & 127) << shift; if (b < 128) return n; shift += 7n; } };
  while (at < buffer.length) {
    const key = Number(number());
    const type = key & 7;
    if (type === 0) yield [key >> 3, number()];
    else if (type === 1) { yield [key >> 3, buffer.subarray(at, at + 8)]; at += 8; }
    else if (type === 2) { const length = Number(number()); yield [key >> 3, buffer.subarray(at, at + length)]; at += length; }
    else throw new Error('wire type ' + type);
  }
}

let sequence = 0;
const send = (request, ...parts) => {
  const rpc = Buffer.concat([uint(1, ++sequence), uint(2, request), ...parts]);
  port.onmessage({data: new Uint8Array(bytes(1, rpc))});
};
// The next reply that has the field.
async function reply(field) {
  for (;;) {
    while (replies.length) {
      for (const [, rpc] of fields(replies.shift())) {
        const found = [...fields(rpc)].filter(([number]) => number === field || number === 5);
        if (found.length) return {rpc, part: found.find(([number]) => number === field)};
      }
    }
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the trace processor does not answer')), 300000);
      wake = () => { clearTimeout(timer); resolve(); };
    });
  }
}

async function query(sql) {
  send(3, bytes(103, bytes(1, Buffer.from(sql))));
  const names = [];
  const cells = [];
  for (let last = false; !last;) {
    const {part} = await reply(203);
    for (const [number, value] of fields(part[1])) {
      if (number === 1) names.push(value.toString());
      if (number === 2 && value.length) throw new Error(value.toString());
      if (number !== 3) continue;
      const batch = {kinds: [], ints: [], floats: [], texts: []};
      for (const [inner, data] of fields(value)) {
        if (inner === 1) batch.kinds.push(...data);
        if (inner === 2) { for (let at = 0; at < data.length;) { let n = 0n, shift = 0n; for (;;) { const b = data[at++]; n |= BigInt(b & 127) << shift; if (b < 128) break; shift += 7n; } batch.ints.push(BigInt.asIntN(64, n)); } }
        if (inner === 3) for (let at = 0; at < data.length; at += 8) batch.floats.push(data.readDoubleLE(at));
        if (inner === 5) batch.texts.push(...data.toString().split('\0'));
        if (inner === 6) last = data !== 0n;
      }
      for (const kind of batch.kinds) {
        cells.push(kind === 1 ? null : kind === 2 ? Number(batch.ints.shift()) : kind === 3 ? batch.floats.shift() : batch.texts.shift());
      }
    }
  }
  const rows = [];
  for (let at = 0; names.length && at < cells.length; at += names.length) rows.push(cells.slice(at, at + names.length));
  return rows;
}

(async () => {
  const source = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
  const hidden = globalThis.process;
  globalThis.process = undefined;
  vm.runInThisContext(source, {filename: 'engine_bundle.js'});
  globalThis.process = hidden;
  globalThis.onmessage({data: port});
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
  for (let tries = 0; !isCompiled && tries < 1000; tries++) await pause();
  for (let tries = 0; tries < 2; tries++) await pause();
  const data = fs.readFileSync(trace);
  const step = 16 << 20;
  for (let at = 0; at < data.length; at += step) {
    send(1, bytes(101, data.subarray(at, at + step)));
    const {part} = await reply(201);
    for (const [number, value] of fields(part[1])) if (number === 2 && value.length) throw new Error(value.toString());
  }
  send(2);
  for (const sql of queries) console.log(JSON.stringify(await query(sql)));
  node.exit(0);
})().catch((error) => { console.error(String(error)); node.exit(1); });
