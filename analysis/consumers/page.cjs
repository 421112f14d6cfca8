// Opens a page of `nettrace report html` in a headless Chromium, goes through its views as people do, and prints what is
// then seen:
//   node page.cjs FILE.html FROM TO [FOLDER FOR PICTURES]
// FROM and TO: a range in nanoseconds.
'use strict';
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));
const axePath = path.join(home, 'node_modules/axe-core/axe.min.js');
const fs = require('fs');

const VIEWS = ['overview', 'cpu', 'gc', 'exceptions', 'contention', 'waits', 'threads', 'pool', 'jit', 'requests', 'logs', 'counters', 'events'];

async function main(file, from, to, pictures) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: ['--no-sandbox'], timeout: 120000, protocolTimeout: 300000,
  }).catch((error) => {
    // Not the file's fault: exit code 75 says that nothing was tried.
    console.error('no browser: ' + error);
    process.exit(75);
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120000);
    const seen = { errors: [], requests: [], wide: [], axe: [] };
    page.on('pageerror', (error) => seen.errors.push(String(error)));
    page.on('console', (message) => seen.errors.push(message.text()));
    page.on('request', (request) => {
      if (request.url() !== 'about:blank' && !request.url().startsWith('file://' + file) && !request.url().startsWith('data:')) seen.requests.push(request.url());
    });
    const open = async (hash) => {
      await page.goto('about:blank');
      const began = Date.now();
      await page.goto('file://' + file + hash);
      await page.waitForSelector('html[data-ready]');
      return Date.now() - began;
    };
    const settle = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const value = (id) => page.evaluate((id) => {
      const place = document.getElementById(id);
      return place ? Number(place.dataset.value) : null;
    }, id);
    const hash = () => page.evaluate(() => location.hash);
    const shot = async (name) => pictures && page.screenshot({ path: path.join(pictures, name + '.png') });
    const rows = (caption) => page.evaluate((caption) => {
      const table = [...document.querySelectorAll('table')].find((one) => one.caption && one.caption.textContent.startsWith(caption));
      return table ? [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : cell.textContent))) : null;
    }, caption);
    const all = async () => {
      for (;;) {
        const more = await page.evaluate(() => {
          const button = document.querySelector('.more button');
          button?.click();
          return Boolean(button);
        });
        if (!more) return;
      }
    };
    await page.setViewport({ width: 1300, height: 900 });

    seen.opened_ms = await open('');
    seen.overview = { events: await value('events'), threads: await value('threads'), duration: await value('duration'), lost: await page.$eval('#lost', (place) => place.textContent), findings: await page.$$eval('.findings li', (items) => items.map((item) => item.textContent)), notices: await page.evaluate(() => document.getElementById('notices')?.textContent ?? '') };
    await shot('overview');

    // The numbers, of the whole trace and of a range that stands in the address.
    const methods = async (range) => {
      await open('#view=cpu&tab=top' + range);
      await all();
      return { counted: await value('counted'), samples: await value('samples'), waiting: await value('waiting'), rows: await rows('Methods') };
    };
    seen.methods = await methods('');
    seen.methods_in_range = await methods(`&from=${from}&to=${to}`);
    await open('#view=gc');
    seen.gc = { count: await value('gc-count'), pause: await value('gc-pause'), max: await value('gc-max'), p99: await value('gc-p99') };
    await open('#view=exceptions');
    seen.exceptions = { count: await value('exceptions-count'), types: await rows('By type') };
    await open('#view=contention');
    seen.contention = { count: await value('contention-count'), total: await value('contention-total'), locks: await rows('By lock') };
    await open('#view=counters');
    await all();
    seen.counters = await rows('Counters');
    await open('#view=requests');
    seen.requests_count = await value('activities-started');
    await open('#view=events');
    seen.events = await page.$eval('#events-count', (place) => Number(place.textContent.replace(/,/g, '')));

    // Brushing.
    await open('#view=cpu&tab=top');
    const lanes = await (await page.$('canvas.lanes')).boundingBox();
    await page.mouse.move(lanes.x + 300, lanes.y + 40);
    await page.mouse.down();
    await page.mouse.move(lanes.x + 400, lanes.y + 40, { steps: 4 });
    await page.mouse.move(lanes.x + 500, lanes.y + 40, { steps: 4 });
    await page.mouse.up();
    await settle();
    seen.brushed = { hash: await hash(), counted: await value('counted') };
    await page.goBack();
    await settle();
    seen.brushed.back = await value('counted');
    await page.focus('canvas.lanes');
    await page.keyboard.press('ArrowRight');
    seen.brushed.by_key = await hash();
    await page.keyboard.press('Escape');
    seen.brushed.escaped = await hash();

    // Search and zoom in the flame graph.
    await open('#view=cpu');
    await page.keyboard.press('/');
    await page.keyboard.type('program');
    await settle();
    seen.flame = { found: await page.$eval('#found', (place) => place.textContent), hash: await hash() };
    await shot('flame-search');
    const graph = await page.$('canvas.flame');
    seen.flame.rectangles = await graph.evaluate((canvas) => Number(canvas.dataset.rectangles));
    const box = await graph.boundingBox();
    await page.mouse.click(box.x + 100, box.y + 30);
    await settle();
    seen.flame.zoomed = { root: await page.$eval('canvas.flame', (canvas) => canvas.dataset.root), hash: await hash() };
    await shot('flame-zoom');
    await page.goBack();
    await settle();
    seen.flame.back = await page.$eval('canvas.flame', (canvas) => canvas.dataset.root);
    await page.focus('canvas.flame');
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    seen.flame.by_key = await page.$eval('canvas.flame', (canvas) => canvas.dataset.root);
    seen.flame.chosen = await page.$eval('#chosen', (place) => place.textContent);
    seen.flame.said = await page.$eval('#live', (place) => place.textContent);
    await page.keyboard.press('Escape');
    seen.flame.escaped = await page.$eval('canvas.flame', (canvas) => canvas.dataset.root);
    await open('#view=cpu&tab=sandwich&focus=' + encodeURIComponent(seen.methods.rows?.[0]?.[0] ?? ''));
    seen.flame.focus = await page.$eval('#focus', (place) => place.value);
    seen.flame.callers = await rows('Callers');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('3');
    await settle();
    seen.by_number = await page.$eval('main', (place) => place.dataset.view);

    // Every view: wide and narrow, in both colour schemes, for people who cannot see it.
    const axe = fs.existsSync(axePath) ? fs.readFileSync(axePath, 'utf8') : null;
    seen.has_axe = axe !== null;
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const width of [400, 1300, 2000]) {
        await page.setViewport({ width, height: 900 });
        for (const view of VIEWS) {
          if (scheme === 'dark' && width === 2000) continue;
          await open('#view=' + view);
          await settle();
          const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
          if (over > 0) seen.wide.push(`${view} at ${width}: ${over} pixels too wide`);
          await shot(`${view}-${scheme}-${width}`);
          if (axe && width === 1300) {
            await page.evaluate(axe);
            const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
            for (const rule of found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))) {
              seen.axe.push(`${view}, ${scheme}: ${rule.id}: ${rule.nodes[0].html.slice(0, 160)} ${rule.nodes[0].failureSummary.slice(0, 200)}`);
            }
          }
        }
      }
    }
    await page.emulateMediaFeatures([]);
    seen.hacked = await page.evaluate(() => typeof window.hacked !== 'undefined' || document.images.length > 0 || document.querySelector('main b, main iframe, main script') !== null);
    console.log(JSON.stringify(seen));
  } finally {
    await browser.close();
  }
}

const [file, from, to, pictures] = process.argv.slice(2);
main(path.resolve(file), from, to, pictures).catch((error) => {
  console.error(error);
  process.exit(1);
});
