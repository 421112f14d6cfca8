// Opens a flame graph in a headless Chromium, searches, zooms and goes back, shows what waited, asks for what is no
// expression, and turns the lights off; prints what is then seen:
//   node flame.cjs FILE.svg REGEX [SCREENSHOT.png]
'use strict';
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));

async function main(file, wanted, picture) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox'],
    timeout: 120000,
    protocolTimeout: 300000,
  }).catch((error) => {
    // Not the file's fault: exit code 75 says that nothing was tried.
    console.error('no browser: ' + error);
    process.exit(75);
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120000);
    const errors = [], requests = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => errors.push(message.text()));
    page.on('request', (request) => requests.push(request.url()));
    await page.setViewport({ width: 1400, height: 900 });
    await page.goto('file://' + file);
    const shown = () => page.evaluate(() =>
      Array.from(document.querySelectorAll('#frames g')).filter((g) => g.style.display !== 'none').length);
    const seen = { shown: await shown() };
    await page.keyboard.press('/');
    await page.keyboard.type(wanted);
    seen.matched = await page.evaluate(() => document.getElementById('matched').textContent);
    seen.hits = await page.evaluate(() => document.querySelectorAll('#frames g.hit').length);
    if (picture) await page.screenshot({ path: picture });
    // The widest match takes the whole width.
    const hit = await page.evaluateHandle(() => {
      const width = (g) => g.querySelector('rect').getBoundingClientRect().width;
      return Array.from(document.querySelectorAll('#frames g.hit')).sort((a, b) => width(b) - width(a))[0];
    });
    await (await hit.$('rect')).click();
    seen.zoomedWidth = await hit.evaluate((g) => g.querySelector('rect').getBoundingClientRect().width);
    seen.zoomedText = await hit.evaluate((g) => g.querySelector('text').textContent);
    seen.shownZoomed = await shown();
    seen.reset = await page.evaluate(() => {
      const button = document.getElementById('reset'), box = button.getBoundingClientRect();
      const at = document.elementFromPoint(box.x + box.width - 2, box.y + box.height - 2);
      return { isWhole: at === button && button.scrollWidth <= button.clientWidth, hidden: button.hidden };
    });
    seen.detail = await page.evaluate(() => document.getElementById('detail').textContent);
    await page.keyboard.press('Escape');
    seen.shownAgain = await shown();
    seen.hitsAgain = await page.evaluate(() => document.querySelectorAll('#frames g.hit').length);
    const waits = await page.$('#waiting');
    if (waits) {
      const told = () => page.evaluate(() => ['waiting', 'about'].map((id) => document.getElementById(id).textContent));
      seen.running = await told();
      await waits.click();
      seen.all = await told();
      seen.shownAll = await shown();
      seen.waitingShown = await page.evaluate(() => Array.from(document.querySelectorAll('#frames rect.w'))
        .filter((rect) => rect.getBoundingClientRect().width > 0).length);
      if (picture) await page.screenshot({ path: picture.replace('.png', '-waiting.png') });
      await waits.click();
      seen.shownRunning = await shown();
    }
    await page.keyboard.press('/');
    await page.keyboard.type('Main(');
    seen.broken = await page.evaluate(() => document.getElementById('matched').textContent);
    seen.brokenHits = await page.evaluate(() => document.querySelectorAll('#frames g.hit').length);
    await page.keyboard.press('Escape');
    const ground = () => page.evaluate(() => getComputedStyle(document.querySelector('.ground')).fill);
    seen.ground = [await ground()];
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    seen.ground.push(await ground());
    if (picture) await page.screenshot({ path: picture.replace('.png', '-dark.png') });
    seen.errors = errors;
    seen.requests = requests.filter((url) => !url.startsWith('file://'));
    console.log(JSON.stringify(seen));
  } finally {
    await browser.close();
  }
}

main(path.resolve(process.argv[2]), process.argv[3], process.argv[4]).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
