// Opens a file in Firefox Profiler's command line:  node firefox.cjs FOLDER FILE COMMAND...
// FOLDER is where `install` put node_modules; a command is one argument, such as 'thread list'; _ stands for a space in a word. Prints one
// JSON document a command, on one line.
'use strict';
const {spawnSync} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const [folder, file, ...commands] = process.argv.slice(2);
const node = path.join(folder, 'node_modules/node/bin/node');
const program = path.join(folder, 'node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js');
// Sessions of others are left alone.
const sessions = fs.mkdtempSync(path.join(os.tmpdir(), 'ff-'));
const env = {...process.env, PROFILER_CLI_SESSION_DIR: sessions, PROFILER_CLI_LOAD_TIMEOUT_MS: '300000'};
const run = (...rest) => spawnSync(node, [program, ...rest], {env, encoding: 'utf8', maxBuffer: 1 << 28});
const sleep = () => spawnSync('sleep', ['0.5']);

const loaded = run('load', file);
// On a busy machine it gives up before its own server is up; the server goes on.
let ready = loaded.status === 0;
for (let tries = 0; !ready && tries < 600; tries++) {
  sleep();
  ready = run('status').status === 0;
}
let failed = !ready;
if (failed) console.error(loaded.stdout + loaded.stderr);
for (const command of ready ? commands : []) {
  const ran = run(...command.split(' ').map((word) => word.replace(/_/g, ' ')), '--json');
  if (ran.status !== 0) { console.error(command + ': ' + ran.stdout + ran.stderr); failed = true; break; }
  console.log(JSON.stringify(JSON.parse(ran.stdout)));
}
run('stop', '--all');
fs.rmSync(sessions, {recursive: true, force: true});
process.exit(failed ? 1 : 0);
