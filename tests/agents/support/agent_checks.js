import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../../support/patience.js';
import { Setting } from './setting.js';

/** The checks that every agent of the table has to pass. */
export function checkAgent(agent) {
  describe(`${agent.name} in a session`, { timeout: stretched(240_000) }, () => {
    let setting;
    let sessions;
    before(async () => {
      setting = await Setting.open(agent);
      ({ sessions } = setting);
    });
    after(() => setting?.close());

    test('has no network except loopback', { skip: process.env.CALLSLIP_OFFLINE !== 'namespace' }, async () => {
      assert.deepEqual(Object.keys(networkInterfaces()), ['lo']);
      const socket = connect(80, '192.0.2.1');
      const error = await new Promise((resolve) => { socket.once('error', resolve); });
      assert.equal(error.code, 'ENETUNREACH');
    });

    test('answers over REST and a WebSocket with the same events', () =>
      setting.step(async () => {
        const id = await setting.begin();
        const { watcher, seen } = await setting.watch(id);
        await sessions.say(id, [{ say: 'Hello from ' }, { hold: 'first' }, { say: 'a model of ours.' }]);
        // Seen during the turn.
        await seen('agent_message');
        assert.equal((await sessions.turns(id)).length, 0);
        setting.model.release('first');
        const { data: end } = await seen('turn_end');
        assert.deepEqual([end.outcome, end.stop_reason], ['completed', 'end_turn']);
        assert.equal(await sessions.answer(id), 'Hello from a model of ours.');
        const events = await setting.events(id);
        const live = watcher.messages.filter(({ seq }) => seq !== undefined);
        assert.deepEqual(live, events.filter(({ seq }) => seq >= live[0].seq));
        await watcher.close();
      }));

    for (const [word, option] of [['allowed', /^allow_once/], ['rejected', /^reject_once/]]) {
      test(`asks before it writes a file, and obeys when this is ${word}`,
        () => setting.step(async () => {
        const id = await setting.begin();
        const path = join(setting.runner.dir, `${word}.txt`);
        const { watcher, seen } = await setting.watch(id);
        await sessions.say(id, [agent.write(path, 'written'), { say: 'Done.' }]);
        const { data: asked } = await seen('permission_asked');
        assert.equal(existsSync(path), false);
        const { option_id } = asked.options.find(({ kind }) => option.test(kind));
        watcher.send('permission_answer', { permission_id: asked.permission_id, option_id });
        const { data: end } = await seen('turn_end');
        if (word === 'allowed') {
          assert.equal(end.outcome, 'completed');
          assert.equal((await readFile(path, 'utf8')).trim(), 'written');
        } else {
          assert.equal(end.outcome, agent.afterRejection ?? 'completed');
          assert.equal(existsSync(path), false);
        }
        const decided = (await setting.events(id)).filter(({ type }) => type === 'permission')
          .map(({ data }) => [data.permission_id, data.selected_option, data.decided_by]);
        assert.deepEqual(decided, [[asked.permission_id, option_id, 'person']]);
        await watcher.close();
      }));
    }

    test('uses the tools of the gateway', () => setting.step(async () => {
      const id = await setting.begin();
      await setting.allows(id);
      await sessions.say(id, [{ call: agent.tool('session'), args: { what: 'list' } },
        { say: 'I see ' }, { repeat: true }]);
      const [turn] = await setting.ended(id);
      assert.equal(turn.outcome, 'completed');
      // Its own session is in the list.
      assert.match(await sessions.answer(id), new RegExp(`^I see .*"session_id": ?"${id}"`, 's'));
    }));

    test('sends requests only to its model', () => {
      assert.deepEqual(setting.model.refused, []);
      const others = setting.nowhere.asked.filter((what) => !agent.alsoAsksFor?.test(what));
      assert.deepEqual(others, []);
    });
  });
}
