/**
 * While an agent works, the service worker is ended and the gateway killed repeatedly: each command
 * gets a correct end, and none runs twice.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { errorOf } from './support/agent_checks.js';
import { House } from './support/house.js';

const WORKER_STOPS = 50;
const GATEWAY_KILLS = 10;
const COMMANDS_AT_A_TIME = 3;

/** The fault comes up to this many round trips to the page after the commands were submitted. */
const LATEST_ROUND_TRIP = 30;

/** A script that makes some round trips of its own, and then counts its run. */
const countedScript = (id) => `
  for (let trip = 0; trip < 10; trip += 1) await fetch('/second');
  const answer = await fetch('/count?id=${id}');
  return answer.text();`;

/** Random numbers below `limit` with a seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Checks the end of a command against its script's count; returns a name for the end. */
function judge(id, answer, runs) {
  const context = `${id} ran ${runs} times: ${JSON.stringify(answer)}`;
  assert.ok(runs <= 1, context);
  assert.equal(answer.final, true, context);
  if (answer.status === 'complete') {
    assert.equal(runs, 1, context);
    // The result may be wrapped in an object with a report of the page.
    assert.equal(answer.result.data ?? answer.result, '1', context);
    return 'complete';
  }
  const { code, may_have_executed: mayHaveExecuted } = errorOf(answer);
  if (!mayHaveExecuted) assert.equal(runs, 0, context);
  return code;
}

test('no command is lost or runs twice', { timeout: stretched(280_000) }, async (context) => {
  const seed = Number(process.env.CALLSLIP_SEED ?? Date.now() % 1_000_000);
  context.diagnostic(`CALLSLIP_SEED=${seed}`);
  const random = randomNumbers(seed);
  const house = await House.open();
  context.after(() => house.close());

  await house.step(async () => {
    const agent = await house.agentOverHttp();
    const page = await house.browser.open(`${house.pages.url}/`);
    const tabId = await house.browser.tabIdOf(page);

    const stopWorker = () => house.browser.restartWorker(page);
    async function killGateway() {
      await house.gateway.kill();
      await house.startGateway();
    }
    const blows = [
      ...Array(WORKER_STOPS).fill(stopWorker),
      ...Array(GATEWAY_KILLS).fill(killGateway),
    ];

    /** Submits a command; for a known or ended command this is a repetition. */
    async function submit(id) {
      const answer = await agent.call('interact', {
        action: 'execute_js',
        script: countedScript(id),
        tab_id: tabId,
        request_id: id,
      });
      assert.ok(!answer.isError, JSON.stringify(answer));
      return answer.structuredContent.correlation_id;
    }
    const ends = new Map();
    let last = 0;
    while (blows.length > 0) {
      const [blow] = blows.splice(random(blows.length), 1);
      const ids = Array.from({ length: COMMANDS_AT_A_TIME }, () => `command-${last += 1}`);
      const submitted = Promise.allSettled(ids.map(submit));
      for (let trips = random(LATEST_ROUND_TRIP); trips > 0; trips -= 1) {
        await page.evaluate(() => 0);
      }
      await blow();
      const outcomes = await submitted;
      for (const [index, { status, value }] of outcomes.entries()) {
        // The agent got no answer: it repeats its call, which is the same command.
        const correlationId = status === 'fulfilled' ? value : await submit(ids[index]);
        const end = judge(ids[index], await agent.collect(correlationId),
          house.pages.counts.get(ids[index]) ?? 0);
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
    }
    // A command that was reported as interrupted may have run to its end in the page, but not
    // twice.
    for (const [id, runs] of house.pages.counts) assert.equal(runs, 1, `${id} ran ${runs} times`);
    context.diagnostic(JSON.stringify(Object.fromEntries(ends)));
    assert.equal((await agent.run({ action: 'get_page' })).result.title, 'Test page');
  });
});
