// Makes pages and reports of traces of testdata by the command.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromBase64, readTrace, unpack } from '../src/data.mjs';

const top = fileURLToPath(new URL('../../../', import.meta.url));
const built = ['target/release/nettrace', 'target/debug/nettrace'].map((path) => `${top}${path}`);
const command = process.env.NETTRACE ?? built.find((path) => existsSync(path));

// Returns the output of the command, which ends with 3 for a damaged trace.
export function printed(words) {
  if (!command) throw new Error('build the command with cargo build -p nettrace-cli, or set NETTRACE to one');
  try {
    return execFileSync(command, words, { cwd: top, encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    if (error.status !== 3) throw error;
    return error.stdout;
  }
}

export const htmlOf = (file) => printed(['report', 'html', '-o', '-', file]);

export const dataOf = async (html) => readTrace(await unpack(fromBase64(/ id="data">([^<]*)</.exec(html)[1])));

export const reportOf = (name, file, ...options) => JSON.parse(printed(['report', name, file, '--json', ...options]));
