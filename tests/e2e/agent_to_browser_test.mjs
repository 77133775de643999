/** The real thing: official MCP client, bridge, gateway, tracker, extension, Chromium. */
import { after, before, describe } from 'node:test';
import { checkAgentToBrowser } from './support/agent_checks.js';
import { House } from './support/house.js';

let house;

before(async () => {
  house = await House.open();
});
after(() => house?.close());

const waysIn = {
  'through the bridge': () => house.agentOverBridge(),
  'straight to the gateway': () => house.agentOverHttp(),
};

for (const [way, connect] of Object.entries(waysIn)) {
  describe(`an agent ${way}`, () => {
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
