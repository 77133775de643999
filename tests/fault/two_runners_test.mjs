/**
 * Of two runners for the same sessions, the one with most of them is cut off, silenced, frozen,
 * renamed or killed at any moment of a turn, and comes back after the other one has taken all
 * sessions over. Each message has its turn and reaches an agent at most once, and every turn ends
 * once, with the text of its own agent.
 *   CALLSLIP_FAULT_ROUNDS=200 node --test tests/fault/two_runners_test.mjs
 */
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Proxy } from '../e2e/support/proxy.js';
import { until } from '../e2e/support/runner.js';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';
import { TURN_MS, Turns } from './support/turns.js';

/**
 * The faults of a runner, or of the `link` between it and the tracker; and its return for those in
 * which it loses its sessions. A lease expires 10 s after the connection broke.
 */
const FAULTS = {
  cut: { begin: ({ link }) => link.cut() },
  silence: {
    begin({ link }) {
      link.silence();
      link.cut();
    },
    end: ({ link }) => link.heal(),
  },
  freeze: {
    begin({ runner, link }) {
      runner.child.kill('SIGSTOP');
      link.cut();
    },
    end: ({ runner }) => runner.child.kill('SIGCONT'),
  },
  rename: {
    async begin({ runner, round }) {
      await runner.kill();
      await runner.configure({ runner_id: `renamed-${round}` });
      await runner.start();
    },
  },
  leave: { begin: ({ runner }) => runner.kill(), end: ({ runner }) => runner.start() },
};
const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? Object.keys(FAULTS).length);

test('each message has its turn when one of two runners is lost and returns', { timeout: stretched(60_000 + ROUNDS * 30_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  const links = await Promise.all([0, 1].map(() => Proxy.start(services.tracker.address)));
  context.after(() => links.forEach((link) => link.stop()));
  const turns = await Turns.open(services, { trackers: links.map(({ address }) => address) });
  const heldBy = async ({ config }) => (await Promise.all(turns.ids.map((id) => turns.sessions.agent(id))))
    .filter(({ runner_id: name }) => name === config.runner_id).length;
  let lost = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const fault = Object.values(FAULTS)[round % Object.keys(FAULTS).length];
    const over = new AbortController();
    const kept = turns.keepOn(over.signal);
    kept.catch(() => {});
    await pause(randomInt(TURN_MS + 100));
    const victim = await heldBy(turns.runners[0]) > turns.ids.length / 2 ? 0 : 1;
    const hit = { runner: turns.runners[victim], link: links[victim], round };
    await fault.begin(hit);
    if (fault.end !== undefined) {
      await until(async () => await heldBy(hit.runner) === 0);
      lost += 1;
      await fault.end(hit);
    }
    over.abort();
    await kept;
  }
  context.diagnostic(JSON.stringify({ ...turns.seen, messages: turns.messages, lost }));
  await turns.finish();
});
