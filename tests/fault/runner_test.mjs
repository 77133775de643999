/**
 * Tracker, gateway and runner are killed repeatedly at any moment of a turn. Each message has its
 * turn and reaches the agent at most once, and every turn ends; no process of an agent is left.
 *   CALLSLIP_FAULT_ROUNDS=100 node --test tests/fault/runner_test.mjs
 */
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';
import { TURN_MS, Turns } from './support/turns.js';

const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? 12);

test('each message has its turn although processes are killed during turns', { timeout: stretched(60_000 + ROUNDS * 3_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  const turns = await Turns.open(services);
  const victims = {
    tracker: async () => { await services.tracker.kill(); await services.startTracker(); },
    gateway: async () => { await services.gateway.kill(); await services.startGateway(); },
    runner: async () => { await turns.runner.kill(); await turns.runner.start(); },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = Object.keys(victims)[round % 3];
    const ended = turns.round();
    ended.catch(() => {});
    await pause(randomInt(TURN_MS + 100));
    await victims[victim]();
    await ended;
  }
  context.diagnostic(JSON.stringify(turns.seen));
  await turns.finish();
});
