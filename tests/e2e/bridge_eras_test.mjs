/** Both eras of MCP over stdio, with the official clients. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { Bridge } from './support/bridge.js';
import { FakeWorker } from './support/fake_worker.js';
import { binary, ServerProcess } from './support/processes.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: stretched(30_000) };
const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'callslip-e2e', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

let services;
let worker;

before(async () => {
  services = await Services.open();
  worker = FakeWorker.start(services.gatewayUrl, ({ script }) => ({ success: true, data: script }));
});

after(async () => {
  await worker?.stop();
  await services?.close();
});

function stdio(gatewayUrl) {
  return new StdioClientTransport({
    command: binary('callslip-bridge'), args: ['--gateway', gatewayUrl], stderr: 'pipe' });
}

function modernClient(mode) {
  return new Client({ name: 'callslip-e2e', version: '1.0.0' }, { versionNegotiation: { mode } });
}

for (const mode of ['auto', { pin: MODERN }]) {
  test(`a modern client runs a command (${JSON.stringify(mode)})`, TIMEOUT, () =>
    services.step(async () => {
      const agent = services.keepAgent(
        await Agent.over(stdio(services.gatewayUrl), modernClient(mode)));
      assert.equal(agent.client.getProtocolEra(), 'modern');
      const { result } = await agent.run({ action: 'execute_js', script: 'the answer' });
      assert.equal(result, 'the answer');
    }));
}

test('20 agents at once get their own results', TIMEOUT, () => services.step(async () => {
  const agents = await Promise.all(Array.from({ length: 20 }, () => services.agentOverBridge()));
  const answers = await Promise.all(agents.map((agent, i) =>
    agent.run({ action: 'execute_js', script: `agent ${i}` })));
  answers.forEach(({ result }, i) => assert.equal(result, `agent ${i}`));
}));

test('a request sent before the gateway is up is answered after its start', TIMEOUT, () =>
  services.step(async () => {
    const reserved = createServer().listen(0, '127.0.0.1');
    await once(reserved, 'listening');
    const { port } = reserved.address();
    reserved.close();
    await once(reserved, 'close');
    const bridge = services.keepAgent(await Bridge.start(['--gateway', `http://127.0.0.1:${port}`]));
    const discover = bridge.request('server/discover', { _meta: META });
    const gateway = await ServerProcess.start('callslip-gateway',
      ['--listen', `127.0.0.1:${port}`, '--tracker', services.tracker.address]);
    services.onClose(() => gateway.stop());
    const { result } = await discover;
    assert.ok(result.supportedVersions.includes(MODERN));
    await bridge.close();
  }));

test('a subscription reports its task, and gets no response when it is cancelled', TIMEOUT, () =>
  services.step(async () => {
    const bridge = services.keepAgent(await Bridge.start(['--gateway', services.gatewayUrl]));
    const { result } = await bridge.request('tools/call', {
      name: 'interact',
      arguments: { action: 'execute_js', script: 'subscribed' },
      _meta: META,
    });
    const taskId = result.taskId ?? result.structuredContent.correlation_id;
    const listen = bridge.send('subscriptions/listen',
      { notifications: { taskIds: [taskId] }, _meta: META });
    const told = (method) => bridge.messages.some((message) => message.method === method);
    while (!told('notifications/tasks')) await bridge.request('tools/list', { _meta: META });
    const order = bridge.messages.map(({ method }) => method).filter(Boolean);
    assert.equal(order[0], 'notifications/subscriptions/acknowledged');
    await bridge.notify('notifications/cancelled', { requestId: listen.id });
    await bridge.request('tools/list', { _meta: META });
    assert.deepEqual(bridge.answers.get(listen.id), []);
    await bridge.close();
  }));

test('a subscription whose gateway is killed gets one final error', TIMEOUT, async (context) => {
  const others = await Services.open();
  context.after(() => others.close());
  await others.step(async () => {
    const bridge = others.keepAgent(await Bridge.start(['--gateway', others.gatewayUrl]));
    const listen = bridge.send('subscriptions/listen', { notifications: {}, _meta: META });
    // The subscription exists: before its acknowledgement there is none to lose.
    const stands = () => bridge.messages.some(({ method }) => method === 'notifications/subscriptions/acknowledged');
    while (!stands()) await bridge.request('tools/list', { _meta: META });
    await others.gateway.kill();
    assert.equal((await listen.answer).error.data.reason, 'subscription_lost');
    await others.startGateway();
    assert.ok((await bridge.request('tools/list', { _meta: META })).result);
    assert.equal(bridge.answers.get(listen.id).length, 1);
  });
});
