/**
 * --autostart: one tracker and one gateway for any number of bridges, and no process is left
 * behind.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { binary } from './support/processes.js';

const TIMEOUT = { timeout: stretched(60_000) };
const BRIDGES = 20;

/** A free address, and a folder for the files of one test. */
async function place(context) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  const folder = await mkdtemp(join(tmpdir(), 'callslip-autostart-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return { port, folder };
}

function startBridge({ port, folder }, ...args) {
  return Bridge.start(['--autostart', '--gateway', `http://127.0.0.1:${port}`, ...args],
    { XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder });
}

/** The processes that were started for a port: their names, by process id. */
async function servicesOf({ port }) {
  const found = new Map();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const [program, ...args] = line.split('\0');
    if (!args.join(' ').match(`127\\.0\\.0\\.1[:-]${port}\\b`)) continue;
    const name = args[0] === 'supervise' ? 'supervisor' : program.split('/').pop();
    if (name !== 'callslip-bridge') found.set(Number(pid), name);
  }
  return found;
}

async function until(condition) {
  while (!await condition()) await pause(10);
}

const ALL = ['callslip-gateway', 'callslip-tracker', 'supervisor'];
const names = async (where) => [...(await servicesOf(where)).values()].sort();
const areAllGone = (where) => until(async () => (await servicesOf(where)).size === 0);

test('20 bridges at once share one tracker and one gateway', TIMEOUT, async (context) => {
  const where = await place(context);
  const bridges = await Promise.all(Array.from({ length: BRIDGES }, () => startBridge(where)));
  const answers = await Promise.all(bridges.map((bridge) => bridge.initialize()));
  for (const { result } of answers) assert.equal(result.serverInfo.name, 'callslip');
  assert.deepEqual(await names(where), ALL);
  const { mode } = await stat(join(where.folder, 'callslip'));
  assert.equal((mode & 0o777).toString(8), '700');

  const [last, ...others] = bridges;
  await Promise.all(others.map((bridge) => bridge.close()));
  assert.deepEqual(await names(where), ALL);
  assert.ok((await last.call('observe', { what: 'pending_commands' })).result);
  process.kill(last.pid, 'SIGKILL');
  await last.ended;
  await areAllGone(where);

  const later = await startBridge(where);
  assert.ok((await later.initialize()).result);
  await later.close();
  await areAllGone(where);
});

test('a killed tracker, gateway or supervisor is restarted', TIMEOUT, async (context) => {
  const where = await place(context);
  const bridge = await startBridge(where);
  assert.ok((await bridge.initialize()).result);
  for (const name of ALL) {
    const before = await servicesOf(where);
    const [pid] = [...before].find(([, each]) => each === name);
    process.kill(pid, 'SIGKILL');
    await until(async () => {
      const now = await servicesOf(where);
      return !now.has(pid) && now.size === ALL.length;
    });
    await until(async () => (await bridge.request('tools/list')).result);
  }
  await bridge.close();
  await areAllGone(where);
});

test('the gateway creates the token file, and the bridge finds its token', TIMEOUT,
  async (context) => {
    const where = await place(context);
    const bridge = await startBridge(where, '--token-file', join(where.folder, 'tokens'));
    assert.ok((await bridge.initialize()).result);
    await bridge.close();
    await areAllGone(where);
  });

/** The links that the doctor finds broken, with its text about each. */
function brokenLinks({ port, folder }, ...args) {
  const command = ['doctor', '--json', '--autostart', '--gateway', `http://127.0.0.1:${port}`,
    ...args];
  const env = { ...process.env, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder };
  return new Promise((resolve) => {
    execFile(binary('callslip-bridge'), command, { env }, (_, stdout) =>
      resolve(JSON.parse(stdout).links.filter(({ state }) => state === 'broken')));
  });
}

test('another program on the port gets no request and is not trusted', TIMEOUT, async (context) => {
  const where = await place(context);
  const requests = [];
  const impostor = createHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.setHeader('Content-Type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"impostor"}}}');
  }).listen(where.port, '127.0.0.1');
  await once(impostor, 'listening');
  context.after(() => impostor.close());
  const token = ['--token-file', join(where.folder, 'tokens')];
  const bridge = await startBridge(where, ...token);
  assert.equal((await bridge.initialize()).result.serverInfo.name, 'callslip');
  const answer = await bridge.call('observe', { what: 'pending_commands' });
  assert.ok(!answer.result.isError);

  const address = `127.0.0.1:${where.port}`;
  await until(() => bridge.log.includes('another program listens') && bridge.log.includes(address));
  const links = await brokenLinks(where, ...token);
  const { detail } = links.find(({ link }) => link === 'port');
  assert.ok(detail.includes(address));
  assert.deepEqual(requests, []);

  // Once the other program is gone, the gateway starts as well.
  impostor.close();
  await once(impostor, 'close');
  await until(async () =>
    (await fetch(`http://${address}/readyz`).catch(() => ({}))).status === 200);
  assert.ok(!(await brokenLinks(where, ...token)).some(({ link }) => link === 'port'));
  await bridge.close();
  await areAllGone(where);
});
