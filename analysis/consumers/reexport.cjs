// Opens a profile in speedscope in a headless Chromium and prints what speedscope's own export makes of it:
//   node reexport.cjs FILE     (modules: NODE_PATH or the folder that ./install fills)
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));
const root = path.join(home, 'node_modules/speedscope/dist/release');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

async function main(file) {
  const server = http.createServer((request, response) => {
    const url = request.url.split('?')[0];
    const wanted = url.startsWith('/profile/') ? file : path.join(root, url === '/' ? 'index.html' : url);
    if (!fs.existsSync(wanted)) {
      response.writeHead(404);
      response.end();
      return;
    }
    response.setHeader('content-type', types[path.extname(wanted)] || 'application/octet-stream');
    response.end(fs.readFileSync(wanted));
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--use-gl=swiftshader', '--enable-unsafe-swiftshader'],
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
    const logs = [];
    page.on('console', (message) => logs.push(message.text()));
    page.on('dialog', (dialog) => {
      logs.push('DIALOG ' + dialog.message());
      dialog.dismiss();
    });
    // What is saved is kept instead of offered as a download.
    await page.evaluateOnNewDocument(() => {
      const make = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => {
        if (blob.type.includes('json') || blob.type.includes('text')) window.savedText = blob.text();
        return make(blob);
      };
    });
    const host = `http://127.0.0.1:${server.address().port}/`;
    const url = host + 'profile/' + encodeURIComponent(path.basename(file));
    await page.goto(`${host}#profileURL=${encodeURIComponent(url)}&title=${encodeURIComponent(path.basename(file))}`);
    for (let tries = 0; tries < 3000; tries++) {
      if (logs.some((line) => /^import:|Failed to load format|^DIALOG/.test(line))) break;
      await new Promise((later) => setTimeout(later, 100));
    }
    if (!logs.some((line) => line.startsWith('import:')) || logs.some((line) => /Failed|^DIALOG/.test(line))) {
      throw new Error('speedscope does not open it: ' + logs.slice(-3).join(' | '));
    }
    for (let tries = 0; tries < 1200; tries++) {
      await page.evaluate(() => window.dispatchEvent(new KeyboardEvent('keydown', { key: 's', ctrlKey: true, metaKey: true, bubbles: true })));
      if (await page.evaluate(() => window.savedText !== undefined)) break;
      await new Promise((later) => setTimeout(later, 100));
    }
    process.stdout.write(await page.evaluate(() => window.savedText));
  } finally {
    await browser.close();
    server.close();
  }
}

main(path.resolve(process.argv[2])).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
