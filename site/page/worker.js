'use strict';
// Does one task in a memory of its own: loads the program, lets it read files piece by piece, and sends what it makes to the page.

// Bytes that are read at a time.
const PIECE_BYTES = 4 << 20;

onmessage = async ({ data: { program, files, task } }) => {
  const reader = new FileReaderSync();
  const pieces = files.map(() => ({ start: 0, bytes: new Uint8Array(0) }));
  const parts = [];
  let memory = null;
  let failure = null;
  // Addresses and lengths come as signed numbers.
  const bytes = (address, length) => new Uint8Array(memory.buffer, address >>> 0, length >>> 0);

  function piece_at(number, offset) {
    const piece = pieces[number];
    const end = piece.start + piece.bytes.length;
    if (offset >= piece.start && offset < end) return piece;
    const file = files[number];
    const next = { start: offset, bytes: new Uint8Array(reader.readAsArrayBuffer(file.slice(offset, offset + PIECE_BYTES))) };
    pieces[number] = next;
    // The file's end is looked at before it is read.
    if (offset === 0 || offset === end) postMessage({ file: number, done: offset + next.bytes.length });
    return next;
  }

  const functions = {
    read_file(number, offset, address, length) {
      try {
        const piece = piece_at(number, offset);
        const from = offset - piece.start;
        const part = piece.bytes.subarray(from, from + (length >>> 0));
        bytes(address, part.length).set(part);
        return part.length;
      } catch {
        return -1;
      }
    },
    take_result(address, length) {
      parts.push(bytes(address, length).slice());
    },
    take_failure(address, length) {
      failure ??= new TextDecoder().decode(bytes(address, length));
    },
  };

  const began = performance.now();
  let code = 1;
  try {
    const { exports } = await WebAssembly.instantiate(program, { env: functions });
    memory = exports.memory;
    const asked = new TextEncoder().encode(JSON.stringify({ task, files: files.map(({ name, size }) => ({ name, bytes: size })) }));
    const room = exports.room(asked.length);
    bytes(room, asked.length).set(asked);
    code = exports.run();
  } catch (error) {
    failure ??= `this took more memory than a browser gives, or it is a defect of nettrace: ${error}`;
  }
  const memory_bytes = memory?.buffer.byteLength ?? 0;
  const result = failure === null ? new Blob(parts) : null;
  postMessage({ result, failure, code, memory_bytes, milliseconds: performance.now() - began });
};
