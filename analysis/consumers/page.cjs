// Opens a page of `nettrace report html` in a headless Chromium, goes through its views as people do, and prints what is
// then seen:
//   node page.cjs FILE.html FROM TO [FOLDER FOR PICTURES | numbers]
// FROM and TO: a range in nanoseconds. numbers: only what the views say, not how it looks at all widths.
'use strict';
const path = require('path');
const { inBrowser, noteAxe, noteWidth } = require('./browser.cjs');

const VIEWS = ['overview', 'cpu', 'gc', 'heap', 'exceptions', 'contention', 'waits', 'threads', 'pool', 'tasks', 'jit', 'requests', 'logs', 'counters', 'events'];

async function look(page, seen, { file, from, to, pictures }) {
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
  const shot = async (name) => pictures && pictures !== 'numbers' && page.screenshot({ path: path.join(pictures, name + '.png') });
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
  seen.overview = { events: await value('events'), threads: await value('threads'), duration: await value('duration'), lost: await page.$eval('#lost', (place) => place.textContent), findings: await page.$$eval('.findings li', (items) => items.map((item) => item.querySelector('a').textContent)), next: await page.$$eval('.findings .next', (items) => items.map((item) => item.textContent)), notices: await page.evaluate(() => document.getElementById('notices')?.textContent ?? '') };
  await shot('overview');

  // The numbers, of the whole trace and of a range that stands in the address.
  const methods = async (range) => {
    await open('#view=cpu&tab=top' + range);
    await all();
    return { counted: await value('counted'), samples: await value('samples'), waiting: await value('waiting'), rows: await rows('Methods') };
  };
  seen.methods = await methods('');
  seen.methods_in_range = await methods(`&from=${from}&to=${to}`);
  seen.methods_folded = await methods('&async=1');
  seen.methods_of_mine = await methods('&mine=1');
  // Each kind of stacks, and each way to group them.
  seen.kinds = {};
  await open('#view=cpu');
  const kinds = await page.evaluate(() => [...(document.getElementById('kind')?.options ?? [])].map((option) => option.value));
  const only = await page.evaluate(() => document.querySelector('.stacks')?.dataset.kind);
  for (const kind of kinds.length ? kinds : only ? [only] : []) {
    const own = (seen.kinds[kind] = {});
    for (const tab of ['top', 'modules', 'namespaces', 'threads', 'types']) {
      await open(`#view=cpu&kind=${kind}&tab=${tab}`);
      await all();
      own.counted = await value('counted');
      own.samples = await value('samples');
      own[tab] = (await page.$(`#tab-${tab}`)) ? await rows({ top: 'Methods', modules: 'Modules', namespaces: 'Namespaces', threads: 'Threads', types: 'Types' }[tab]) : null;
    }
    await open(`#view=cpu&kind=${kind}&by_thread=1`);
    own.by_thread = await page.evaluate(() => ({ rectangles: Number(document.querySelector('canvas.flame').dataset.rectangles), counted: Number(document.getElementById('counted').dataset.value), pressed: document.getElementById('bythread').getAttribute('aria-pressed') }));
    await open(`#view=cpu&kind=${kind}&by_thread=1&tab=tree`);
    own.tree_by_thread = (await rows('Call tree')).length;
    await open(`#view=cpu&kind=${kind}&recursion=1`);
    own.without_recursion = await value('counted');
    await open(`#view=cpu&kind=${kind}&tab=sandwich`);
    own.callers = (await rows('Callers'))?.length ?? 0;
  }
  seen.states = {};
  for (const state of ['managed', 'native', 'waiting', 'all']) {
    await open('#view=cpu&kind=cpu&states=' + state);
    seen.states[state] = { counted: await value('counted'), samples: await value('samples') };
  }
  await open(`#view=overview&from=${from}&to=${to}`);
  seen.range = { cpu: await value('range-cpu'), gc: await value('range-gc'), exceptions: await value('range-exceptions') };
  await open('#view=waits');
  seen.waits = { count: await value('waits-count'), total: await value('waits-total') };
  await open('#view=pool');
  seen.pool = { adjustments: await value('pool-adjustments'), enqueued: await value('pool-enqueued') };
  await open('#view=logs');
  seen.logs = { head: await page.$$eval('main thead th', (cells) => cells.map((cell) => cell.textContent)), rows: await rows('Messages') };
  await open('#view=jit');
  seen.jit = { methods: await value('jit-methods'), assemblies: await value('assemblies') };
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
  seen.requests_count = await value('activities-count');
  seen.slowest = { longest: await value('activities-slowest'), rows: await rows('Slowest') };
  if (seen.slowest.rows?.length) {
    await page.click('main tbody button.link');
    await page.waitForSelector('#activity');
    seen.slowest.card = await page.$eval('#activity', (card) => card.textContent);
    seen.slowest.hash = await hash();
    await shot('activity');
  }
  await open('#view=events');
  seen.events = await page.$eval('#events-count', (place) => Number(place.textContent.replace(/,/g, '')));

  await open('#view=heap');
  seen.heap = { objects: await value('heap-objects'), bytes: await value('heap-bytes') };
  if (seen.heap.objects) {
    await all();
    seen.heap.types = await rows('Types');
    await page.click('main tbody button.link');
    seen.heap.paths = await page.$eval('#heap-type', (card) => card.textContent);
    await open('#view=heap&heap_tab=tree');
    seen.heap.tree = await page.$$eval('.tree tbody tr', (rows) => rows.length);
    seen.heap.finding = await open('').then(() => page.$eval('.findings a', (link) => link.getAttribute('href')));
  }

  if (pictures === 'numbers') return;

  // A part in detail, by the wheel; threads as lanes, which lead to their stacks; a click anywhere in a row; a picture.
  await open('#view=gc');
  const line = await (await page.$('canvas.lanes')).boundingBox();
  await page.mouse.move(line.x + 600, line.y + 60);
  await page.mouse.wheel({ deltaY: -600 });
  await page.waitForFunction(() => location.hash.includes('detail=1') && location.hash.includes('from='));
  const tall = () => page.$eval('canvas.lanes', (canvas) => canvas.clientHeight);
  seen.detail = { before: line.height, after: await tall(), hash: await hash(), pressed: await page.$eval('#detail', (button) => button.ariaPressed), counted: await value('gc-count') };
  await shot('detail');
  await noteAxe(page, seen, 'in detail');
  await page.click('#threadlanes');
  seen.detail.threads = await tall();
  await settle();
  await shot('threads-as-lanes');
  await page.mouse.click(line.x + 30, line.y + seen.detail.threads - 8);
  seen.detail.thread = await hash();
  await open('#view=gc');
  await page.evaluate(() => [...document.querySelectorAll('table')].find((one) => one.caption.textContent === 'Collections').tBodies[0].rows[0].cells[3].click());
  seen.detail.row = await hash();
  seen.detail.picture = await page.evaluate(() => {
    const link = document.querySelector('main a.png');
    link.addEventListener('click', (event) => event.preventDefault());
    link.click();
    return link.href.slice(0, 22);
  });
  await open('#view=cpu&upright=1');
  seen.detail.upright = await page.$eval('.flamebox', (box) => box.scrollTop + box.clientHeight - box.scrollHeight);

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
  // A range is moved by its head, and stays as long.
  await open(`#view=cpu&tab=top&from=${from}&to=${to}`);
  const ends = () => page.evaluate(() => ['from', 'to'].map((key) => Number(new URLSearchParams(location.hash.slice(1)).get(key))));
  const between = await page.evaluate(() => {
    const box = document.querySelector('canvas.lanes').getBoundingClientRect();
    return { y: box.y + 8, middle: box.x + box.width / 2 };
  });
  await page.mouse.move(between.middle - 80, between.y);
  await page.mouse.down();
  await page.mouse.move(between.middle - 40, between.y, { steps: 4 });
  await page.mouse.move(between.middle + 20, between.y, { steps: 4 });
  await page.mouse.up();
  await settle();
  seen.brushed.moved = await ends();
  await open('#view=cpu&tab=top');
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
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const width of [400, 1300, 2000]) {
      await page.setViewport({ width, height: 900 });
      for (const view of VIEWS) {
        if (scheme === 'dark' && width === 2000) continue;
        await open('#view=' + view);
        await settle();
        await noteWidth(page, seen, `${view} at ${width}`);
        await shot(`${view}-${scheme}-${width}`);
        if (width === 1300) await noteAxe(page, seen, `${view}, ${scheme}`);
      }
    }
  }
  await page.emulateMediaFeatures([]);
  // A small window: how much of it is above the views, and which views say that frames have no names.
  await page.setViewport({ width: 800, height: 600 });
  seen.small = { heads: [], unnamed: [] };
  for (const view of VIEWS) {
    await open('#view=' + view);
    await settle();
    await noteWidth(page, seen, `${view} at 800`);
    await shot(`${view}-800`);
    seen.small.heads.push(await page.$eval('#views', (nav) => Math.round(nav.getBoundingClientRect().bottom)));
    if (await page.$('#unnamed')) seen.small.unnamed.push(view);
  }
  await page.setViewport({ width: 1300, height: 900 });
  // On paper: light, and drawn for its width. The event comes before the browser lays the page out for it.
  await open('#view=gc');
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  seen.printed = await page.evaluate(() => {
    const look = () => ({ background: getComputedStyle(document.documentElement).backgroundColor, width: document.querySelector('canvas.lanes').width });
    const screen = look();
    window.dispatchEvent(new Event('beforeprint'));
    const paper = look();
    window.dispatchEvent(new Event('afterprint'));
    return { screen, paper, again: look() };
  });
  await page.emulateMediaFeatures([]);
  if (pictures) {
    for (const view of ['overview', 'cpu', 'gc']) {
      await open('#view=' + view);
      await settle();
      await page.pdf({ path: path.join(pictures, `${view}-print.pdf`), format: 'A4', printBackground: false });
    }
  }
  seen.hacked = await page.evaluate(() => typeof window.hacked !== 'undefined' || document.images.length > 0 || document.querySelector('main b, main iframe, main script') !== null);
}

const [name, from, to, pictures] = process.argv.slice(2);
const file = path.resolve(name);
inBrowser(file, (page, seen) => look(page, seen, { file, from, to, pictures })).catch((error) => {
  console.error(error);
  process.exit(1);
});
