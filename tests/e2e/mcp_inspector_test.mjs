import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stretched } from '../support/patience.js';
import { FakeWorker } from './support/fake_worker.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: stretched(60_000) };
/** The longest run of the inspector, which connects, calls and ends, in ms. */
const RUN_PATIENCE_MS = 20_000;

/** The inspector needs a newer Node than the tests, and is installed beside one. */
const PACKAGES = fileURLToPath(new URL('../conformance/node_modules', import.meta.url));
const NODE = join(PACKAGES, '.bin/node');
const INSPECTOR = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';

let services;
let worker;
let home;

before(async () => {
  assert.ok(existsSync(join(PACKAGES, INSPECTOR)), `${PACKAGES} is incomplete: run ./dev setup.`);
  home = await mkdtemp(join(tmpdir(), 'callslip-inspector-'));
  services = await Services.open();
  worker = FakeWorker.start(services.gatewayUrl, ({ script }) => ({ success: true, data: script }));
});

after(async () => {
  await worker?.stop();
  await services?.close();
  await rm(home, { recursive: true, force: true });
});

/** Runs the inspector for one method; returns the printed result. */
async function inspect(era, method, ...args) {
  const url = `${services.gatewayUrl}/mcp`;
  const target = ['--cli', '--transport', 'http', '--server-url', url, '--protocol-era', era];
  const all = [join(PACKAGES, INSPECTOR), ...target, '--method', method, ...args];
  // It stores files below the home folder.
  const env = { ...process.env, HOME: home };
  const { stdout } = await promisify(execFile)(NODE, all, { env, timeout: stretched(RUN_PATIENCE_MS) });
  return JSON.parse(stdout);
}

async function callTool(era, name, args) {
  const json = JSON.stringify(args);
  const options = ['--tool-name', name, '--tool-args-json', json];
  const { structuredContent } = await inspect(era, 'tools/call', ...options);
  return structuredContent;
}

for (const era of ['legacy', 'modern']) {
  test(`the ${era} inspector lists the tools and accepts their schemas`, TIMEOUT, () =>
    services.step(async () => {
      // With --strict it fails on schemas that some clients would reject.
      const { tools } = await inspect(era, 'tools/list', '--strict');
      assert.deepEqual(tools.map(({ name }) => name), ['interact', 'observe', 'analyze', 'session']);
    }));

  test(`the ${era} inspector submits a command and collects its result`, TIMEOUT, () =>
    services.step(async () => {
      const params = { action: 'execute_js', script: 'the answer' };
      const first = await callTool(era, 'interact', params);
      // The modern one has called it as a task, and waited for the task.
      const question = {
        what: 'command_result', correlation_id: first.correlation_id, wait_ms: 8_000 };
      const answer = first.final ? first : await callTool(era, 'observe', question);
      assert.equal(answer.status, 'complete', JSON.stringify(answer));
      assert.equal(answer.result, 'the answer');
    }));
}
