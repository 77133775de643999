/** The bundle of this build's programs, unpacked and started as a desktop client does. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { stretched } from '../support/patience.js';
import { pack, root, temporaryFolder, unpack } from './support.mjs';

const BIN = env.CALLSLIP_BIN ?? join(root, 'build/dev/bin');

/** A free port: a test has to name it before a server listens. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether a program of `folder` is running. */
const isInUse = (folder) => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).some((pid) => {
  try {
    return readlinkSync(`/proc/${pid}/exe`).startsWith(folder);
  } catch {
    return false;  // It has ended, or is somebody else's.
  }
});

let folder;
before(() => {
  const packed = pack(['mcpb', BIN, temporaryFolder()]);
  assert.equal(packed.status, 0, packed.error);
  ({ folder } = unpack(packed.path));
});

/** An agent's first two calls, at a bridge started with these settings in `home`. */
async function useBundle(home, userConfig) {
  const { command, args, env: settings } = await getMcpConfigForManifest({
    manifest: JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')),
    extensionPath: folder, systemDirs: {}, pathSeparator: '/',
    userConfig: { gateway: `http://127.0.0.1:${await freePort()}`, ...userConfig },
  });
  const bridge = spawn(command, args, {
    env: { PATH: env.PATH, HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: home, ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(bridge, 'exit');
  try {
    const lines = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
    const call = async (id, method, params) => {
      bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const answer = JSON.parse((await lines.next()).value);
      assert.equal(answer.id, id);
      assert.ok(answer.result, JSON.stringify(answer));
      return answer.result;
    };
    const { serverInfo } = await call(1, 'initialize', {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'desktop', version: '1' },
    });
    assert.equal(serverInfo.name, 'callslip');
    const answer = await call(2, 'tools/call',
      { name: 'interact', arguments: { action: 'execute_js', script: '1' } });
    assert.equal(answer.structuredContent.status, 'queued');
  } finally {
    bridge.stdin.end();
    assert.deepEqual(await ended, [0, null]);
    while (isInUse(folder)) await pause(10);
  }
}

const TIMEOUT = { timeout: stretched(60_000) };

test('an agent gets answers from the bundle with default settings', TIMEOUT, () =>
  useBundle(temporaryFolder(), {}));

test('an agent gets answers from the bundle with a token file, which is created', TIMEOUT,
  async () => {
  const home = temporaryFolder();
  const tokens = join(home, 'tokens');
  assert.ok(!existsSync(tokens));
  await useBundle(home, { token_file: tokens });
  assert.match(readFileSync(tokens, 'utf8'), /^worker extension /m);
});
