/**
 * The packages for npm on a machine with Node and Chromium and without a network: from `npm
 * install` to an agent's first answer, with the commands that a user types. npm_test.sh runs it
 * there.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { StdioClientTransport } from '../e2e/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js';
import { Agent } from '../e2e/support/agent.js';
import { startPageServer } from '../e2e/support/page_server.js';
import { startBrowser } from './npm_browser.mjs';
import { startRegistry } from './npm_registry.mjs';

const { PACKAGES } = env;
const GATEWAY = 'http://127.0.0.1:7890';
const project = mkdtempSync(join(tmpdir(), 'callslip-npm-'));
const settings = { PATH: env.PATH, HOME: project, npm_config_update_notifier: 'false' };

/** The libraries that programs may load from the machine: glibc. */
const GLIBC = /\/(libc|libm|libpthread|libdl|librt|libresolv|libnss_\w+|ld-linux[^/]*)[-.][^/]*$/;

const closers = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

function type(command, ...args) {
  return spawnSync(command, args, { cwd: project, env: settings, encoding: 'utf8' });
}

/** The processes that run a program of the project, and their names. */
function running() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const program = readlinkSync(`/proc/${pid}/exe`);
      return program.startsWith(project) ? [{ pid, name: program.split('/').pop() }] : [];
    } catch {
      return [];  // It has ended.
    }
  });
}

/** Starts `npx callslip up`, and waits for its announcement. */
async function up() {
  const child = spawn('npx', ['callslip', 'up'], { cwd: project, env: settings, detached: true });
  closers.push(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  let said = '';
  const ended = once(child, 'close');
  child.stderr.on('data', (data) => { said += data; });
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      said += data;
      if (said.includes('Ctrl-C stops all')) resolve();
    });
    ended.then(() => reject(new Error(`it has ended: ${said}`)));
  });
  return { child, ended, said };
}

let began;
let started;

before(async () => {
  writeFileSync(join(project, 'package.json'), '{}');
  const registry = await startRegistry(readdirSync(PACKAGES).map((name) => join(PACKAGES, name)));
  began = performance.now();
  // Not spawnSync: the registry runs in this process.
  const npm = spawn('npm', ['install', 'callslip', '--registry', registry.url],
    { cwd: project, env: settings, stdio: 'inherit' });
  const end = await once(npm, 'close');
  await registry.stop();
  assert.deepEqual(end, [0, null]);
  started = await up();
});

test('callslip up prints the three steps', () => {
  for (const step of ['1. Agent', '2. Browser', '3. Try', 'npx callslip doctor --fix']) {
    assert.ok(started.said.includes(step), started.said);
  }
  assert.ok(started.said.includes(type('npx', 'callslip', 'extension-path').stdout.trim()));
});

test('the doctor reports that the browser is missing', () => {
  const { status, stdout } = type('npx', 'callslip', 'doctor');
  assert.equal(status, 1, stdout);
  assert.match(stdout, /^ok +tracker /m);
  assert.match(stdout, /^broken +extension /m);
});

test('an agent gets its first answer from the browser', async (context) => {
  const pages = await startPageServer();
  closers.push(() => pages.stop());
  const extension = type('npx', 'callslip', 'extension-path').stdout.trim();
  const browser = await startBrowser({ extension, serverUrl: GATEWAY, page: `${pages.url}/` });
  closers.push(() => browser.stop());
  const agent = await Agent.over(new StdioClientTransport(
    { command: 'npx', args: ['callslip', 'bridge'], cwd: project, env: settings, stderr: 'pipe' }));
  closers.push(() => agent.close());
  const { result } = await agent.run({ action: 'execute_js', script: 'document.title' });
  assert.equal(result, 'Test page');
  const seconds = (performance.now() - began) / 1000;
  context.diagnostic(`from npm install to the first answer: ${seconds.toFixed(1)} s`);
  assert.equal(type('npx', 'callslip', 'doctor').status, 0);
});

test('the programs load no library of the machine except glibc', () => {
  const names = running().map(({ pid, name }) => {
    const mapped = readFileSync(`/proc/${pid}/maps`, 'utf8').match(/\/\S*\.so\b\S*$/gm);
    const foreign = mapped.filter((file) => !file.startsWith(project) && !GLIBC.test(file));
    assert.deepEqual(foreign, [], name);
    return name;
  });
  assert.deepEqual(names.sort(), ['callslip-bridge', 'callslip-gateway', 'callslip-tracker']);
});

test('a second callslip up explains what to do about the first', () => {
  const { status, stderr } = type('npx', 'callslip', 'up');
  assert.equal(status, 1);
  assert.match(stderr, /another process uses .*\. Perhaps Callslip runs already.* CALLSLIP_GATEWAY_PORT and CALLSLIP_TRACKER_PORT/);
});

test('Ctrl-C stops all programs', async () => {
  const { child, ended } = started;
  process.kill(-child.pid, 'SIGINT');
  await ended;
  while (running().some(({ name }) => name !== 'callslip-bridge')) await pause(10);
});
