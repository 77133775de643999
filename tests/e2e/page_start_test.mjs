/** A first visit: from nothing to the first answer, in a real Chromium with the extension. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { EXECUTABLE, EXTENSION, startBrowser } from './support/chromium.js';
import { checkAccess, screen } from './support/page.js';
import { startPageServer } from './support/page_server.js';
import { Services } from './support/services.js';

const SIZES = [320, 640, 1280];

/** Checks the page's accessibility, and keeps pictures of it. */
async function lookAt(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of SIZES) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name} is ${wide} px wide at ${width}`);
      await screen(page, `${name}-${width}-${colorScheme}`);
    }
    await checkAccess(page, name);
  }
}

const step = (page, title) => page.locator('.step', { has: page.getByRole('heading', { name: title }) });
const done = (page, title) => step(page, title).and(page.locator('.is-done')).waitFor();

/** The popup in a window of its own, so that the page stays in front in its window. */
async function openPopup(browser) {
  const opened = browser.context.waitForEvent('page');
  await browser.currentWorker().evaluate(() => chrome.windows.create({ url: 'popup.html', type: 'popup' }));
  return opened;
}

describe('a first visit', { timeout: stretched(180_000) }, () => {
  let services;
  let pages;
  let browser;
  before(async () => {
    services = await Services.open({ gatewayOptions: ['--extension-dir', EXTENSION] });
    services.onClose(() => pages?.stop());
    services.onClose(() => browser?.stop());
    pages = await startPageServer();
    browser = await startBrowser();
  });
  after(() => services?.close());

  test('leads to the first answer within six clicks', () => services.step(async () => {
    let clicks = 0;
    const click = async (where) => {
      clicks += 1;
      await where.click();
    };
    await browser.open(`${pages.url}/shop`);
    const page = await browser.open(`${services.gatewayUrl}/ui/`);
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/ui/start');
    await step(page, 'Connect an agent').getByText('No agent has connected yet.').waitFor();
    await step(page, 'Try it').getByText('Connect a browser first.').waitFor();
    await step(page, 'Connect a browser').getByText(EXTENSION, { exact: true }).waitFor();
    const command = await page.locator('.snippet pre').first().textContent();
    assert.equal(command, `claude mcp add --transport http callslip ${services.gatewayUrl}/mcp`);
    await lookAt(page, 'start-nothing');

    // As a client with these instructions does.
    const agent = await services.agentOverHttp();
    await done(page, 'Connect an agent');
    await step(page, 'Connect an agent').getByText('callslip-e2e').waitFor();

    clicks += 1; // The extension's icon.
    const popup = await openPopup(browser);
    await click(popup.getByRole('button', { name: `Pair with ${new URL(services.gatewayUrl).host}` }));
    await popup.getByText('Connected').waitFor();
    await popup.close();
    await done(page, 'Connect a browser');
    await step(page, 'Connect a browser').getByText(/Chrome\/\d+/).waitFor();
    await lookAt(page, 'start-connected');

    await click(page.getByRole('button', { name: 'Read title' }));
    await done(page, 'Try it');
    const words = await step(page, 'Try it').textContent();
    for (const word of [/The title is “Shop”/, /queued/, /delivered/, /complete/]) assert.match(words, word);
    await lookAt(page, 'start-done');
    assert.ok(clicks <= 6, `${clicks} clicks`);

    // The start page is not shown again, but can be found.
    await page.goto(`${services.gatewayUrl}/ui/`);
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/ui/');
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('link', { name: 'Connect an agent or a browser' }).click();
    await done(page, 'Connect an agent');
    await agent.close();
  }));

  test('works by keyboard alone and shows errors', () => services.step(async () => {
    const page = await browser.open(`${services.gatewayUrl}/ui/start`);
    // As if the tab had been closed meanwhile.
    await page.route('**/api/commands', (route) => route.continue({
      postData: JSON.stringify({ ...route.request().postDataJSON(), params: { tab_id: 987654321 } }) }));
    await page.getByLabel('Tab').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await step(page, 'Try it').locator('strong', { hasText: 'tab_gone' }).waitFor();
    await lookAt(page, 'start-refused');
    // The radio buttons are one tab stop; arrow keys select among them.
    await step(page, 'Connect an agent').getByText('Show instructions').press('Enter');
    await page.getByRole('radio', { name: 'Claude Code' }).press('ArrowRight');
    assert.match(await page.locator('.snippet pre').first().textContent(), /^codex mcp add callslip --url http/);
  }));
});

test('the start page explains required tokens and gives viewers no controls', { timeout: stretched(120_000) }, async () => {
  const services = await Services.open({ guarded: true });
  try {
    const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
    services.onClose(() => browser.close());
    for (const name of ['agent', 'viewer']) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${services.gatewayUrl}/ui/start`);
      await page.getByLabel('Token').fill(await services.tokenOf(name));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Get started' }).waitFor();
      if (name === 'viewer') {
        assert.equal(await page.locator('.step button, .step pre, .step input, .step select').count(), 0);
      } else {
        assert.match(await page.locator('.snippet pre').first().textContent(), /--header "Authorization: Bearer TOKEN"$/);
        await page.getByText('callslip-gateway token list').waitFor();
      }
      await lookAt(page, `start-${name}`);
    }
    const own = await startBrowser();
    services.onClose(() => own.stop());
    await own.open(`${services.gatewayUrl}/ui/`);
    const popup = await openPopup(own);
    const options = own.context.waitForEvent('page');
    await popup.getByRole('button', { name: `Pair with ${new URL(services.gatewayUrl).host}` }).click();
    // The browser shows the options page within its own settings.
    assert.match((await options).url(), /^chrome:\/\/extensions\/\?options=/);
    const kept = await own.currentWorker().evaluate(() => chrome.storage.local.get(['serverUrl', 'token', 'openGateway']));
    assert.deepEqual(kept, { serverUrl: services.gatewayUrl });
    const told = async (name) => {
      const answer = await fetch(`${services.gatewayUrl}/api/mcp-clients`,
        { headers: { Authorization: `Bearer ${await services.tokenOf(name)}` } });
      return [answer.status, (await answer.json()).mcp_clients?.map((each) => [each.name, each.client])];
    };
    assert.deepEqual(await told('agent'), [200, []]);
    const agent = await Agent.overHttp(services.gatewayUrl, await services.tokenOf('agent'));
    const other = await Agent.overHttp(services.gatewayUrl, await services.tokenOf('admin'));
    assert.deepEqual(await told('agent'), [200, [['callslip-e2e', 'agent']]]);
    assert.deepEqual((await told('viewer'))[1].sort(), [['callslip-e2e', 'admin'], ['callslip-e2e', 'agent']]);
    assert.equal((await told('extension'))[0], 403);
    await Promise.all([agent.close(), other.close()]);
  } finally {
    await services.close();
  }
});
