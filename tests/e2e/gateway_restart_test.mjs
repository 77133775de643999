import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Services } from './support/services.js';

const CLIENTS = 100;

test('clients go on after the gateway was killed', { timeout: 60_000 }, async (context) => {
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
