// Reads the trace's document and columns of numbers from the text in the page.

export function fromBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export async function unpack(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes a column of variable-length integers, with seven bits in a byte, the lowest first.
export function readColumn(bytes, { at, count, steps }) {
  const values = new Float64Array(count);
  let place = at;
  let last = 0;
  for (let index = 0; index < count; index += 1) {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[place];
      place += 1;
      value += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
    }
    if (steps) {
      last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      value = last;
    }
    values[index] = value;
  }
  return values;
}

// Returns the document with `column(name)`, which decodes a column at its first use.
export function readTrace(unpacked) {
  const length = new DataView(unpacked.buffer, unpacked.byteOffset).getUint32(0, true);
  const document_ = JSON.parse(new TextDecoder().decode(unpacked.subarray(4, 4 + length)));
  const numbers = unpacked.subarray(4 + length);
  const known = new Map();
  const column = (name) => {
    if (!known.has(name)) {
      const row = document_.columns[name];
      known.set(name, row ? readColumn(numbers, row) : new Float64Array(0));
    }
    return known.get(name);
  };
  const text = (name, from, to) => {
    const row = document_.columns[name];
    return new TextDecoder().decode(numbers.subarray(row.at + from, row.at + to));
  };
  return { ...document_, column, text, has: (name) => name in document_.columns };
}
