/**
 * Tracker, gateway and runner are killed at any moment of a turn, again and again. Each message has
 * its turn, is brought to the agent once at most, and every turn ends; nothing is left of agents.
 *   CALLSLIP_FAULT_ROUNDS=100 node --test tests/fault/runner_test.mjs
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AgentSessions, processesWith, RunnerProcess, scriptedAgent, until,
} from '../e2e/support/runner.js';
import { Services } from '../e2e/support/services.js';

const ROUNDS = Number(process.env.CALLSLIP_FAULT_ROUNDS ?? 12);
const SESSIONS = 3;
/** A turn, in ms; a kill comes at any time of it, and a little before and after. */
const TURN_MS = 300;
const PATIENCE_MS = 40_000;

/** Repeats what a gateway or tracker that is being restarted has not answered. */
async function insist(call) {
  const patience = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const passes = /fetch failed|tracker_unreachable|: 50[0-9] |draining|ECONN/.test(String(error));
      if (!passes || performance.now() > patience) throw error;
      await pause(50);
    }
  }
}

test('processes that are killed in the middle of turns', { timeout: 60_000 + ROUNDS * 3_000 }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  const runner = await RunnerProcess.open(services, {
    agents: { scripted: { command: ['to be set'] } },
  });
  await runner.stop();
  const log = join(runner.folder, 'lines');
  await runner.configure({ agents: { scripted: { command: scriptedAgent(
    { restore: 'resume', sessions: join(runner.folder, 'sessions'), log }) } } });
  await runner.start();
  const sessions = new AgentSessions(services, runner);
  const ids = [];
  for (let i = 0; i < SESSIONS; i += 1) ids.push(await sessions.begin());
  const victims = {
    tracker: async () => { await services.tracker.kill(); await services.startTracker(); },
    gateway: async () => { await services.gateway.kill(); await services.startGateway(); },
    runner: async () => { await runner.kill(); await runner.start(); },
  };
  const seen = { completed: 0, failed: 0, reasons: {} };
  let messages = 0;

  const one = async (id) => {
    const mark = `mark-${messages += 1}.`;
    const before = (await insist(() => sessions.turns(id))).length;
    // Handed in twice where the first answer was lost: the prompt's id makes it one.
    await insist(() => sessions.call('POST', `/sessions/${id}/queue`, { prompt_id: mark,
      message: JSON.stringify([{ say: mark }, { sleep: TURN_MS }, { say: 'end' }]) }).catch((error) => {
      if (!/duplicate_prompt/.test(String(error))) throw error;
    }));
    const patience = performance.now() + PATIENCE_MS;
    let turns;
    do {
      if (performance.now() > patience) {
        const now = await sessions.call('GET', `/sessions/${id}`);
        assert.fail(`${mark} has no end: ${JSON.stringify([now, turns])}\n${runner.log}`);
      }
      await pause(30);
      turns = await insist(() => sessions.turns(id));
    } while (turns.length === before);
    assert.equal(turns.length, before + 1);
    const { outcome, reason } = turns.at(-1);
    seen[outcome] += 1;
    if (outcome === 'completed') {
      assert.equal(await insist(() => sessions.answer(id)), `${mark}end`);
    } else {
      seen.reasons[reason] = (seen.reasons[reason] ?? 0) + 1;
      await insist(() => sessions.queue(id, 'skip').catch((error) => {
        if (!/queue_not_paused|queue_empty|nothing_to_retry/.test(String(error))) throw error;
      }));
    }
    return { mark, outcome };
  };

  const ends = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = Object.keys(victims)[round % 3];
    const turns = Promise.all(ids.map(one));
    turns.catch(() => {});
    await pause(randomInt(TURN_MS + 100));
    await victims[victim]();
    ends.push(...await turns);
  }
  context.diagnostic(JSON.stringify(seen));
  const lines = (await readFile(log, 'utf8')).split('\n')
    .filter((line) => line.includes('session/prompt'));
  for (const { mark, outcome } of ends) {
    const times = lines.filter((line) => line.includes(mark)).length;
    assert.ok(times <= 1, `${mark} was asked ${times} times`);
    if (outcome === 'completed') assert.equal(times, 1);
  }
  assert.equal(ends.length, messages);
  for (const id of ids) {
    // A tracker that is new hears of it when the runner is back.
    await until(async () => ['idle', 'stopped'].includes((await sessions.agent(id)).status));
  }
  await runner.stop();
  assert.deepEqual(await processesWith(runner.folder), []);
});
