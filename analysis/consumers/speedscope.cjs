// Opens files in speedscope's own page, in Chromium:  node speedscope.cjs FOLDER PICTURES FILE...
// FOLDER is where `install` put node_modules; pictures go to the folder PICTURES, unless it is -.
// Prints one JSON document a file: {"file", "ok", "log"}.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const [folder, pictures, ...files] = process.argv.slice(2);
const puppeteer = require(path.join(folder, 'node_modules/puppeteer-core'));
const root = path.join(folder, 'node_modules/speedscope/dist/release');
const types = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm'};

const server = http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.split('?')[0]);
  const file = name.startsWith('/profile/') ? name.slice('/profile'.length) : path.join(root, name === '/' ? 'index.html' : name);
  if (!fs.existsSync(file)) { response.writeHead(404); response.end(); return; }
  response.setHeader('content-type', types[path.extname(file)] || 'application/octet-stream');
  response.end(fs.readFileSync(file));
});

(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
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
  for (const file of files) {
    const page = await browser.newPage();
    page.setDefaultTimeout(120000);
    await page.setViewport({width: 1400, height: 800});
    const log = [];
    page.on('console', (message) => log.push(message.text()));
    page.on('pageerror', (error) => log.push('ERROR ' + error.message));
    page.on('dialog', (dialog) => { log.push('DIALOG ' + dialog.message()); dialog.dismiss(); });
    await page.goto(`${address}#profileURL=${encodeURIComponent(address + 'profile' + file)}&title=trace`);
    // The page says `import: 12ms` when a file was read.
    const isOver = () => log.some((line) => /^import:|Failed to load format|DIALOG|ERROR/.test(line));
    for (let tries = 0; tries < 1500 && !isOver(); tries++) await new Promise((r) => setTimeout(r, 200));
    await new Promise((r) => setTimeout(r, 1000));
    if (pictures !== '-') await page.screenshot({path: path.join(pictures, path.basename(file) + '.png')});
    const ok = log.some((line) => line.startsWith('import:')) && !log.some((line) => /Failed to load|DIALOG|ERROR/.test(line));
    console.log(JSON.stringify({file, ok, log}));
    await page.close();
  }
  await browser.close();
  server.close();
  process.exit(0);
})().catch((error) => { console.error(String(error)); process.exit(1); });
