// Source lines of frames, and their links.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineText, sourceUrl } from '../src/frames.mjs';

const at = (source_url, file = '/src/app/Program.cs') => ({ file, line: 7, ...(source_url && { source_url }) });

test('a frame has the name of its file and its line', () => {
  const line = [at(), at(null, 'C:\\src\\A b.cs'), { ...at(), first_line: true }, null];
  assert.deepEqual(
    line.map((_, frame) => lineText({ line }, frame)),
    ['Program.cs:7', 'A b.cs:7', 'Program.cs:7+', ''],
  );
  assert.equal(lineText({}, 0), '');
});

test('only addresses of the web are links', () => {
  const line = [at('https://example.com/1'), at('HTTP://example.com/1'), at('javascript:alert(1)'), at('file:///etc/passwd'), at(), null];
  assert.deepEqual(
    line.map((_, frame) => sourceUrl({ line }, frame)),
    ['https://example.com/1', 'HTTP://example.com/1', null, null, null, null],
  );
  assert.equal(sourceUrl({}, 0), null);
});
