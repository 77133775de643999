import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { processesWith } from '../../e2e/support/runner.js';
import { stretched } from '../../support/patience.js';
import { Setting } from './setting.js';

/** Runs the agent, and writes to the file $0 whether it got SIGTERM, and its exit code. */
const WITNESS = 'trap "echo asked >> $0" TERM; "$@"; echo "$?" >> "$0"';

/**
 * The agents of `count` sessions end together with their runner, as they should: at the end of
 * their input, without a signal, and with 0. Reports how long it took.
 */
export function checkStop(name, agent, { count = 1 } = {}) {
  test(name, { timeout: stretched(60_000 + count * 20_000) }, async (context) => {
    const setting = await Setting.open(agent, {
      change: (entry) => ({ ...entry, command: ['sh', '-c', WITNESS, 'ends', ...entry.command] }),
      limits: { running_agents: count },
      workspace: { max_running: count },
    });
    try {
      const took = await setting.step(() => stopped(setting, count));
      context.diagnostic(`${count} of ${agent.name} have ended after ${took.toFixed(0)} ms`);
    } finally {
      await setting.close();
    }
  });
}

async function stopped(setting, count) {
  const { home, runner, sessions } = setting;
  const ids = [];
  for (let i = 0; i < count; ++i) ids.push(await setting.begin());
  for (const id of ids) await sessions.say(id, [{ say: 'Here.' }]);
  for (const id of ids) {
    const [turn] = await setting.ended(id);
    assert.equal(turn.outcome, 'completed');
  }
  const begun = performance.now();
  await runner.stop();
  const took = performance.now() - begun;
  assert.equal(runner.child.signalCode, null);
  assert.deepEqual(await processesWith(`HOME=${home}`), []);
  const ends = await readFile(join(runner.dir, 'ends'), 'utf8');
  assert.deepEqual(ends.trim().split('\n'), Array(count).fill('0'));
  return took;
}
