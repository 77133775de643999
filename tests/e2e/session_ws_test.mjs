/** Sessions over WebSockets and event streams, with clients that we did not write. */
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

  test('begins with connected, loads what was, and tells what comes', async () => {
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
    // What was live is what is read later.
    const { events } = await sessions.call('GET', `/sessions/${id}/events?after_seq=${recorded}`);
    assert.deepEqual(events, [live]);
    await watcher.close();
  });

  test('tells each event once, whenever a peer comes', async () => {
    const id = await sessions.create();
    const count = 60;
    const appending = (async () => {
      for (let i = 0; i < count; i += 1) await sessions.append(id, `event ${i}`);
    })();
    const peers = await Promise.all(range(1, 4).map(async () => {
      const watcher = await sessions.watch(id);
      await watcher.ofType('connected');
      return { watcher, loaded: await watcher.loadAfter(0, 7) };
    }));
    await appending;
    const { max_seq: last } = await sessions.call('GET', `/sessions/${id}`);
    for (const { watcher, loaded } of peers) {
      const seen = () => [...loaded.map(({ seq }) => seq), ...watcher.seqs()];
      await watcher.find(() => seen().includes(last));
      assert.deepEqual(seen(), range(1, last).slice(-seen().length));
      assert.equal(Math.min(...seen()), loaded[0]?.seq ?? 1);
      await watcher.close();
    }
  });

  test('goes on after a lost connection without a gap', async () => {
    const id = await sessions.create();
    const first = await sessions.watch(id);
    const { last_seq: seen } = await sessions.append(id, 'seen');
    await first.withSeq(seen);
    first.socket.terminate();
    const { last_seq: missed } = await sessions.append(id, 'missed', 'missed too');
    const second = await sessions.watch(id);
    await second.ofType('connected');
    const { last_seq: live } = await sessions.append(id, 'live');
    const loaded = await second.loadAfter(seen);
    await second.withSeq(live);
    assert.deepEqual(loaded.map(({ seq }) => seq), range(seen + 1, missed));
    assert.deepEqual(second.seqs(), [live]);
    await second.close();
  });

  test('goes on after a restart of the gateway', async () => {
    const id = await sessions.create();
    const before = await sessions.watch(id);
    await before.ofType('connected');
    const { last_seq: seen } = await sessions.append(id, 'seen');
    await before.withSeq(seen);
    const closed = once(before.socket, 'close');
    await services.gateway.stop();
    assert.equal((await closed)[0], 1001);
    await services.startGateway();
    const after = await sessions.watch(id);
    await after.ofType('connected');
    assert.deepEqual(await after.loadAfter(seen), []);
    const { last_seq: next } = await sessions.append(id, 'next');
    await after.withSeq(next);
    await after.close();
  });

  test('tells of the queue, of turns and of permissions', async () => {
    const id = await sessions.create();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    const { id: message } = await sessions.call('POST', `/sessions/${id}/queue`, { message: 'hi' });
    const added = await watcher.ofType('queue_updated');
    assert.deepEqual(added.data, { queue_length: 1, action: 'added', message_id: message });

    // A runner takes it.
    const runner = new AbortController();
    const response = await fetch(`${services.gatewayUrl}/api/sessions/${id}/messages`, {
      signal: runner.signal,
    });
    // To stop reading would be to leave.
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

  test('tells who comes later which questions are open', async () => {
    const id = await sessions.create();
    const first = await sessions.watch(id);
    assert.deepEqual((await first.ofType('connected')).data.permissions, []);
    const options = ['yes', 'no'].map((option) => (
      { option_id: option, name: option, kind: 'allow_once' }));
    const asking = sessions.call('POST', `/sessions/${id}/permissions`, { title: 'May I?', options });
    const { permission_id: permission } = (await first.ofType('permission_asked')).data;
    // It outlives who was asked, and the first answer of two counts.
    first.socket.terminate();
    const peers = await Promise.all([sessions.watch(id), sessions.watch(id)]);
    for (const peer of peers) {
      const { permissions } = (await peer.ofType('connected')).data;
      assert.deepEqual(permissions.map((open) => open.permission_id), [permission]);
    }
    peers[0].send('permission_answer', { permission_id: permission, option_id: 'no' });
    await Promise.all(peers.map((peer) => peer.ofType('permission_answered')));
    peers[1].send('permission_answer', { permission_id: permission, option_id: 'yes' });
    assert.equal((await peers[1].ofType('request_failed')).data.error, 'permission_answered');
    assert.equal((await asking).selected_option, 'no');
    for (const peer of peers) await peer.close();
  });

  test('tells of all sessions over one socket', async () => {
    const all = await sessions.watchAll();
    await all.ofType('connected');
    const id = await sessions.create();
    await sessions.append(id, 'not told here, but that it is there');
    await sessions.call('POST', `/sessions/${id}/queue`, { message: 'm' });
    await sessions.call('PATCH', `/sessions/${id}`, { name: 'n' });
    await sessions.call('POST', `/sessions/${id}/end`, {});
    await sessions.call('POST', `/sessions/${id}/resume`);
    await sessions.call('DELETE', `/sessions/${id}`);
    await all.ofType('session_deleted');
    // That events of the sessions before were recorded may be told late.
    const messages = all.messages.filter(({ type, data }) => type !== 'session_activity' || data.session_id === id);
    // How often it is told is a matter of time.
    const told = messages.map(({ type }) => type).filter((type) => type !== 'session_activity');
    assert.deepEqual(told, ['connected', 'session_created',
      'queue_updated', 'session_updated', 'session_ended', 'session_resumed', 'session_deleted']);
    assert.ok(told.length < messages.length);
    for (const { data } of messages.slice(1)) assert.equal(data.session_id, id);
    await all.close();
  });

  test('refuses what does not exist', async () => {
    const watcher = await sessions.watch('nowhere');
    const closed = once(watcher.socket, 'close');
    assert.equal((await watcher.ofType('request_failed')).data.error, 'unknown_session');
    assert.equal((await closed)[0], 4404);
  });
});
