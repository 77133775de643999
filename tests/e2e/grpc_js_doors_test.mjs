/**
 * Every way to authenticate at a real tracker, as in docs/access.md: its unix socket, a token, TLS,
 * and a client certificate; with the example's programs, a client that learns the API by
 * reflection, as grpcurl does, and the gateway.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import { stretched } from '../support/patience.js';
import { ExampleProcess } from './support/example_process.js';
import { ServerProcess } from './support/processes.js';
import { Messages, TrackerApi, refusal, startTracker, unique } from './support/tracker_api.js';

const TIMEOUT = { timeout: stretched(60_000) };
const DEV = fileURLToPath(new URL('../../dev', import.meta.url));
const SERVICE = 'callslip.tracker.v1.CommandService';
const run = promisify(execFile);

const tokens = Object.fromEntries(['client', 'worker', 'viewer', 'gateway'].map((role) =>
  [role, randomBytes(32).toString('hex')]));
const lines = [
  ...Object.entries(tokens).map(([role, token]) => `${role} ${role}-1 ${token}`),
  'client client-1 cert:agent.callslip.test',
  `session-key - ${'0'.repeat(64)}`,
];

let folder;
const file = (name) => join(folder, name);

/** Starts a tracker with the token file at `listen`, which ends with the test. */
async function startGuarded(context, listen, ...args) {
  const tracker = await startTracker(['--token-file', file('tokens'), ...args], listen);
  context.after(() => tracker.stop());
  return tracker;
}

const tls = () => ['--tls-cert', file('server.pem'), '--tls-key', file('server-key.pem')];
const mutualTls = () => [...tls(), '--tls-client-ca', file('ca.pem')];

/**
 * The credentials of a client that trusts the authority, with a certificate if `certificate` is
 * true.
 */
async function secure({ certificate = false, authority = 'ca.pem' } = {}) {
  const pem = (name) => readFile(file(name));
  return certificate
    ? grpc.credentials.createSsl(await pem(authority), await pem('client-key.pem'),
      await pem('client.pem'))
    : grpc.credentials.createSsl(await pem(authority));
}

function connect(context, tracker, options) {
  const api = new TrackerApi(tracker.address, options);
  context.after(() => api.close());
  return api;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callslip-doors-'));
  await run(DEV, ['tls', folder]);
  await run(DEV, ['tls', file('other')]);
  await writeFile(file('tokens'), `${lines.join('\n')}\n`, { mode: 0o600 });
});

after(() => rm(folder, { recursive: true, force: true }));

describe('the example service and worker', () => {
  /** A service and a worker find each other; the environment has the credentials of each. */
  async function meet(context, { address }, ofService = {}, ofWorker = ofService) {
    const target = unique('target');
    const worker = new ExampleProcess('worker.mjs', [address, target], ofWorker);
    context.after(() => worker.kill());
    const service = new ExampleProcess('service.mjs', [address, target], ofService);
    context.after(() => service.kill());
    assert.equal(await service.exited, 0, service.output);
    assert.match(service.output, /^all: COMPLETED \{"text":"or not"\}$/m);
    assert.match(service.output, /^replayed: COMPLETED /m);
    await worker.prints(/forgets [^]*forgets /);
  }
  const showing = (role) => ({ CALLSLIP_TOKEN: tokens[role] });

  test('meet over a unix socket', TIMEOUT, async (context) => {
    await meet(context, await startGuarded(context));
  });

  test('meet over TCP without authentication', TIMEOUT, async (context) => {
    const tracker = await startTracker([], '127.0.0.1:0');
    context.after(() => tracker.stop());
    await meet(context, tracker);
  });

  test('meet with tokens', TIMEOUT, async (context) => {
    await meet(context, await startGuarded(context, '127.0.0.1:0'), showing('client'),
      showing('worker'));
  });

  test('meet over TLS', TIMEOUT, async (context) => {
    const authority = { CALLSLIP_TLS_CA: file('ca.pem') };
    await meet(context, await startGuarded(context, '127.0.0.1:0', ...tls()),
      { ...authority, ...showing('client') }, { ...authority, ...showing('worker') });
  });

  test('meet with a certificate instead of a token', TIMEOUT, async (context) => {
    const certificate = {
      CALLSLIP_TLS_CA: file('ca.pem'),
      CALLSLIP_TLS_CERT: file('client.pem'),
      CALLSLIP_TLS_KEY: file('client-key.pem'),
    };
    await meet(context, await startGuarded(context, '127.0.0.1:0', ...mutualTls()), certificate,
      { ...certificate, ...showing('worker') });
  });
});

describe('a client that knows only the address', () => {
  /** Learns the service from the tracker itself, and calls it. */
  async function listByReflection(api, request = {}) {
    const answers = new Messages(api.reflection.ServerReflectionInfo());
    const ask = (question) => {
      answers.stream.write(question);
      return answers.next();
    };
    const { list_services_response: list } = await ask({ list_services: '' });
    assert.ok(list.service.some(({ name }) => name === SERVICE));
    const { file_descriptor_response: found } = await ask({ file_containing_symbol: SERVICE });
    await answers.cancel();
    const length = (size) => (size < 128 ? [size] : [(size & 127) | 128, ...length(size >> 7)]);
    const set = Buffer.concat(found.file_descriptor_proto.flatMap((each) =>
      [Buffer.from([0x0a, ...length(each.length)]), each]));
    const definition = protoLoader.loadFileDescriptorSetFromBuffer(set, { keepCase: true });
    const { CommandService } = grpc.loadPackageDefinition(definition).callslip.tracker.v1;
    return api.call('ListCommands', request, api.client(CommandService));
  }

  test('is served over the unix socket as the client that it names', TIMEOUT, async (context) => {
    const api = connect(context, await startGuarded(context));
    await listByReflection(api, { client_id: 'alice' });
  });

  test('is served with a token, and refused without one', TIMEOUT, async (context) => {
    const tracker = await startGuarded(context, '127.0.0.1:0');
    await listByReflection(connect(context, tracker, { token: tokens.client }));
    await assert.rejects(listByReflection(connect(context, tracker)),
      refusal('UNAUTHENTICATED', 'token_missing'));
    const unknown = connect(context, tracker, { token: '0'.repeat(64) });
    await assert.rejects(listByReflection(unknown), refusal('UNAUTHENTICATED', 'token_unknown'));
  });

  test('is served with a certificate', TIMEOUT, async (context) => {
    const tracker = await startGuarded(context, '127.0.0.1:0', ...mutualTls());
    const api = connect(context, tracker, { credentials: await secure({ certificate: true }) });
    await listByReflection(api);
    await assert.rejects(listByReflection(api, { client_id: 'mallory' }),
      refusal('PERMISSION_DENIED', 'not_your_client'));
  });
});

describe('the TLS options', () => {
  const unreachable = (error) => error.code === grpc.status.UNAVAILABLE;
  const list = (api) => api.call('ListCommands');

  test('--tls-cert and --tls-key require TLS from clients', TIMEOUT, async (context) => {
    const tracker = await startGuarded(context, '127.0.0.1:0', ...tls());
    const token = tokens.client;
    await list(connect(context, tracker, { token, credentials: await secure() }));
    await assert.rejects(list(connect(context, tracker, { token })), unreachable);
    const deceived = await secure({ authority: 'other/ca.pem' });
    await assert.rejects(list(connect(context, tracker, { token, credentials: deceived })),
      unreachable);
  });

  test('--tls-client-ca requires a client certificate', TIMEOUT, async (context) => {
    const tracker = await startGuarded(context, '127.0.0.1:0', ...mutualTls());
    const credentials = await secure({ certificate: true });
    await list(connect(context, tracker, { credentials }));
    await assert.rejects(
      list(connect(context, tracker, { token: tokens.client, credentials: await secure() })),
      unreachable);
  });

  test('invalid files and combinations are rejected at startup', TIMEOUT, async () => {
    const starting = (name, ...args) =>
      ServerProcess.start(name, ['--listen', '127.0.0.1:0', ...args]);
    const [certificate, key, authority] = ['server.pem', 'server-key.pem', 'ca.pem'].map(file);
    for (const [args, option] of [
      [['--tls-cert', file('none'), '--tls-key', key], /--tls-cert/],
      [['--tls-cert', certificate, '--tls-key', file('client-key.pem')], /--tls-key/],
      [['--tls-cert', certificate], /--tls-key/],
      [['--tls-client-ca', authority], /--tls-cert/],
      [['--tls-cert', certificate, '--tls-key', key, '--tls-client-ca', file('none'),
        '--token-file', file('tokens')], /--tls-client-ca/],
      [['--tls-cert', certificate, '--tls-key', key, '--tls-client-ca', authority],
        /needs --token-file/],
    ]) {
      await assert.rejects(starting('callslip-tracker', ...args), option, args.join(' '));
    }
    for (const none of [file('none'), key]) {
      await assert.rejects(starting('callslip-gateway', '--tls-ca', none), /--tls-ca/);
    }
  });

  /** The /readyz answer of a gateway that connects to the tracker with these options. */
  async function readinessOf(context, tracker, ...args) {
    const gateway = await ServerProcess.start('callslip-gateway', ['--listen', '127.0.0.1:0',
      '--token-file', file('tokens'), '--tracker', tracker.address, ...args]);
    context.after(() => gateway.stop());
    const answer = await fetch(`http://${gateway.address}/readyz`);
    return { code: answer.status, ...await answer.json(), log: () => gateway.log };
  }

  test('--tls-ca sets the authority that the gateway trusts', TIMEOUT, async (context) => {
    const tracker = await startGuarded(context, '127.0.0.1:0', ...tls());
    const trusting = await readinessOf(context, tracker, '--tls-ca', file('ca.pem'));
    assert.equal(trusting.code, 200);
    const without = await readinessOf(context, tracker);
    assert.equal(without.code, 503);
    const other = await readinessOf(context, tracker, '--tls-ca', file('other/ca.pem'));
    assert.equal(other.code, 503);
    assert.equal(other.error, 'tracker_unreachable');
    assert.match(other.hint, /--tls-ca/);
    // gRPC's own text, in a log line like any other.
    assert.match(other.log(), /"event":"grpc","reason":"[^"]*certificate verify failed/);
    for (const line of other.log().trim().split('\n')) assert.match(line, /^(\{|listening on )/);
  });
});
