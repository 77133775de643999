/**
 * One part after another is killed during a command: no call hangs, and the reported end is
 * correct.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { errorOf } from './support/agent_checks.js';
import { House } from './support/house.js';
import { settlesWithin } from './support/waiting.js';

/** Occupies its tab until the test calls `release(value)` in the page. */
const UNTIL_RELEASED = {
  action: 'execute_js',
  script: 'new Promise((resolve) => { window.release = resolve; })',
};

/** A question waits up to 8 s; whatever process dies meanwhile, it must settle 2 s later, in ms. */
const CALL_PATIENCE_MS = stretched(10_000);

/** The slowest end comes 10 s of running time and 2 s of grace after the delivery, in ms. */
const VERDICT_PATIENCE_MS = stretched(20_000);

async function houseWithCommand(context, connect) {
  const house = await House.open();
  context.after(() => house.close());
  return house.step(async () => {
    const agent = await connect(house);
    const page = await house.browser.open(`${house.pages.url}/`);
    const tabId = await house.browser.tabIdOf(page);
    const id = await agent.submit({ ...UNTIL_RELEASED, tab_id: tabId });
    await page.waitForFunction(() => 'release' in window);
    return { house, agent, page, id };
  });
}

/** Every call must settle well before the official client's own limit of 60 s. */
function settles(what, promise) {
  return settlesWithin(CALL_PATIENCE_MS, what, promise);
}

async function collect(agent, id) {
  const verdict = agent.collect(id);
  const { value, reason } = await settlesWithin(VERDICT_PATIENCE_MS, `The end of ${id}`, verdict);
  assert.ok(value, String(reason));
  return value;
}

test('commands fail if the browser is killed', { timeout: stretched(60_000) }, async (context) => {
  const setting = await houseWithCommand(context, (house) => house.agentOverBridge());
  const { house, agent, id: acknowledged } = setting;
  await house.step(async () => {
    let answer;
    do {
      answer = await agent.ask(acknowledged, 1_000);
      assert.equal(answer.status, 'pending', JSON.stringify(answer));
    } while (answer.stage !== 'running');
    const page = await house.browser.open(`${house.pages.url}/`);
    const silent = await agent.submit(UNTIL_RELEASED);
    await page.waitForFunction(() => 'release' in window);
    const inFlight = agent.ask(silent);
    await house.browser.kill();
    const { status, reason } = await settles('The question about the silent command', inFlight);
    assert.equal(status, 'fulfilled', String(reason));

    const verdicts = await Promise.all([collect(agent, silent), collect(agent, acknowledged)]);
    const codes = verdicts.map((verdict) => errorOf(verdict).code);
    assert.equal(codes[0], 'extension_no_response');
    assert.ok(['worker_lost', 'execution_timeout'].includes(codes[1]), codes[1]);
    for (const verdict of verdicts) assert.equal(errorOf(verdict).may_have_executed, true);

    await house.gateway.stop();
    await house.startGateway();
    const later = await house.agentOverHttp();
    assert.equal(errorOf(await collect(later, silent)).code, codes[0]);
    assert.equal(errorOf(await collect(later, acknowledged)).code, codes[1]);
  });
});

test('a command survives a gateway restart', { timeout: stretched(60_000) }, async (context) => {
  const setting = await houseWithCommand(context, (house) => house.agentOverBridge());
  const { house, agent, page, id } = setting;
  await house.step(async () => {
    const direct = await house.agentOverHttp();
    const inFlight = [agent.ask(id), direct.ask(id)].map((call) => settles('A question', call));
    await house.gateway.kill();
    // The result becomes ready while no gateway can take it.
    await page.evaluate(() => window.release('kept'));
    await house.startGateway();
    await Promise.all(inFlight);

    const answer = await collect(agent, id);
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    assert.equal(answer.result, 'kept');
    const { result } = await agent.run({ action: 'get_page' });
    assert.equal(result.title, 'Test page');
  });
});

test('a command survives a killed bridge', { timeout: stretched(60_000) }, async (context) => {
  const setting = await houseWithCommand(context, (house) => house.agentOverBridge());
  const { house, agent, page, id } = setting;
  await house.step(async () => {
    const inFlight = agent.ask(id);
    process.kill(agent.bridgePid, 'SIGKILL');
    const { status } = await settles('The question through the bridge', inFlight);
    assert.equal(status, 'rejected');

    const other = await house.agentOverHttp();
    await page.evaluate(() => window.release('finished anyway'));
    const answer = await collect(other, id);
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    assert.equal(answer.result, 'finished anyway');
  });
});
