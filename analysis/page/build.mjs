#!/usr/bin/env node
// Puts the page's modules together into one file, analysis/src/page/page.html, which is checked in: building the crate
// takes no Node. `node analysis/page/build.mjs` writes it; with --check it only compares.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '..', 'src', 'page', 'page.html');

// Modules, each after those that it imports. Their names share one scope, so each must be unique.
function gather(name, done = []) {
  if (done.some((module_) => module_.name === name)) return done;
  const text = readFileSync(join(here, 'src', name), 'utf8');
  for (const [, other] of text.matchAll(/^import [^;]*from '\.\/([^']+)';$/gm)) gather(other, done);
  done.push({ name, text });
  return done;
}

const modules = gather('main.mjs');
const names = new Map();
for (const { name, text } of modules) {
  for (const [, word] of text.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)) {
    if (names.has(word)) throw new Error(`${word} is in ${names.get(word)} and in ${name}`);
    names.set(word, name);
  }
}
const body = modules
  .map(({ name, text }) => `// ${name}\n${text.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '')}`)
  .join('\n')
  .replace(/^\s*\/\/.*\n/gm, '')
  .replace(/\n{2,}/g, '\n')
  .replace(/^ +/gm, (blank) => ' '.repeat(blank.length / 2));
const script = `"use strict";(()=>{\n${body}})();\n`;
if (/<\/script/i.test(script)) throw new Error('the script would end the script');
const style = readFileSync(join(here, 'page.css'), 'utf8');
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
// Style attributes are set by the script alone, through the style object, which no policy forbids.
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
const html = readFileSync(join(here, 'shell.html'), 'utf8')
  .replace('@@POLICY@@', () => policy)
  .replace('@@STYLE@@', () => style)
  .replace('@@SCRIPT@@', () => script);

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== html) {
    console.error('analysis/src/page/page.html is not what analysis/page is: run node analysis/page/build.mjs');
    process.exit(1);
  }
} else {
  writeFileSync(target, html);
  console.log(`${html.length} bytes`);
}
