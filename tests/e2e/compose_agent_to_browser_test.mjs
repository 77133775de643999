/** The same checks against a running gateway, at the address in CALLSLIP_E2E_GATEWAY. */
import { after, before, describe } from 'node:test';
import { Agent } from './support/agent.js';
import { checkAgentToBrowser } from './support/agent_checks.js';
import { startBrowser } from './support/chromium.js';
import { startPageServer } from './support/page_server.js';

const serverUrl = process.env.CALLSLIP_E2E_GATEWAY;
const skip = serverUrl ? false : 'CALLSLIP_E2E_GATEWAY names no gateway';

describe('an agent connected to an external gateway', { skip }, () => {
  const closers = [];
  let setting;

  before(async () => {
    const pages = await startPageServer();
    closers.push(() => pages.stop());
    const browser = await startBrowser({ serverUrl });
    closers.push(() => browser.stop());
    const page = await browser.open(`${pages.url}/`);
    const tabId = await browser.tabIdOf(page);
    const agent = await Agent.overHttp(serverUrl);
    closers.push(() => agent.close());
    setting = { agent, page, pages, tabId, step: (work) => work() };
  });

  after(async () => {
    for (const close of closers.reverse()) await close();
  });

  checkAgentToBrowser(() => setting);
});
