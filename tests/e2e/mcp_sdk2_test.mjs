import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { FakeWorker } from './support/fake_worker.js';
import { binary } from './support/processes.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: stretched(30_000) };
const MODERN = '2026-07-28';

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

function overHttp() {
  return new StreamableHTTPClientTransport(new URL('/mcp', services.gatewayUrl));
}

function overBridge() {
  return new StdioClientTransport({
    command: binary('callslip-bridge'),
    args: ['--gateway', services.gatewayUrl],
    stderr: 'pipe',
  });
}

/** Connects SDK 2.x in one of its modes, by default in its default mode. */
async function connect(transport, mode) {
  const options = mode ? { versionNegotiation: { mode } } : {};
  const client = new Client({ name: 'callslip-e2e', version: '1.0.0' }, options);
  return services.keepAgent(await Agent.over(transport, client));
}

const CONNECTIONS = [
  { name: 'in its default mode', transport: overHttp, era: 'legacy' },
  { name: 'in its default mode over the bridge', transport: overBridge, era: 'legacy' },
  { name: 'in auto mode', transport: overHttp, mode: 'auto', era: 'modern' },
  { name: `pinned to ${MODERN}`, transport: overHttp, mode: { pin: MODERN }, era: 'modern' },
];

for (const { name, transport, mode, era } of CONNECTIONS) {
  test(`a client of SDK 2.x ${name} submits a command and gets its result`, TIMEOUT, () =>
    services.step(async () => {
      const agent = await connect(transport(), mode);
      assert.equal(agent.client.getProtocolEra(), era);
      assert.equal(agent.client.getServerVersion().name, 'callslip');
      assert.deepEqual(agent.toolNames, ['interact', 'observe', 'analyze', 'session']);

      const { result } = await agent.run({ action: 'execute_js', script: 'the answer' });
      assert.equal(result, 'the answer');

      const refused = await agent.call('interact', { action: 'execute_js' });
      assert.equal(refused.isError, true);
      assert.match(refused.structuredContent.message, /script/);
      await assert.rejects(agent.call('no_such_tool', {}), { code: -32602 });
    }));
}
