/** An agent works with another agent's session, through the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { Services } from './support/services.js';
import { Sessions } from './support/watcher.js';

describe('the session tool', { timeout: stretched(60_000) }, () => {
  let services;
  let sessions;
  before(async () => {
    services = await Services.open();
    sessions = new Sessions(services);
  });
  after(() => services?.close());

  for (const [over, connect] of [['HTTP', 'agentOverHttp'], ['the bridge', 'agentOverBridge']]) {
    test(`submits a message to another agent and waits for its turn, over ${over}`, () => services.step(
      async () => {
        const agent = await services[connect]();
        const id = await sessions.create();
        const call = async (args) => (await agent.call('session', args)).structuredContent;
        const listed = await call({ what: 'list', limit: 1 });
        assert.equal(listed.result.sessions[0].session_id, id);
        const queued = await call({ what: 'enqueue', session_id: id, message: 'Run the tests.' });
        assert.match(queued.result.id, /^q-\d+-[0-9a-f]{8}$/);
        const waiting = call({ what: 'wait', session_id: id, wait_ms: 20_000 });

        // Acts as the other agent's runner.
        const leave = new AbortController();
        const stream = await fetch(`${services.gatewayUrl}/api/sessions/${id}/messages`, {
          signal: leave.signal,
        });
        const reader = stream.body.getReader();
        let text = '';
        while (!/^data: .*\n\n/m.test(text)) {
          text += Buffer.from((await reader.read()).value).toString();
        }
        const { turn_id: turn, message } = JSON.parse(text.match(/^data: (.*)\n\n/m)[1]);
        assert.equal(message.message, 'Run the tests.');
        await sessions.call('POST', `/sessions/${id}/turns/${turn}`, { action: 'start' });
        const { last_seq: last } = await sessions.append(id, 'They pass.');
        const finish = { action: 'finish', outcome: 'completed' };
        await sessions.call('POST', `/sessions/${id}/turns/${turn}`, finish);
        const ended = await waiting;
        assert.equal(ended.status, 'complete');
        assert.equal(ended.final, true);
        assert.equal(ended.result.max_seq, last + 1);

        const { result } = await call({ what: 'read', session_id: id, limit: 3 });
        assert.deepEqual(result.events.map(({ type }) => type),
          ['user_prompt', 'agent_message', 'turn_end']);
        assert.equal(result.events[1].data.text, 'They pass.');
        const unknown = await call({ what: 'read', session_id: 'nowhere' });
        assert.equal(unknown.error, 'unknown_session');
        leave.abort();
      },
    ));
  }
});
