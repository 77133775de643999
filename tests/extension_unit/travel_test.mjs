import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { back } from '../../extension/src/actions/back.js';
import { navigate } from '../../extension/src/actions/navigate.js';
import { openTab } from '../../extension/src/actions/open_tab.js';
import { gatewayPage } from '../../extension/src/gateway_page.js';
import { FakeBrowser } from './support/fake_browser.mjs';
import { settled } from './support/settled.mjs';

const PAGE = { id: 7, windowId: 1, active: true, status: 'complete', url: 'http://page.test/' };
const OFF = 'http://127.0.0.1:7890/ui/';
const NEXT = { url: 'http://next.test/', title: 'Next' };

let browser;
let tab;
let said;

beforeEach(() => {
  tab = { ...PAGE };
  browser = new FakeBrowser([tab]);
  browser.scripting = { executeScript: async () => [{ result: true }] };
  said = [];
});

const isOff = async (url) => url === OFF;
const guard = async (url) => {
  if (await isOff(url)) throw gatewayPage(url);
};

function start(action, params = {}) {
  const { signal } = new AbortController();
  const progress = (message) => said.push(message);
  return action.run({ tab, params, tools: { browser, guard, isOff }, signal, progress });
}

function load(page = NEXT) {
  browser.tabs.onUpdated.fire(7, { status: 'loading' });
  Object.assign(tab, page);
  browser.tabs.onUpdated.fire(7, { status: 'complete' });
}

describe('an action that takes a tab elsewhere', () => {
  test('answers once the page has loaded, and says meanwhile that it does', async () => {
    browser.tabs.update = async (id, { url }) => assert.deepEqual([id, url], [7, NEXT.url]);
    const going = start(navigate, { url: NEXT.url });
    await settled();
    assert.deepEqual(said, ['The page is loading.']);
    load();
    assert.deepEqual(await going, { url: NEXT.url, data: NEXT });
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('does not go where no agent acts, and tells nothing of it where it was led there', async () => {
    const update = async () => assert.fail('nothing was to be done');
    Object.assign(browser.tabs, { update, create: update });
    const refused = { code: 'restricted_page', mayHaveExecuted: false };
    await assert.rejects(start(navigate, { url: OFF }), refused);
    const tools = { browser, guard, isOff, tabs: { lastWindowId: async () => 1 } };
    await assert.rejects(openTab.openTab({ params: { url: OFF }, tools }), refused);
    browser.tabs.update = async () => {};
    const going = start(navigate, { url: NEXT.url });
    await settled();
    load({ url: OFF, title: 'Sessions' });
    assert.deepEqual(await going, { url: OFF, data: { url: OFF } });
  });

  test('tells an error page from the page that was wanted', async () => {
    browser.tabs.update = async () => {};
    browser.scripting.executeScript = async () => {
      throw new Error('Cannot access contents of an error page');
    };
    const going = start(navigate, { url: NEXT.url });
    await settled();
    load();
    const expected = { code: 'execution_failed', mayHaveExecuted: true, url: NEXT.url };
    await assert.rejects(going, expected);
  });

  test('tells the end of the history from other failures', async () => {
    browser.tabs.goBack = async () => { throw new Error('Cannot find a next page in history.'); };
    await assert.rejects(start(back), { code: 'no_history', mayHaveExecuted: false });
    browser.tabs.goBack = async () => { throw new Error('Tabs cannot be edited right now'); };
    await assert.rejects(start(back), /cannot be edited/);
  });
});

describe('a tab that was just opened', () => {
  test('has loaded already where nothing is pending', async () => {
    const { data } = await start(openTab);
    assert.deepEqual(data, { tab_id: 7, url: PAGE.url, title: '' });
  });

  test('has not loaded while its first address is pending', async () => {
    tab.pendingUrl = NEXT.url;
    let opened = false;
    const opening = start(openTab).then((result) => {
      opened = true;
      return result;
    });
    await settled();
    browser.tabs.onUpdated.fire(7, { status: 'complete' });
    await settled();
    assert.equal(opened, false);
    tab.pendingUrl = undefined;
    load();
    assert.deepEqual((await opening).data, { tab_id: 7, ...NEXT });
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });
});
