// Unpacks gzip where the browser has no DecompressionStream.

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

// How many codes there are of each length, and the symbols in the order of their codes.
function codeTable(lengths) {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length] += 1;
  counts[0] = 0;
  const offsets = new Uint16Array(16);
  for (let bits = 1; bits < 16; bits += 1) offsets[bits] = offsets[bits - 1] + counts[bits - 1];
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length > 0) {
      symbols[offsets[length]] = symbol;
      offsets[length] += 1;
    }
  });
  return { counts, symbols };
}

// The content of a gzip file, whose length stands in its last four bytes.
export function gunzip(packed) {
  let at = 10;
  const flags = packed[3];
  const skipText = () => {
    while (packed[at] !== 0) at += 1;
    at += 1;
  };
  if (flags & 4) at += 2 + packed[at] + packed[at + 1] * 256;
  if (flags & 8) skipText();
  if (flags & 16) skipText();
  if (flags & 2) at += 2;
  const end = packed.length - 4;
  const size = packed[end] + packed[end + 1] * 256 + packed[end + 2] * 65536 + packed[end + 3] * 16777216;
  const out = new Uint8Array(size);
  let filled = 0;
  let hold = 0;
  let held = 0;
  const bits = (count) => {
    while (held < count) {
      if (at >= packed.length) throw new Error('the page is cut short');
      hold |= packed[at] << held;
      at += 1;
      held += 8;
    }
    const value = hold & ((1 << count) - 1);
    hold >>>= count;
    held -= count;
    return value;
  };
  const symbol = (table) => {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length < 16; length += 1) {
      code |= bits(1);
      const count = table.counts[length];
      if (code - first < count) return table.symbols[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error('the page is damaged');
  };
  const block = (lengths, distances) => {
    for (;;) {
      const letter = symbol(lengths);
      if (letter === 256) return;
      if (letter < 256) {
        out[filled] = letter;
        filled += 1;
        continue;
      }
      const length = LENGTH_BASE[letter - 257] + bits(LENGTH_BITS[letter - 257]);
      const step = symbol(distances);
      const back = DISTANCE_BASE[step] + bits(DISTANCE_BITS[step]);
      for (let copied = 0; copied < length; copied += 1) {
        out[filled] = out[filled - back];
        filled += 1;
      }
    }
  };
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      hold = 0;
      held = 0;
      const length = packed[at] + packed[at + 1] * 256;
      out.set(packed.subarray(at + 4, at + 4 + length), filled);
      at += 4 + length;
      filled += length;
    } else if (kind === 1) {
      const lengths = Array.from({ length: 288 }, (_, code) => (code < 144 ? 8 : code < 256 ? 9 : code < 280 ? 7 : 8));
      block(codeTable(lengths), codeTable(Array(30).fill(5)));
    } else {
      const literals = bits(5) + 257;
      const distances = bits(5) + 1;
      const codes = bits(4) + 4;
      const lengths = Array(19).fill(0);
      for (let code = 0; code < codes; code += 1) lengths[CODE_ORDER[code]] = bits(3);
      const table = codeTable(lengths);
      const all = [];
      while (all.length < literals + distances) {
        const letter = symbol(table);
        if (letter < 16) all.push(letter);
        else {
          const repeated = letter === 16 ? all[all.length - 1] : 0;
          const times = letter === 16 ? 3 + bits(2) : letter === 17 ? 3 + bits(3) : 11 + bits(7);
          for (let time = 0; time < times; time += 1) all.push(repeated);
        }
      }
      block(codeTable(all.slice(0, literals)), codeTable(all.slice(literals)));
    }
  }
  return out;
}
