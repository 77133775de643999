/** A problem at a start is reported at once, or passes. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '../e2e/support/agent.js';
import { ServerProcess } from '../e2e/support/processes.js';
import { settlesWithin } from '../e2e/support/waiting.js';
import { stretched } from '../support/patience.js';
import { BridgePipe } from './support/agent_pipe.js';
import { Ledger } from './support/ledger.js';

/** `interact` waits 1.5 s for an unreachable tracker; an answer is late after 2 s more. */
const ANSWER_MS = stretched(3_500);
const START_MS = stretched(5_000);

async function occupiedAddress(context) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return `127.0.0.1:${server.address().port}`;
}

for (const name of ['callslip-tracker', 'callslip-gateway']) {
  test(`${name} reports at once that its port is in use`, async (context) => {
    const address = await occupiedAddress(context);
    const start = ServerProcess.start(name, ['--listen', address]);
    const { status, reason } = await settlesWithin(START_MS, 'The start', start);
    assert.equal(status, 'rejected');
    assert.match(reason.message, new RegExp(`cannot listen on ${address}`));
  });
}

test('a gateway becomes ready when its tracker starts later', { timeout: stretched(60_000) },
  async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'callslip-start-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const tracker = `unix:${join(folder, 'socket')}`;
  const gateway = await ServerProcess.start('callslip-gateway',
    ['--listen', '127.0.0.1:0', '--tracker', tracker]);
  context.after(() => gateway.stop());
  const url = `http://${gateway.address}`;
  const readiness = async () => (await fetch(`${url}/readyz`)).status;
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal(await readiness(), 503);

  const ledger = new Ledger();
  const pipe = await BridgePipe.open(url, ledger);
  context.after(() => pipe.close());
  const agent = await Agent.overHttp(url);
  context.after(() => agent.close());
  const action = { action: 'get_page' };
  const calls = [pipe.call('interact', action), agent.call('interact', action)];
  const answers = await Promise.all(calls.map(async (call) => {
    const { value, reason } = await settlesWithin(ANSWER_MS, 'A call without a tracker', call);
    return value?.structuredContent ?? value ?? reason;
  }));
  for (const answer of answers) assert.equal(answer.error, 'tracker_unreachable', answer);

  const started = await ServerProcess.start('callslip-tracker',
    ['--listen', tracker, '--data-dir', join(folder, 'data')]);
  context.after(() => started.stop());
  while ((await readiness()) !== 200) await pause(50);
  for (const caller of [(args) => pipe.call('interact', args),
    async (args) => (await agent.call('interact', args)).structuredContent]) {
    assert.equal((await caller(action)).status, 'queued');
  }
});
