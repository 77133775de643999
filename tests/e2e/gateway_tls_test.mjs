/** HTTPS between agents, bridges and the gateway: certificates of `./dev tls`, and their renewal. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { binary, ServerProcess } from './support/processes.js';

const TIMEOUT = { timeout: stretched(60_000) };
const DEV = fileURLToPath(new URL('../../dev', import.meta.url));
const run = promisify(execFile);
const SEES_AGENT = 'client agent cert:agent.callslip.test\n';

/** A tracker, a folder with certificates, and a function that starts gateways with them. */
async function trial(context) {
  const folder = await mkdtemp(join(tmpdir(), 'callslip-tls-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await run(DEV, ['tls', folder]);
  const tracker = await ServerProcess.start('callslip-tracker',
    ['--listen', `unix:${join(folder, 'tracker.sock')}`]);
  context.after(() => tracker.stop());
  const file = (name) => join(folder, `${name}.pem`);
  return {
    folder,
    file,
    renew: () => run(DEV, ['tls', folder]),
    serverTls: ['--tls-cert', file('server'), '--tls-key', file('server-key')],
    clientTls: ['--tls-cert', file('client'), '--tls-key', file('client-key')],
    async startGateway(...args) {
      const gateway = await ServerProcess.start('callslip-gateway',
        ['--tracker', tracker.address, '--listen', '127.0.0.1:0', ...args]);
      context.after(() => gateway.stop());
      return gateway;
    },
    async startBridge(...args) {
      const bridge = await Bridge.start(args);
      context.after(() => bridge.close());
      return bridge;
    },
  };
}

/** The answer to a GET, and the serial number of the server's certificate. */
function get(url, options) {
  return new Promise((resolve, reject) => {
    https.get(url, options, (response) => {
      const { serialNumber } = response.socket.getPeerCertificate();
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (chunk) => { body += chunk; });
      response.on('end', () => resolve({ status: response.statusCode, body, serialNumber }));
    }).on('error', reject);
  });
}

async function until(condition) {
  while (!await condition());
}

test('bridges and health checks use TLS, and new connections get a renewed certificate', TIMEOUT,
  async (context) => {
    const { file, renew, serverTls, startGateway, startBridge } = await trial(context);
    const gateway = await startGateway(...serverTls);
    const url = `https://${gateway.address}`;
    const ca = await readFile(file('ca'));
    const shown = async () => (await get(`${url}/healthz`, { ca, agent: false })).serialNumber;
    const onDisk = async () =>
      new X509Certificate(await readFile(file('server'))).serialNumber;
    assert.equal(await shown(), await onDisk());
    assert.equal((await get(`${url}/readyz`, { ca })).status, 200);
    await run(binary('callslip-gateway'), ['healthcheck', '--listen', gateway.address,
      ...serverTls]);

    const bridge = await startBridge('--gateway', url, '--tls-ca', file('ca'));
    assert.ok((await bridge.initialize()).result);
    const kept = new https.Agent({ ca, keepAlive: true, maxSockets: 1 });
    const before = (await get(`${url}/healthz`, { agent: kept })).serialNumber;
    await renew();
    const next = await onDisk();
    assert.notEqual(next, before);
    await until(async () => {
      assert.ok((await bridge.request('tools/list')).result);
      assert.equal((await get(`${url}/healthz`, { agent: kept })).serialNumber, before);
      return await shown() === next;
    });
    kept.destroy();
  });

test('a bridge that does not trust the gateway reports why', TIMEOUT, async (context) => {
  const { serverTls, startGateway, startBridge } = await trial(context);
  const gateway = await startGateway(...serverTls);
  const args = ['--gateway', `https://${gateway.address}`];
  const doctor = await run(binary('callslip-bridge'), ['doctor', ...args]).catch((error) => error);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /is not accepted: .*--tls-ca names a private authority/);
  const bridge = await startBridge(...args, '--timeout-fast', '4s', '--server-wait-fast', '0s');
  const { error } = await bridge.request('tools/list');
  assert.equal(error.data.reason, 'gateway_unreachable');
  assert.match(error.message, /is not accepted/);
});

test('a client certificate is accepted in place of a token', TIMEOUT, async (context) => {
  const { folder, file, serverTls, clientTls, startGateway, startBridge } = await trial(context);
  const tokens = join(folder, 'tokens');
  await writeFile(tokens, `${SEES_AGENT}session-key - ${'0'.repeat(64)}\n`, { mode: 0o600 });
  const socket = `unix:${join(folder, 'gateway.sock')}`;
  const args = [...serverTls, '--tls-client-ca', file('ca'), '--token-file', tokens,
    '--listen', `127.0.0.1:0,${socket}`];
  const gateway = await startGateway(...args);
  const url = `https://${gateway.address}`;
  const ca = await readFile(file('ca'));
  const own = { ca, cert: await readFile(file('client')), key: await readFile(file('client-key')) };
  assert.equal((await get(`${url}/api/sessions`, own)).status, 200);
  await assert.rejects(get(`${url}/healthz`, { ca }));
  await run(binary('callslip-gateway'), ['healthcheck', ...args]);  // Over the socket.

  const bridge = await startBridge('--gateway', url, '--tls-ca', file('ca'), ...clientTls);
  assert.ok((await bridge.initialize()).result);
  const calls = await bridge.call('observe', { what: 'pending_commands' });
  assert.ok(!calls.result.isError);
  // A line that is removed from the file is no longer valid.
  await writeFile(tokens, `client other cert:other.test\nsession-key - ${'0'.repeat(64)}\n`);
  await until(async () => (await get(`${url}/api/sessions`, own)).status === 401);
});

test('a bridge connects over a Unix socket, which a second gateway cannot take over', TIMEOUT,
  async (context) => {
    const { folder, startGateway, startBridge } = await trial(context);
    const socket = `unix:${join(folder, 'gateway.sock')}`;
    const gateway = await startGateway('--listen', socket);
    assert.equal(gateway.address, socket);
    const bridge = await startBridge('--gateway', socket);
    assert.ok((await bridge.initialize()).result);
    await assert.rejects(startGateway('--listen', socket), /another program listens at unix:/);
    assert.ok((await bridge.request('tools/list')).result);
    await gateway.kill();
    await startGateway('--listen', socket);
    assert.ok((await bridge.request('tools/list')).result);
  });

test('a bridge warns about an unencrypted connection to its gateway', TIMEOUT, async (context) => {
  const { startBridge } = await trial(context);
  const bridge = await startBridge('--gateway', 'http://192.0.2.1:7890');
  await until(async () => {
    await new Promise(setImmediate);
    return /not encrypted/.test(bridge.log);
  });
});
