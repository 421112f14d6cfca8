// Opens a page of `nettrace diff` in a headless Chromium and prints what is seen:
//   node diff_page.cjs FILE.html
'use strict';
const path = require('path');
const fs = require('fs');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));
const axePath = path.join(home, 'node_modules/axe-core/axe.min.js');

async function main(file) {
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
      if (!request.url().startsWith('file://' + file) && !request.url().startsWith('data:')) seen.requests.push(request.url());
    });
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const width of [400, 1300, 2000]) {
        await page.setViewport({ width, height: 900 });
        await page.goto('file://' + file);
        await page.waitForSelector('html[data-ready]');
        const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
        if (over > 0) seen.wide.push(`${width}: ${over} pixels too wide`);
        if (fs.existsSync(axePath) && width === 1300) {
          await page.evaluate(fs.readFileSync(axePath, 'utf8'));
          const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
          for (const rule of found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))) seen.axe.push(`${scheme}: ${rule.id}: ${rule.nodes[0].html.slice(0, 160)}`);
        }
      }
    }
    seen.significant = await page.$eval('#significant', (place) => Number(place.dataset.value));
    await page.evaluate(() => { document.querySelector('details').open = true; });
    seen.rows = await page.evaluate(() => [...document.querySelector('details table').tBodies[0].rows].map((row) => [...row.cells].map((cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : cell.textContent))));
    seen.rectangles = await page.evaluate(() => Number(document.querySelector('canvas.flame')?.dataset.rectangles ?? 0));
    if (seen.rectangles > 0) {
      await page.focus('canvas.flame');
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
      seen.chosen = await page.$eval('#chosen', (place) => place.textContent);
      seen.root = await page.$eval('canvas.flame', (canvas) => canvas.dataset.root);
    }
    console.log(JSON.stringify(seen));
  } finally {
    await browser.close();
  }
}

main(path.resolve(process.argv[2])).catch((error) => {
  console.error(error);
  process.exit(1);
});
