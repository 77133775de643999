/**
 * How soon another tracker serves after the serving one was killed, frozen or cut off: the time
 * until the first accepted command, and until an earlier accepted one is readable again.
 *   CALLSLIP_TAKEOVER_ROUNDS=50 node --test tests/fault/takeover_time_test.mjs
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { stretched } from '../support/patience.js';
import { Fleet } from './support/fleet.js';

const ROUNDS = Number(process.env.CALLSLIP_TAKEOVER_ROUNDS ?? 2);
/** The pause between two attempts, in ms. */
const PACE_MS = 10;
/**
 * A replaced tracker ends within this time after its return, in ms; with slack for a busy machine.
 */
const CLOSED_MS = 500;
const SLACK_MS = stretched(1_000);

/** The faults of the owner; each returns a function for its return. */
const WAYS = {
  killed: async (fleet, owner) => {
    await fleet.trackers[owner].kill();
    return () => {};
  },
  frozen: async (fleet, owner) => {
    await fleet.trackers[owner].freeze();
    return () => fleet.trackers[owner].thaw();
  },
  'cut off': async (fleet, owner) => {
    for (const link of fleet.databaseLinks[owner]) link.silence();
    return () => fleet.databaseLinks[owner].forEach((link) => link.heal());
  },
};

/** The time at which `call` first succeeds at one of them, in ms since `begun`. */
async function firstOf(apis, begun, call) {
  for (;;) {
    const done = await Promise.all(apis.map((api) => call(api).then(() => true, () => false)));
    if (done.includes(true)) return performance.now() - begun;
    await pause(PACE_MS);
  }
}

function describeTimes(times) {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round);
  return { median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
}

test('another tracker takes over, and a replaced one exits on its return', { timeout: stretched(60_000 + ROUNDS * 60_000) }, async (context) => {
  const fleet = await Fleet.start({ trackers: 3, database: true, links: true, gateways: 0 });
  context.after(() => fleet.stop());
  const took = {};
  const closed = [];
  for (let round = 0; round < ROUNDS; ++round) {
    for (const [way, go] of Object.entries(WAYS)) {
      const owner = await fleet.owner();
      const gone = fleet.trackers[owner];
      const before = new TrackerApi(fleet.trackerAddresses[owner], { ownConnection: true });
      const { command_id: id } = await before.register();
      // New channels each time, since gRPC's channels reconnect after growing pauses.
      const others = fleet.trackerAddresses.filter((_, i) => i !== owner);
      const tries = (call) => async (address) => {
        const api = new TrackerApi(address, { ownConnection: true });
        try {
          return await call(api);
        } finally {
          api.close();
        }
      };
      const begun = performance.now();
      const comeBack = await go(fleet, owner);
      const [register, get] = await Promise.all([
        firstOf(others, begun, tries((api) => api.register())),
        firstOf(others, begun, tries((api) => api.get(id))),
      ]);
      took[way] ??= { register: [], get: [] };
      took[way].register.push(register);
      took[way].get.push(get);
      // A replaced tracker does not accept requests that it got meanwhile.
      const late = before.register().then(() => 'accepted', ({ code }) => code);
      const back = performance.now();
      comeBack();
      assert.notEqual(await late, 'accepted');
      before.close();
      if (way !== 'killed') {
        const [code] = await gone.exited;
        closed.push(performance.now() - back);
        assert.equal(code, 75, gone.describeLog());
        assert.match(gone.log, /another tracker has taken the cell over/);
      }
      await fleet.restore();
    }
  }
  const figures = Object.fromEntries(Object.entries(took).map(([way, { register, get }]) => [
    way, { register: describeTimes(register), get: describeTimes(get) }]));
  context.diagnostic(`ms: ${JSON.stringify({ ...figures, closed: describeTimes(closed) })}`);
  assert.ok(Math.max(...closed) < CLOSED_MS + SLACK_MS, `${closed}`);
});
