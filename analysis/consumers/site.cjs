// Uses the page of `cargo xtask site` in a headless Chromium as people do, and prints what it showed:
//   node site.cjs FOLDER OUT STEPS [FOLDER FOR PICTURES]
// FOLDER: what `cargo xtask site` wrote. STEPS: JSON, a list of { from, files, as, cancel }. from: "server" or "file".
// files: traces that are dropped, by their paths. as: names of formats in which the trace is saved, too. cancel: the reading is
// given up. What the page saves goes to OUT/NUMBER, a folder for each step.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { inBrowser, noteAxe, noteWidth } = require('./browser.cjs');

const [folder, out, steps_text, pictures] = process.argv.slice(2);
const TYPES = { '.html': 'text/html', '.gz': 'application/gzip' };

// Serves the folder as a host of files does. Every request is noted.
function serve(asked) {
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const file = path.join(folder, request.url === '/' ? 'index.html' : path.basename(request.url));
    if (!fs.existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    fs.createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function saved(at) {
  for (;;) {
    const names = fs.existsSync(at) ? fs.readdirSync(at) : [];
    if (names.length > 0 && names.every((name) => !name.endsWith('.crdownload') && !name.startsWith('.'))) return path.join(at, names[0]);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function drop(page, session, files) {
  const place = await (await page.$('#drop')).boundingBox();
  const [x, y] = [place.x + 40, place.y + 40];
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, x, y, data });
}

async function step(page, session, address, { files, as = [], cancel }, at, seen) {
  const picture = async (name) => pictures && page.screenshot({ path: path.join(pictures, `${path.basename(at)}-${name}.png`) });
  const save = async (name, press) => {
    const to = path.join(at, name);
    fs.mkdirSync(to, { recursive: true });
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: to });
    await press();
    return saved(to);
  };
  const view = (names) => page.waitForFunction((names) => names.includes(document.documentElement.dataset.view), {}, names);
  const found = {};
  await page.goto('about:blank');
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
  await picture('start');
  await noteAxe(page, seen, 'start');
  await noteWidth(page, seen, 'start');
  const began = Date.now();
  if (cancel) {
    // Before the worker can be done.
    await page.evaluate(() => {
      const seen = new MutationObserver(() => {
        if (document.documentElement.dataset.view !== 'work') return;
        seen.disconnect();
        document.getElementById('cancel').click();
        window.cancelled = true;
      });
      seen.observe(document.documentElement, { attributes: true });
    });
  }
  await drop(page, session, files);
  if (cancel) {
    await page.waitForFunction(() => window.cancelled);
    await view(['start']);
    return { cancelled: true };
  }
  if (files.length > 1) {
    await view(['several']);
    found.sides = await page.$$eval('#sides tr', (rows) => rows.map((row) => [row.cells[0].textContent, row.querySelector('select').value]));
    await picture('several');
    await noteAxe(page, seen, 'several');
    await page.click('#compare');
  }
  await page.waitForFunction(() => document.documentElement.dataset.view === 'result' || !document.getElementById('failure').hidden);
  found.failure = await page.$eval('#failure', (place) => (place.hidden ? null : place.textContent));
  if (found.failure !== null) {
    await picture('failure');
    return found;
  }
  const frame = await (await page.$('#result')).contentFrame();
  await frame.waitForSelector('html[data-ready]');
  found.shown_ms = Date.now() - began;
  const text = async (id) => (await frame.$(id)) && frame.$eval(id, (place) => place.textContent);
  Object.assign(found, await page.$eval('#bar', (bar) => ({ milliseconds: Number(bar.dataset.milliseconds), memory: Number(bar.dataset.memory), code: Number(bar.dataset.code) })));
  found.title = await text('h1');
  found.faults = await text('#faults');
  found.events = (await frame.$('#events')) && (await frame.$eval('#events', (place) => Number(place.dataset.value)));
  await picture('result');
  found.page = await save('page', () => page.click('#save'));
  found.saved = {};
  for (const format of as) {
    found.saved[format] = await save(format, () => page.select('#formats', format));
    await view(['result']);
  }
  return found;
}

const single = path.resolve(folder, 'nettrace.html');
inBrowser(single, async (page, seen) => {
  const asked = [];
  const server = await serve(asked);
  const origin = `http://127.0.0.1:${server.address().port}/`;
  const session = await page.createCDPSession();
  await page.setViewport({ width: 1300, height: 900 });
  seen.steps = [];
  for (const [number, one] of JSON.parse(steps_text).entries()) {
    const address = one.from === 'server' ? origin : `file://${single}`;
    seen.steps.push(await step(page, session, address, one, path.join(out, String(number)), seen));
  }
  seen.asked = [...new Set(asked)];
  seen.requests = seen.requests.filter((url) => !url.startsWith('blob:') && !url.startsWith(origin));
  server.closeAllConnections();
  server.close();
});
