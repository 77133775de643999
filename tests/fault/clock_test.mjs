/**
 * The wall clock jumps an hour ahead and back under load, as when a machine's clock is set: no
 * deadline moves, nothing is lost, and reported times are the wall clock's from then on.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { stretched } from '../support/patience.js';
import { Chaos } from './support/chaos.js';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** The offsets of the wall clock from the true time, in s, one after another. */
const STEPS = [3_600, -3_600, 0];
const STEP_MS = 3_000;

/** The times of a command are those of a client whose wall clock is `offset` ms off. */
async function assertTimesOf(tracker, offset) {
  const wall = () => Date.now() + offset;
  const api = new TrackerApi(tracker.address);
  try {
    const asked = wall();
    const notBefore = asked + 1_000;
    const command = await api.register({
      target: `clock-${offset}`,
      not_before: { seconds: Math.floor(notBefore / 1_000), nanos: (notBefore % 1_000) * 1e6 },
    });
    const told = command.register_time.seconds * 1_000;
    assert.ok(Math.abs(told - asked) < 3_000, `${told - asked} ms off`);
    assert.deepEqual(await api.lease(`clock-${offset}`), []);
    const leases = await api.lease(`clock-${offset}`, 'worker', { max_wait: { seconds: 10 } });
    assert.equal(leases.length, 1);
    assert.ok(wall() >= notBefore - 100, 'It was delivered too early.');
    await api.complete(leases[0]);
  } finally {
    api.close();
  }
}

test('steps of the wall clock move no deadline and lose no command',
  { timeout: stretched(100_000) }, async (context) => {
  assert.ok(existsSync(LIBRARY), 'This test needs Debian\'s package "faketime".');
  const folder = await mkdtemp(join(tmpdir(), 'callslip-clock-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const offset = join(folder, 'offset');
  const step = async (seconds) => {
    // Replaced as a whole, since it may be read at any moment.
    await writeFile(`${offset}.new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    await rename(`${offset}.new`, offset);
  };
  await step(0);
  // For the processes that are started here; this one keeps the true time.
  Object.assign(process.env, {
    LD_PRELOAD: LIBRARY, FAKETIME_TIMESTAMP_FILE: offset, FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  const chaos = await Chaos.start({ seed: 1 });
  context.after(() => chaos.close());
  const { pid } = chaos.fleet.tracker.child;
  assert.match(await readFile(`/proc/${pid}/maps`, 'utf8'), /libfaketime/);
  await pause(STEP_MS / 3);
  for (const seconds of STEPS) {
    await step(seconds);
    const { answers } = chaos.ledger;
    await assertTimesOf(chaos.fleet.tracker, seconds * 1_000);
    await pause(STEP_MS);
    assert.ok(chaos.ledger.answers > answers + 10, `it stands still ${seconds} s off`);
    // A process that starts now begins with the wrong time.
    await chaos.fleet.killGateway(0);
  }
  await chaos.finish();
  context.diagnostic(chaos.summary());
  chaos.assertClean();
  assert.ok(chaos.ledger.totals().ends.has('complete'));
});
