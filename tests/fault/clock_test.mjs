/**
 * The wall clock jumps an hour ahead and back under load, as it does when a machine wakes or its
 * clock is set: no deadline moves, nothing is lost.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Chaos } from './support/chaos.js';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** What the wall clock shows beside the true time, in s, one after another. */
const STEPS = [3_600, -3_600, 0];
const STEP_MS = 3_000;

test('steps of the wall clock', { timeout: 100_000 }, async (context) => {
  assert.ok(existsSync(LIBRARY), 'This test needs Debian\'s package "faketime".');
  const folder = await mkdtemp(join(tmpdir(), 'callslip-clock-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const offset = join(folder, 'offset');
  const step = async (seconds) => {
    // Replaced as a whole, since it is read at any moment.
    await writeFile(`${offset}.new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    await rename(`${offset}.new`, offset);
  };
  await step(0);
  // For the processes that are started here; this one goes by the true time.
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
    await pause(STEP_MS);
    assert.ok(chaos.ledger.answers > answers + 10, `it stands still ${seconds} s off`);
    // What starts now begins with the wrong time.
    await chaos.fleet.killGateway(0);
  }
  await chaos.finish();
  context.diagnostic(chaos.summary());
  chaos.assertClean();
  assert.ok(chaos.ledger.totals().ends.has('complete'));
});
