/** All parts are real: official MCP client, bridge, gateway, tracker, extension, Chromium. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkAgentToBrowser } from './support/agent_checks.js';
import { House } from './support/house.js';

let house;

before(async () => {
  house = await House.open();
});
after(() => house?.close());

const waysIn = {
  'through the bridge': () => house.agentOverBridge(),
  'directly to the gateway': () => house.agentOverHttp(),
};

for (const [way, connect] of Object.entries(waysIn)) {
  describe(`an agent connected ${way}`, () => {
    let setting;

    before(async () => {
      const page = await house.browser.open(`${house.pages.url}/`);
      const tabId = await house.browser.tabIdOf(page);
      const step = (work) => house.step(work);
      setting = { agent: await connect(), page, pages: house.pages, tabId, step };
    });

    checkAgentToBrowser(() => setting);
  });
}

test('each of two agents in one tab receives the changes since its own last answer', async () => {
  const page = await house.browser.open(`${house.pages.url}/`);
  const tab = { tab_id: await house.browser.tabIdOf(page), wait_ms: 20_000 };
  const agents = [await house.agentOverHttp(), await house.agentOverHttp()];
  const told = async (agent, tool, args) => {
    const answer = await agent.call(tool, { ...args, ...tab });
    assert.ok(!answer.isError, JSON.stringify(answer));
    return answer.content.map(({ text }) => text).join('\n');
  };
  for (const agent of agents) await told(agent, 'analyze', { what: 'page' });
  await page.evaluate(() => document.body.append(document.createElement('p')));
  await page.evaluate(() => { document.body.lastChild.textContent = 'Said to both'; });
  for (const agent of agents) {
    assert.match(await told(agent, 'interact', { action: 'press', key: 'Shift' }), /\+ Said to both/);
  }
  assert.match(await told(agents[0], 'interact', { action: 'press', key: 'Shift' }), /nothing changed/);
});
