/** Sessions over WebSockets and event streams, with third-party clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { Services } from './support/services.js';
import { Sessions, range } from './support/watcher.js';

describe('a session over a WebSocket', { timeout: stretched(120_000) }, () => {
  let services;
  let sessions;
  before(async () => {
    services = await Services.open();
    sessions = new Sessions(services);
  });
  after(() => services?.close());

  test('sends connected, earlier and live events, and survives a gateway restart', async () => {
    const id = await sessions.create();
    const { last_seq: recorded } = await sessions.append(id, 'one', 'two', 'three');
    const watcher = await sessions.watch(id);
    const connected = await watcher.ofType('connected');
    assert.equal(watcher.messages[0], connected);
    assert.equal(connected.data.max_seq, recorded);
    const loaded = await watcher.loadAfter(0, 2);
    assert.deepEqual(loaded.map(({ seq }) => seq), range(loaded[0].seq, recorded));
    assert.deepEqual(loaded.slice(-3).map(({ data }) => data.text), ['one', 'two', 'three']);
    await sessions.append(id, 'four');
    const live = await watcher.withSeq(recorded + 1);
    assert.equal(live.type, 'agent_message');
    assert.deepEqual(live.data, { text: 'four' });
    watcher.send('keepalive', { last_seen_seq: live.seq });
    assert.equal((await watcher.ofType('keepalive_ack')).data.max_seq, live.seq);
    // The live event is equal to the one read later.
    const { events } = await sessions.call('GET', `/sessions/${id}/events?after_seq=${recorded}`);
    assert.deepEqual(events, [live]);

    const closed = once(watcher.socket, 'close');
    await services.gateway.stop();
    assert.equal((await closed)[0], 1001);
    await services.startGateway();
    const after = await sessions.watch(id);
    await after.ofType('connected');
    assert.deepEqual(await after.loadAfter(live.seq), []);
    await after.close();
  });

  test('reports queue, turn and permission changes', async () => {
    const id = await sessions.create();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    const { id: message } = await sessions.call('POST', `/sessions/${id}/queue`, { message: 'hi' });
    const added = await watcher.ofType('queue_updated');
    assert.deepEqual(added.data, { queue_length: 1, action: 'added', message_id: message });

    // A runner takes the message.
    const runner = new AbortController();
    const response = await fetch(`${services.gatewayUrl}/api/sessions/${id}/messages`, {
      signal: runner.signal,
    });
    // To stop reading would close the connection.
    const reader = response.body.getReader();
    let text = '';
    let received;
    while (received === undefined) {
      text += Buffer.from((await reader.read()).value).toString();
      received = text.match(/^data: (.*)\n\n/m)?.[1];
    }
    const { turn_id: turn } = JSON.parse(received);
    assert.equal((await watcher.ofType('queue_message_sending')).data.message_id, message);
    await sessions.call('POST', `/sessions/${id}/turns/${turn}`, { action: 'start' });
    assert.equal((await watcher.ofType('queue_message_sent')).data.message_id, message);
    assert.equal((await watcher.ofType('user_prompt')).data.queue_id, message);

    const asking = sessions.call('POST', `/sessions/${id}/permissions`, {
      title: 'May I?',
      options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }],
    });
    const asked = await watcher.ofType('permission_asked');
    watcher.send('permission_answer', {
      permission_id: asked.data.permission_id,
      option_id: 'yes',
    });
    assert.equal((await asking).selected_option, 'yes');
    assert.equal((await watcher.ofType('permission_answered')).data.status, 'answered');

    await sessions.call('POST', `/sessions/${id}/turns/${turn}`, { action: 'finish', outcome: 'completed' });
    assert.equal((await watcher.ofType('turn_ended')).data.outcome, 'completed');
    runner.abort();
    await watcher.close();
  });
});
