import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { Services } from './support/services.js';

const CLIENTS = 100;
const LOOKS = 100;

test('clients continue after the gateway is killed and restarted', { timeout: stretched(60_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  await services.step(async () => {
    const agents = await Promise.all(
      Array.from({ length: CLIENTS }, () => services.agentOverHttp()));
    const sessions = () => agents.map((agent) => agent.client.transport.sessionId);
    const before = sessions();
    assert.equal(new Set(before.filter(Boolean)).size, CLIENTS);
    const id = await agents[0].submit({ action: 'get_page' });

    await services.gateway.kill();
    await services.startGateway();

    const answers = await Promise.all(agents.map((agent) => agent.ask(id, 0)));
    for (const answer of answers) assert.equal(answer.status, 'pending', JSON.stringify(answer));
    assert.deepEqual(sessions(), before);
  });
});

test('the gateway stops cleanly after an agent has read a session many times', { timeout: stretched(60_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  await services.step(async () => {
    const created = await fetch(`${services.gatewayUrl}/api/sessions`, { method: 'POST',
      headers: { 'Content-Type': 'application/json' }, body: '{"name": "Looked at"}' });
    const { session_id: id } = await created.json();
    const { client } = await services.agentOverHttp();
    // Each call follows the session for a moment, during which no event comes.
    for (let look = 0; look < LOOKS; look += 1) {
      await client.callTool({ name: 'session', arguments: { what: 'answer', session_id: id } });
    }
    const { child } = services.gateway;
    await services.gateway.stop();
    assert.deepEqual([child.exitCode, child.signalCode], [0, null], services.gateway.log);
    await services.startGateway();
  });
});
