/** A tracker that stands by answers no callers, but serves metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../e2e/support/runner.js';
import { stretched } from '../support/patience.js';
import { Fleet } from './support/fleet.js';

/** The trackers' metrics of the cell, in order: whether they own it, and its epoch. */
async function told(fleet) {
  return Promise.all(fleet.trackers.map(async ({ log }) => {
    const [, url] = log.match(/metrics on (\S+)\n/);
    const text = await (await fetch(url)).text();
    const value = (name) => Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
    assert.ok(value('process_start_time_seconds') > 0);
    return [value('callslip_cell_owned'), value('callslip_cell_epoch')];
  }));
}

/** Waits until `isSo` is true of the trackers' metrics; a tracker that is starting has none. */
function untilTold(fleet, isSo) {
  return until(async () => {
    const all = await told(fleet).catch(() => null);
    return all !== null && isSo(all);
  }, 30_000);
}

test('the metrics of trackers show which one owns the cell', { timeout: stretched(90_000) },
  async (context) => {
  const fleet = await Fleet.start({ trackers: 2, database: true, gateways: 0,
    trackerOptions: ['--metrics-listen', '127.0.0.1:0'] });
  context.after(() => fleet.stop());
  const oneOwns = ([[first], [second]]) => first + second === 1;
  await untilTold(fleet, (all) => isDeepStrictEqual(all, [[1, 1], [0, NaN]]));

  // Nothing can be committed without the database's standby: no tracker may answer.
  await fleet.postgres.kill('standby');
  await untilTold(fleet, ([[first], [second]]) => first + second === 0);
  await fleet.postgres.startServer('standby');
  await fleet.postgres.caughtUp();
  await untilTold(fleet, oneOwns);

  await fleet.restore();
  let now;
  await untilTold(fleet, (all) => {
    now = all;
    return oneOwns(all);
  });
  const owner = now.findIndex(([owns]) => owns === 1);
  const [, before] = now[owner];
  await fleet.trackers[owner].kill();
  // Otherwise it might be faster than the other one.
  await fleet.owner();
  await fleet.startTracker(owner);
  await untilTold(fleet, (all) => oneOwns(all) && all[1 - owner][1] > before);
  assert.match(fleet.trackers[owner].log, /"event":"standing by"/);
});
