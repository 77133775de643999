/**
 * One process after another is killed at a random moment under load: no accepted command is lost,
 * nothing happens twice, and every call is answered in time.
 *   CALLSLIP_FAULT_ROUNDS=1000 CALLSLIP_FAULT_SEED=7 node --test tests/fault/kill_test.mjs
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { Chaos } from './support/chaos.js';
import { children } from './support/children.js';

const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? 40);
const SEED = Number(process.env.CALLSLIP_FAULT_SEED ?? Date.now() % 2 ** 31);

test('kills at random moments lose no command and leave no call unanswered', { timeout: stretched(60_000 + ROUNDS * 3_000) }, async (context) => {
  context.diagnostic(`${ROUNDS} rounds, CALLSLIP_FAULT_SEED=${SEED}`);
  const chaos = await Chaos.start({ seed: SEED, durability: process.env.CALLSLIP_FAULT_DURABILITY });
  context.after(() => chaos.close());
  for (let round = 0; round < ROUNDS; ++round) {
    // A random moment of the kill, not a wait.
    await pause(chaos.random.between(0, 300));
    await chaos.progress();
    await chaos.strike();
    if (round % 50 === 49) chaos.ledger.settle();
  }
  await chaos.finish();
  await chaos.close();
  assert.deepEqual(await children(), []);

  context.diagnostic(chaos.summary());
  chaos.assertClean();
  const { accepted } = chaos.ledger.totals();
  assert.ok(accepted > ROUNDS, 'the load was too small to tell anything');
});
