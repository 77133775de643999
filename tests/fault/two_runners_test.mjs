/**
 * Of two runners for the same sessions one is cut off, silenced, frozen, renamed or killed at any moment of
 * a turn, and comes back after its leases have run out. Each message has its turn, is brought to an agent
 * once at most, and every turn ends once, with what its own agent has said.
 *   CALLSLIP_FAULT_ROUNDS=200 node --test tests/fault/two_runners_test.mjs
 */
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Proxy } from '../e2e/support/proxy.js';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';
import { TURN_MS, Turns } from './support/turns.js';

/** A lease of the tracker is over after 10 s. */
const LEASE_OVER_MS = 11_000;

/** By what it is called: what happens to a runner, or to the `link` between it and the tracker. */
const FAULTS = {
  async cut({ link }) {
    link.cut();
  },
  async silence({ link }) {
    link.silence();
    await pause(LEASE_OVER_MS);
    link.heal();
  },
  async freeze({ runner }) {
    runner.child.kill('SIGSTOP');
    await pause(LEASE_OVER_MS);
    runner.child.kill('SIGCONT');
  },
  async rename({ runner, round }) {
    await runner.kill();
    await runner.configure({ runner_id: `renamed-${round}` });
    await runner.start();
  },
  async leave({ runner }) {
    await runner.kill();
    await pause(LEASE_OVER_MS);
    await runner.start();
  },
};
const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? Object.keys(FAULTS).length);

test('of two runners one is lost and comes back', { timeout: stretched(60_000 + ROUNDS * 30_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  const links = await Promise.all([0, 1].map(() => Proxy.start(services.tracker.address)));
  context.after(() => links.forEach((link) => link.stop()));
  const turns = await Turns.open(services, { trackers: links.map(({ address }) => address) });
  for (let round = 0; round < ROUNDS; round += 1) {
    const fault = Object.values(FAULTS)[round % Object.keys(FAULTS).length];
    const victim = randomInt(turns.runners.length);
    const over = new AbortController();
    const kept = turns.keepOn(over.signal);
    kept.catch(() => {});
    await pause(randomInt(TURN_MS + 100));
    await fault({ runner: turns.runners[victim], link: links[victim], round });
    over.abort();
    await kept;
  }
  context.diagnostic(JSON.stringify(turns.seen));
  await turns.finish();
});
