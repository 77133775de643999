/** Eight sessions of opencode: in one process, and in eight processes that end together. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { processesWith } from '../e2e/support/runner.js';
import { stretched } from '../support/patience.js';
import { opencode } from './support/agents.js';
import { Setting } from './support/setting.js';
import { checkStop } from './support/stops.js';

const COUNT = 8;

/** A process's private memory and its share of the shared memory, in KiB. */
async function memoryOf(pid) {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(text.match(/^Pss:\s+(\d+) kB/m)[1]);
}

async function shared(setting, context) {
  const { home, sessions } = setting;
  const keepersAndAgents = () => processesWith(`HOME=${home}`);
  const memory = async () => {
    const each = await Promise.all((await keepersAndAgents()).map(memoryOf));
    return each.reduce((sum, kib) => sum + kib, 0);
  };
  const converses = async (ids) => {
    await Promise.all(ids.map((id, i) => sessions.say(id,
      [{ say: `I am ${i}. ` }, { call: opencode.tool('session'), args: { what: 'list' } }, { say: 'Still.' }])));
    for (const [i, id] of ids.entries()) {
      const turns = await setting.ended(id, 1);
      assert.equal(turns[0].outcome, 'completed');
      assert.equal(await sessions.answer(id), `I am ${i}. Still.`);
    }
  };
  await converses([await setting.begin()]);
  const first = await keepersAndAgents();
  const alone = await memory();
  await converses(await Promise.all(Array.from({ length: COUNT - 1 }, () => setting.begin())));
  // The same processes serve all sessions.
  assert.deepEqual(await keepersAndAgents(), first);
  assert.equal(first.length, 2);
  const all = await memory();
  context.diagnostic(`one session ${(alone / 1024).toFixed(0)} MiB, ${COUNT} in the same process `
    + `${(all / 1024).toFixed(0)} MiB: ${(all / alone).toFixed(2)} times as much`);
  assert.ok(all <= 1.3 * alone, `${all} KiB against ${alone}`);
}

test('sessions share a process', { timeout: stretched(180_000) }, async (context) => {
  const setting = await Setting.open(opencode, { limits: { sessions_per_process: COUNT } });
  try {
    await setting.step(() => shared(setting, context));
  } finally {
    await setting.close();
  }
});

checkStop('agents end together with their runner', opencode, { count: COUNT });
