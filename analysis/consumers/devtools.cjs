// Opens a heap snapshot with the loader of Chromium's own DevTools, which a headless Chromium brings along and serves at
// its debugging port; prints as JSON what the Memory panel would show:
//   node devtools.cjs FILE.heapsnapshot
'use strict';
const fs = require('fs');
const path = require('path');
const home = process.env.NETTRACE_CONSUMERS || path.join(process.env.HOME, '.cache/nettrace-consumers');
const puppeteer = require(path.join(home, 'node_modules/puppeteer-core'));

const WORKER = '/devtools/entrypoints/heap_snapshot_worker/heap_snapshot_worker-entrypoint.js';

// Exit code 75 says that nothing was tried.
function notTried(why) {
  console.error(why);
  process.exit(75);
}

// What the panel does: a worker that loads, a second one that helps it.
async function load(worker, text) {
  const started = (worker) => {
    const waiting = new Map();
    let last = 0, isReady;
    const ready = new Promise((done) => { isReady = done; });
    worker.onmessage = ({ data }) => {
      if (data === 'workerReady') return isReady();
      const found = waiting.get(data.callId);
      if (!found) return;
      waiting.delete(data.callId);
      data.error ? found.fail(new Error(data.error)) : found.done(data.result);
    };
    const ask = (call, ports = []) => new Promise((done, fail) => {
      worker.onerror = (event) => fail(new Error('worker: ' + event.message));
      last += 1;
      waiting.set(last, { done, fail });
      worker.postMessage({ callId: last, ...call }, ports);
    });
    return ready.then(() => ask);
  };
  const ask = await started(new Worker(worker, { type: 'module' }));
  const help = await started(new Worker(worker, { type: 'module' }));
  await ask({ disposition: 'createLoader', objectId: 1 });
  const size = 1 << 20;
  for (let at = 0; at < text.length; at += size) {
    const methodArguments = [text.slice(at, at + size)];
    await ask({ disposition: 'method', objectId: 1, methodName: 'write', methodArguments });
  }
  await ask({ disposition: 'method', objectId: 1, methodName: 'close', methodArguments: [] });
  const { port1, port2 } = new MessageChannel();
  await help({ disposition: 'setupForSecondaryInit', objectId: 1 }, [port2]);
  await ask({ disposition: 'factory', objectId: 1, methodName: 'buildSnapshot', newObjectId: 2, methodArguments: [] },
    [port1]);
  const get = (methodName) => ask({ disposition: 'getter', objectId: 2, methodName });
  const classes = await ask({
    disposition: 'method', objectId: 2, methodName: 'aggregatesWithFilter', methodArguments: [{}],
  });
  const types = {};
  for (const found of Object.values(classes)) types[found.name] = [found.count, found.self, found.maxRet];
  return { nodes: await get('nodeCount'), total: await get('totalSize'), types };
}

async function main(file) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox'],
    timeout: 120000,
    protocolTimeout: 120000,
  }).catch((error) => notTried('no browser: ' + error));
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120000);
    const port = new URL(browser.wsEndpoint()).port;
    const answer = await page.goto('http://127.0.0.1:' + port + WORKER);
    if (!answer.ok()) notTried('this Chromium brings no DevTools along: ' + answer.status());
    console.log(JSON.stringify(await page.evaluate(load, WORKER, fs.readFileSync(file, 'utf8'))));
  } finally {
    await browser.close();
  }
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
