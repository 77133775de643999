/**
 * The gateway's API for a page of sessions: pending questions and messages, streamed text, long
 * events.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { Services } from './support/services.js';
import { Sessions } from './support/watcher.js';

describe('a page that shows sessions', { timeout: stretched(120_000) }, () => {
  let services;
  let sessions;
  before(async () => {
    services = await Services.open();
    sessions = new Sessions(services);
  });
  after(() => services?.close());

  const listed = async (id) => {
    const { sessions: all } = await sessions.call('GET', '/sessions?limit=500');
    return all.find(({ session_id: one }) => one === id);
  };

  test('lists open permissions and paused queues, and is notified of changes', async () => {
    const all = await sessions.watchAll();
    await all.ofType('connected');
    const id = await sessions.create();
    assert.equal((await listed(id)).open_permissions, 0);
    assert.equal((await listed(id)).client_id, 'local');

    const asking = sessions.call('POST', `/sessions/${id}/permissions`, {
      title: 'rm -rf build',
      kind: 'execute',
      details: { command: 'rm -rf build' },
      options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }],
    });
    const { data: asked } = await all.ofType('permission_asked');
    const { permission_id: permission, asked_at: since } = asked;
    assert.deepEqual(asked, {
      session_id: id,
      permission_id: permission,
      title: 'rm -rf build',
      kind: 'execute',
      asked_at: since,
      status: 'open',
      open_permissions: 1,
    });
    assert.equal((await listed(id)).open_permissions, 1);
    await sessions.call('POST', `/sessions/${id}/permissions/${permission}`, { option_id: 'yes' });
    const { data: answered } = await all.ofType('permission_answered');
    assert.equal(answered.selected_option, 'yes');
    assert.equal(answered.open_permissions, 0);
    assert.equal((await asking).status, 'answered');
    assert.equal((await listed(id)).open_permissions, 0);

    await sessions.call('POST', `/sessions/${id}/queue-control`, { action: 'pause', reason: 'lunch' });
    assert.equal((await all.ofType('queue_updated')).data.pause_reason, 'lunch');
    assert.equal((await listed(id)).pause_reason, 'lunch');
    await sessions.call('POST', `/sessions/${id}/queue-control`, { action: 'resume' });
    assert.ok(!('pause_reason' in await listed(id)));
    await all.close();
  });

  test('is notified of new events at a limited rate, and always of the last one', async () => {
    const all = await sessions.watchAll();
    await all.ofType('connected');
    const id = await sessions.create();
    const started = Date.now();
    let last;
    for (let i = 0; i < 50; i += 1) ({ last_seq: last } = await sessions.append(id, `event ${i}`));
    await all.find(({ type, data }) => type === 'session_activity' && data.max_seq === last);
    const seconds = (Date.now() - started) / 1000;
    const told = all.messages.filter(({ type }) => type === 'session_activity')
      .map(({ data }) => data);
    assert.ok(told.length <= 2 + seconds, `${told.length} in ${seconds} s`);
    assert.deepEqual(Object.keys(told[0]).sort(), ['max_seq', 'session_id', 'updated_at']);
    assert.equal(told.at(-1).updated_at, (await listed(id)).updated_at);
    await all.close();
  });

  test('shows an unfinished answer, also if it connects later', async () => {
    const id = await sessions.create();
    const say = (piece) => sessions.call('POST', `/sessions/${id}/agent-text`, piece);
    const first = await sessions.watch(id);
    assert.ok(!('agent_text' in (await first.ofType('connected')).data));
    await say({ iteration: 0, offset: 0, text: 'Gr\u00fc\u00df' });
    await first.ofType('agent_text');
    const second = await sessions.watch(id);
    assert.deepEqual((await second.ofType('connected')).data.agent_text,
      { iteration: 0, offset: 0, text: 'Gr\u00fc\u00df' });
    await say({ iteration: 0, offset: 6, text: ' Gott' });
    assert.deepEqual((await second.ofType('agent_text')).data,
      { iteration: 0, offset: 6, text: ' Gott' });
    const before = await sessions.call('GET', `/sessions/${id}/events`);
    assert.deepEqual(before.events.map(({ type }) => type), ['session_start']);

    await say({ iteration: 0, offset: 11, text: '!', end: true });
    for (const watcher of [first, second]) {
      assert.deepEqual((await watcher.ofType('agent_message')).data,
        { text: 'Gr\u00fc\u00df Gott!', iteration: 0 });
    }
    const third = await sessions.watch(id);
    assert.ok(!('agent_text' in (await third.ofType('connected')).data));
    for (const watcher of [first, second, third]) await watcher.close();
  });

  test('gets the text again after a tracker crash, which loses unstored text', async () => {
    const id = await sessions.create();
    const say = (piece) => sessions.call('POST', `/sessions/${id}/agent-text`, piece);
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    await say({ iteration: 0, offset: 0, text: 'lost' });
    await watcher.ofType('agent_text');
    await services.tracker.kill();
    await services.startTracker();
    await watcher.ofType('notices_missed');
    await assert.rejects(say({ iteration: 0, offset: 4, text: '!' }), /answer_gap/);
    await say({ iteration: 0, offset: 0, text: 'lost!' });
    const again = await watcher.find(({ type, data }) => type === 'agent_text' && data.text === 'lost!');
    assert.equal(again.data.offset, 0);
    await watcher.close();
  });

  test('reads long events truncated to a requested size, and a single one in full', async () => {
    const id = await sessions.create();
    const output = '\u20ac'.repeat(300_000);
    const events = [{
      type: 'tool_call_update',
      data: { tool_call_id: 'call-1', status: 'completed', raw_output: { output, exit_code: 0 } },
    }];
    const { last_seq: seq } = await sessions.call('POST', `/sessions/${id}/events`, { events });
    const check = (event) => {
      assert.ok(Buffer.byteLength(JSON.stringify(event)) <= 4096);
      assert.equal(event.data.tool_call_id, 'call-1');
      assert.equal(event.data.status, 'completed');
      assert.equal(event.data.raw_output.exit_code, 0);
      assert.ok(event.data.raw_output.output.length > 1000);
      assert.ok(output.startsWith(event.data.raw_output.output));
      assert.ok(event.omitted_bytes > 890_000);
    };
    const read = (query) => sessions.call('GET', `/sessions/${id}/events?${query}`);
    check((await read('max_event_bytes=4096')).events.at(-1));
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    watcher.send('load_events', { before_seq: seq + 1, max_event_bytes: 4096 });
    const { data: loaded } = await watcher.ofType('events_loaded');
    check(loaded.events.at(-1));
    assert.ok(!('omitted_bytes' in loaded.events[0]));
    const { events: [whole] } = await read(`after_seq=${seq - 1}&limit=1`);
    assert.equal(whole.data.raw_output.output, output);
    assert.ok(!('omitted_bytes' in whole));
    await assert.rejects(read('max_event_bytes=10'), /400.*1024 to 4194304/);
    await watcher.close();
  });
});
