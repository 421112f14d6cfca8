// A headless Chromium for the scripts beside this one: what a page says on its console and asks for is noted.
'use strict';
const fs = require('fs');
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));
const axePath = path.join(home, 'node_modules/axe-core/axe.min.js');
const axe = fs.existsSync(axePath) ? fs.readFileSync(axePath, 'utf8') : null;

// Runs `look(page, seen)` on a blank page and prints what it has `seen`. `file`: the page that may be loaded, and nothing else.
async function inBrowser(file, look) {
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
    const seen = { errors: [], requests: [], wide: [], axe: [], has_axe: axe !== null };
    page.on('pageerror', (error) => seen.errors.push(String(error)));
    page.on('console', (message) => seen.errors.push(message.text()));
    page.on('request', (request) => {
      const url = request.url();
      if (url !== 'about:blank' && !url.startsWith('file://' + file) && !url.startsWith('data:')) seen.requests.push(url);
    });
    await look(page, seen);
    console.log(JSON.stringify(seen));
  } finally {
    await browser.close();
  }
}

// Notes whether the page is wider than the window.
async function noteWidth(page, seen, what) {
  const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
  if (over > 0) seen.wide.push(`${what}: ${over} pixels too wide`);
}

// Notes what keeps people out who cannot see the page or use a mouse.
async function noteAxe(page, seen, what) {
  if (!axe) return;
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  for (const rule of found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))) {
    seen.axe.push(`${what}: ${rule.id}: ${rule.nodes[0].html.slice(0, 160)} ${rule.nodes[0].failureSummary.slice(0, 200)}`);
  }
}

module.exports = { inBrowser, noteWidth, noteAxe };
