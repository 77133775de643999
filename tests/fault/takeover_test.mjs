/**
 * Three trackers over PostgreSQL with a synchronous standby, a proxy in each link, under load, with
 * sessions whose agents work: the serving tracker is killed, frozen, stopped and cut off, and so
 * are the others, gateways and the database, whose standby is promoted. No accepted command is
 * lost, and nothing happens twice.
 *   CALLSLIP_FAULT_ROUNDS=300 CALLSLIP_FAULT_SEED=7 node --test tests/fault/takeover_test.mjs
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { Chaos } from './support/chaos.js';
import { children } from './support/children.js';
import { CLUSTER_FAULTS } from './support/cluster_faults.js';
import { ClusterTurns } from './support/cluster_turns.js';
import { Random } from './support/random.js';

const NAMES = Object.keys(CLUSTER_FAULTS);
const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? NAMES.length);
const SEED = Number(process.env.CALLSLIP_FAULT_SEED ?? Date.now() % 2 ** 31);
/**
 * Longer than the time after which a tracker is replaced, so that some are replaced and some are
 * not.
 */
const LONGEST_MS = 3_500;

/** Each fault once, in random order, before any comes twice. */
function* faults(random) {
  const left = [...NAMES];
  while (left.length > 0) yield left.splice(random.between(0, left.length), 1)[0];
  for (;;) yield random.pick([...NAMES, 'bridge', 'worker']);
}

test('takeovers under load lose no command and repeat none',
  { timeout: stretched(120_000 + ROUNDS * 20_000) }, async (context) => {
  context.diagnostic(`${ROUNDS} rounds, CALLSLIP_FAULT_SEED=${SEED}`);
  const chaos = await Chaos.start({ seed: SEED, durability: 'strict', cluster: true, longestMs: LONGEST_MS });
  context.after(() => chaos.close());
  const sessions = await ClusterTurns.begin(chaos.fleet);
  context.after(() => sessions.close());
  const next = faults(new Random(SEED));
  for (let round = 0; round < ROUNDS; ++round) {
    await pause(chaos.random.between(0, 300));
    await chaos.progress();
    await chaos.strikeCluster(next.next().value);
    if (round % 50 === 49) chaos.ledger.settle();
  }
  await chaos.progress();
  await sessions.finish();
  await sessions.close();
  await chaos.finish();
  await chaos.close();
  assert.deepEqual(await children(), []);

  context.diagnostic(`${chaos.summary()} turns ${JSON.stringify(sessions.turns.seen)}`);
  chaos.assertClean();
  const { accepted } = chaos.ledger.totals();
  assert.ok(accepted > ROUNDS, 'the load was too small to tell anything');
  assert.ok(sessions.turns.seen.completed > 0, 'no turn was whole');
});
