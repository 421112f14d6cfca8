// Opens a page of `nettrace diff` in a headless Chromium and prints what is seen:
//   node diff_page.cjs FILE.html [FOLDER FOR PICTURES]
'use strict';
const path = require('path');
const { inBrowser, noteAxe, noteWidth } = require('./browser.cjs');

async function look(page, seen, file, pictures) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const width of [400, 1300, 2000]) {
      await page.setViewport({ width, height: 900 });
      await page.goto('file://' + file);
      await page.waitForSelector('html[data-ready]');
      await noteWidth(page, seen, `${width}`);
      if (pictures) await page.screenshot({ path: path.join(pictures, `diff-${scheme}-${width}.png`) });
      if (width === 1300) await noteAxe(page, seen, scheme);
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
}

const [name, pictures] = process.argv.slice(2);
const file = path.resolve(name);
inBrowser(file, (page, seen) => look(page, seen, file, pictures)).catch((error) => {
  console.error(error);
  process.exit(1);
});
