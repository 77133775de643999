/**
 * Two runners with different rules; one has a session and the sessions that its agent has made. It
 * is cut off, frozen or killed during their turns, and comes back. No child runs by the other
 * runner's rules, unless its parent is there; each message has its turn and reaches an agent at
 * most once, and every turn ends once.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../e2e/support/runner.js';
import { stretched } from '../support/patience.js';
import { Family } from './support/family.js';

/** The faults of the runner, and its return for those in which it loses its sessions. */
const FAULTS = {
  disconnected: { begin: ({ links: [link] }) => link.cut(), fails: 0 },
  frozen: {
    begin({ runners: [runner], links: [link] }) {
      runner.child.kill('SIGSTOP');
      link.cut();
    },
    end: ({ runners: [runner] }) => runner.child.kill('SIGCONT'),
  },
  'killed and restarted': {
    async begin({ runners: [runner] }) {
      await runner.kill();
      await runner.start();
    },
  },
  killed: {
    begin: ({ runners: [runner] }) => runner.kill(),
    async end({ services, runners: [runner] }) {
      await restart(services);
      await runner.start();
    },
  },
  'killed with the tracker': {
    begin: ({ services, runners: [runner] }) => Promise.all([runner.kill(), restart(services)]),
    end: ({ runners: [runner] }) => runner.start(),
  },
};

async function restart(services) {
  await services.tracker.kill();
  await services.startTracker();
}

/** Checks that the other runner, with the same agent and folder, works. */
async function isThere({ sessions }) {
  const id = await sessions.begin();
  await sessions.say(id, 'hello');
  await sessions.ended(id, 1);
  assert.equal((await sessions.agent(id)).runner_id, 'runner-1');
}

/** Turns have failed only because of their runner. */
function judge(context, { turns: { seen, messages } }) {
  context.diagnostic(JSON.stringify({ ...seen, messages }));
  assert.deepEqual(Object.keys(seen.reasons).filter((reason) => reason !== 'runner_lost'), []);
}

describe('the children of a session', { concurrency: true, timeout: stretched(60_000) }, () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    test(`return to their runner after it was ${name}`, async (context) => {
      const family = await Family.open(context);
      const { turns, sessions, parent, children } = family;
      const stop = family.talk();
      await family.isAsked();
      await fault.begin(family);
      if (fault.end !== undefined) {
        await family.wait();
        await isThere(family);
        for (const id of children) {
          await assert.rejects(sessions.control(id, 'start'), ({ message }) =>
            message.includes('"no_runner"') && message.includes('the session is for the runner \\"runner-0\\"'));
        }
        await family.areAt('', [parent, ...children]);
        await fault.end(family);
      }
      await stop();
      await turns.round();
      await family.areAt('runner-0');
      assert.deepEqual(await family.answers(), ['no by policy']);
      assert.equal(await turns.hasAsked(1), false);
      judge(context, family);
      if (fault.fails !== undefined) assert.equal(turns.seen.failed, fault.fails);
      await turns.finish();
    });
  }

  for (const [what, move] of Object.entries({
    'was started': ({ sessions, parent }) => sessions.control(parent, 'start'),
    'was sent a message': ({ sessions, parent }) => sessions.say(parent, 'hello'),
  })) {
    test(`follow their parent to another runner once it ${what}`, async (context) => {
      const family = await Family.open(context);
      const { turns, parent, children, runners: [first] } = family;
      await turns.round();
      const stop = family.talk();
      await family.isAsked();
      await first.kill();
      await family.wait();
      assert.equal(await turns.hasAsked(1), false);
      assert.deepEqual(await family.answers(), ['no by policy']);
      await move(family);
      await stop();
      // They stay there although the first runner is back and idle; so do new children.
      await first.start();
      await turns.round();
      const more = await family.makeAgain();
      await family.areAt('runner-1', [parent, ...children, more]);
      assert.deepEqual(await family.answers(), ['no by policy', 'yes by policy']);
      judge(context, family);
      await turns.finish();
    });
  }

  test('follow their parent to another runner if it lost its own during a turn',
    async (context) => {
    const family = await Family.open(context);
    const { turns, sessions, parent, children, runners: [first] } = family;
    await sessions.say(parent, [{ say: 'begun' }, { sleep: 60_000 }]);
    await until(async () => await sessions.answer(parent) === 'begun');
    const stop = family.talk();
    await family.isAsked();
    await first.kill();
    await family.come('runner-1');
    await stop();
    await turns.round();
    await family.areAt('runner-1', [parent, ...children]);
    assert.ok((await family.answers()).includes('yes by policy'));
    const ends = (await sessions.turns(parent)).map(({ outcome, reason }) => reason ?? outcome);
    assert.deepEqual(ends, ['completed', 'runner_lost']);
    judge(context, family);
    await turns.finish();
  });

  test('follow their parent to another runner after a session there wrote to it',
    async (context) => {
    const family = await Family.open(context);
    const { turns, sessions, parent, children, runners: [first] } = family;
    const there = await family.adopt(parent);
    await family.areAt('runner-1', [there]);
    const tool = await sessions.toolOf(there);
    const stop = family.talk();
    await family.isAsked();
    await first.kill();
    await family.wait();
    assert.equal((await tool({ what: 'enqueue', session_id: parent, message: 'hello' })).status, 'complete');
    await sessions.ended(parent, 2);
    await family.areAt('runner-1', [parent]);
    await family.come('runner-1');
    await stop();
    judge(context, family);
    await turns.finish();
  });
});

describe('a message from an agent to its parent', { concurrency: true, timeout: stretched(60_000) }, () => {
  test('is read at the runner of the agent, or is rejected', async (context) => {
    const family = await Family.open(context, { children: 0 });
    const { sessions, parent } = family;
    // Each session goes to the runner with fewer running agents.
    const there = await family.adopt(parent);
    await family.areAt('runner-1', [there]);
    const write = async (from, to) =>
      (await sessions.toolOf(from))({ what: 'enqueue', session_id: to, message: 'hello' });
    assert.equal((await write(there, parent)).error, 'workspace_not_allowed');
    const nobodys = await sessions.begin({ start: false });
    const here = await family.adopt(nobodys);
    await family.areAt('runner-0', [here]);
    await family.areAt('', [nobodys]);
    assert.equal((await write(here, nobodys)).status, 'complete');
    await sessions.ended(nobodys, 1);
    await family.areAt('runner-0', [nobodys]);
    assert.equal((await sessions.turns(parent)).length, 1);
  });

  test('waits until the lost runner of the parent returns', async (context) => {
    const family = await Family.open(context, { children: 1 });
    const { sessions, parent, children: [child], runners: [first] } = family;
    const tool = await sessions.toolOf(child);
    for (const id of [parent, child]) {
      await sessions.call('POST', `/sessions/${id}/queue-control`, { action: 'pause' });
      assert.equal((await tool({ what: 'enqueue', session_id: id, message: 'hello' })).status, 'complete');
    }
    const before = (await sessions.turns(parent)).length;
    await first.kill();
    await until(async () => await family.runnerOf(parent) === '', stretched(20_000));
    for (const id of [parent, child]) await sessions.call('POST', `/sessions/${id}/queue-control`, { action: 'resume' });
    await isThere(family);
    await family.areAt('', [parent, child]);
    assert.equal((await sessions.turns(parent)).length, before);
    await first.start();
    await sessions.ended(parent, before + 1);
    await family.areAt('runner-0', [parent]);
  });

  test('does not move a parent that belongs to another runner', async (context) => {
    const family = await Family.open(context);
    const { sessions, turns, children: [child], runners: [first], links: [, link] } = family;
    const there = await family.adopt(child);
    await family.areAt('runner-1', [there]);
    const tool = await sessions.toolOf(there);
    const stop = family.talk();
    await family.isAsked();
    await first.kill();
    await family.wait();
    await tool({ what: 'enqueue', session_id: child, message: 'hello' });
    // The runner learns of all its sessions when it reconnects.
    link.cut();
    await isThere(family);
    await family.areAt('', [child]);
    assert.equal(await turns.hasAsked(1), false);
    await first.start();
    await family.come('runner-0');
    await stop();
  });
});
