/**
 * Of several trackers, the one that a gateway uses is stopped without closing its connections: the
 * gateway notices it long before it would notice it of a single tracker, which it cannot replace.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerProcess } from '../e2e/support/processes.js';
import { stretched } from '../support/patience.js';

/**
 * The keepalive of a single tracker takes 40 s, that of several two; calls also have deadlines of
 * their own.
 */
const PATIENCE_MS = stretched(20_000);

test('a gateway leaves a frozen tracker for another one', { timeout: stretched(90_000) }, async (t) => {
  const start = async (...words) => {
    const server = await ServerProcess.start(...words);
    t.after(() => server.kill());
    return server;
  };
  const trackers = [
    await start('callslip-tracker', ['--listen', '127.0.0.1:0']),
    await start('callslip-tracker', ['--listen', '127.0.0.1:0']),
  ];
  const gateway = await start('callslip-gateway',
    ['--listen', '127.0.0.1:0', '--tracker', trackers.map(({ address }) => address).join(',')]);
  const answers = async () => {
    const answer = await fetch(`http://${gateway.address}/api/commands`);
    await answer.text();
    return answer.ok;
  };
  assert.ok(await answers());
  // Whichever tracker the gateway uses, it is frozen once.
  for (const frozen of trackers) {
    await frozen.freeze();
    const begun = performance.now();
    while (!await answers()) {
      assert.ok(performance.now() - begun < PATIENCE_MS, gateway.describeLog());
      await pause(50);
    }
    t.diagnostic(`answers again after ${Math.round(performance.now() - begun)} ms`);
    frozen.thaw();
  }
});
