// Opens a page of `nettrace report html` and prints what its views count in ranges of time:
//   node ranges.cjs FILE.html FROM..TO...
// FROM and TO in nanoseconds. `bins`: by what is counted, the range of whole bins of time that a view says its counts are of,
// where these are not those of the range.
'use strict';
const path = require('path');
const { inBrowser } = require('./browser.cjs');

async function look(page, seen, file, ranges) {
  await page.goto('file://' + file);
  await page.waitForSelector('html[data-ready]');
  let own;
  const view = async (name, range) => {
    const said = await page.evaluate((hash) => new Promise((done) => {
      addEventListener('popstate', () => requestAnimationFrame(() => done([...document.querySelectorAll('main [data-what]')].map((note) => [note.dataset.what, [note.dataset.from, note.dataset.to].map(Number)]))), { once: true });
      location.hash = hash;
    }), `#view=${name}&from=${range[0]}&to=${range[1]}`);
    Object.assign(own.bins, Object.fromEntries(said));
  };
  const values = (...ids) => page.evaluate((ids) => Object.fromEntries(ids.map((id) => {
    const place = document.getElementById(id);
    return [id, place ? Number(place.dataset.value) : 0];
  })), ids);
  // The rows of a table, all of them.
  const rows = (caption) => page.evaluate((caption) => {
    const place = [...document.querySelectorAll('main div.table')].find((one) => one.querySelector('caption').textContent.replace(/ \(.*/, '') === caption);
    if (!place) return [];
    for (let button = place.querySelector('.more button'); button; button = place.querySelector('.more button')) button.click();
    return [...place.querySelector('tbody').rows].map((row) => [...row.cells].map((cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : cell.textContent)));
  }, caption);
  seen.ranges = [];
  for (const range of ranges) {
    own = { bins: {} };
    await view('overview', range);
    Object.assign(own, await values('range-cpu', 'range-events'));
    await view('gc', range);
    Object.assign(own, await values('gc-count', 'gc-incomplete', 'gc-pause', 'gc-max', 'gc-p99'));
    await view('exceptions', range);
    Object.assign(own, await values('exceptions-count'), { exceptions: await rows('By type') });
    await view('contention', range);
    Object.assign(own, await values('contention-count', 'contention-total'), { locks: await rows('By lock') });
    await view('waits', range);
    Object.assign(own, await values('waits-count', 'waits-total'));
    await view('threads', range);
    own.threads = await rows('Threads');
    await view('pool', range);
    Object.assign(own, await values('pool-adjustments'));
    await view('tasks', range);
    Object.assign(own, await values('tasks-scheduled', 'tasks-failed', 'tasks-awaited'), { tasks: await rows('Scheduled'), awaits: await rows('Awaited') });
    await view('jit', range);
    Object.assign(own, await values('jit-count'), { tiers: await rows('By tier') });
    await view('requests', range);
    Object.assign(own, await values('activities-count', 'activities-failed', 'activities-slowest', 'requests-count', 'requests-failed'), { endpoints: await rows('Endpoints'), activities: await rows('By name') });
    await view('logs', range);
    Object.assign(own, await values('logs-count'));
    await view('counters', range);
    own.counters = await rows('Counters');
    await view('events', range);
    Object.assign(own, await values('events-count'), { types: await rows('Types') });
    await view('cpu', range);
    Object.assign(own, await values('counted', 'samples'));
    seen.ranges.push(own);
  }
}

const [name, ...ranges] = process.argv.slice(2);
const file = path.resolve(name);
inBrowser(file, (page, seen) => look(page, seen, file, ranges.map((range) => range.split('..').map(Number)))).catch((error) => {
  console.error(error);
  process.exit(1);
});
