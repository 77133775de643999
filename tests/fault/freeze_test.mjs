/**
 * Each process in turn is stopped (SIGSTOP) for longer than every timeout, while agents continue to
 * call: each call is answered in time by the running processes, and each command has one true end.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { Chaos } from './support/chaos.js';

/** The longest of the shortened timeouts is that of a blocking call, 12 s. */
const FROZEN_MS = 13_000;
const WARM_UP_MS = 1_000;
const SEED = Number(process.env.CALLSLIP_FAULT_SEED ?? Date.now() % 2 ** 31);

/** The process that is frozen and thawed, by kind. */
const VICTIMS = {
  tracker: ({ fleet }) => fleet.tracker,
  gateway: ({ fleet }) => fleet.gateways[0],
  // A stopped bridge can't answer: the deadlines of its own calls are extended by that time.
  bridge: ({ bridges }) => bridges[0],
};

describe('calls and commands', { concurrency: true, timeout: stretched(100_000) }, () => {
  for (const [kind, victimOf] of Object.entries(VICTIMS)) {
    it(`are completed although a ${kind} is frozen`, async (context) => {
      // Over HTTP nothing would answer in place of a frozen gateway, so all agents use bridges.
      const chaos = await Chaos.start({ seed: SEED, http: false });
      context.after(() => chaos.close());
      context.diagnostic(`CALLSLIP_FAULT_SEED=${SEED}`);
      const victim = victimOf(chaos);
      await pause(WARM_UP_MS);
      await victim.freeze();
      await pause(FROZEN_MS);
      victim.thaw();
      await pause(WARM_UP_MS);
      await chaos.finish();
      context.diagnostic(chaos.summary());
      chaos.assertClean();
      assert.ok(chaos.ledger.totals().accepted > 20);
      await chaos.close();
    });
  }
});
