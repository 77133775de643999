import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { pageNavigated, tabGone } from '../../extension/src/errors.js';
import { createTabs, describeTab } from '../../extension/src/tabs.js';
import { FakeBrowser } from './support/fake_browser.mjs';

const PAGE = { id: 7, windowId: 1, active: true, status: 'complete', url: 'http://page.test/' };
const ASIDE = { ...PAGE, id: 8, active: false, status: 'unloaded', discarded: true };

let browser;
let tabs;

beforeEach(() => {
  browser = new FakeBrowser([PAGE, ASIDE]);
  tabs = createTabs(browser);
});

const withCode = (code) => (error) => error.code === code;

describe('tabs', () => {
  test('the active tab is the default', async () => {
    assert.equal((await tabs.find(undefined)).id, 7);
    assert.equal((await tabs.find(null)).id, 7);
  });

  test('a tab id finds its tab or fails with tab_gone', async () => {
    assert.equal((await tabs.find(8)).id, 8);
    await assert.rejects(tabs.find(9), withCode('tab_gone'));
  });

  test('a browser without windows has no active tab', async () => {
    browser.open = [];
    await assert.rejects(tabs.find(undefined), withCode('no_active_tab'));
  });

  test('closing a tab rejects only its own watch', async () => {
    const { signal } = new AbortController();
    const watched = tabs.closed(7, signal);
    browser.tabs.onRemoved.fire(8);
    browser.tabs.onRemoved.fire(7);
    await assert.rejects(watched, withCode('tab_gone'));
  });

  test('a watch removes its listener when it ends', () => {
    const watch = new AbortController();
    tabs.closed(7, watch.signal);
    watch.abort();
    assert.equal(browser.tabs.onRemoved.listeners.size, 0);
  });

  test('only a discarded tab is reloaded', async () => {
    const { signal } = new AbortController();
    await tabs.wake(PAGE, signal);
    assert.deepEqual(browser.reloaded, []);
    const awake = tabs.wake(ASIDE, signal);
    assert.deepEqual(browser.reloaded, [8]);
    browser.tabs.onUpdated.fire(8, { status: 'complete' });
    browser.tabs.onUpdated.fire(7, { status: 'loading' });
    browser.tabs.onUpdated.fire(8, { status: 'loading' });
    assert.equal(browser.tabs.onUpdated.listeners.size, 1);
    browser.tabs.onUpdated.fire(8, { status: 'complete' });
    await awake;
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  const explanations = [
    ['Cannot access a chrome:// URL', 7, 'restricted_page'],
    ['This page cannot be scripted due to an ExtensionsSettings policy.', 7, 'restricted_page'],
    ['The extensions gallery cannot be scripted.', 7, 'restricted_page'],
    ['Frame with ID 0 was removed.', 7, 'execution_failed'],
    ['Frame with ID 0 was removed.', 9, 'tab_gone'],
  ];
  for (const [message, tabId, code] of explanations) {
    test(`"${message}" in tab ${tabId} is reported as ${code}`, async () => {
      assert.equal((await tabs.explain(new Error(message), tabId)).code, code);
    });
  }

  test('a replaced page is reported as tab_gone if its tab is gone', async () => {
    assert.equal((await tabs.explain(pageNavigated(), 7)).code, 'page_navigated');
    assert.equal((await tabs.explain(pageNavigated(), 9)).code, 'tab_gone');
  });

  test('an unknown browser error is not reported as tab_gone', async () => {
    browser.tabs.get = async () => { throw new Error('Extension context invalidated.'); };
    await assert.rejects(tabs.find(7), /context invalidated/);
    const explained = await tabs.explain(new Error('odd'), 7);
    assert.deepEqual([explained.code, explained.message], ['execution_failed', 'odd']);
  });

  test('an error without a tab is reported as execution_failed', async () => {
    assert.equal((await tabs.explain(new Error('odd'), undefined)).code, 'execution_failed');
  });

  test('a tab is described within the limits of the gateway', () => {
    const long = 'a'.repeat(5_000);
    const described = describeTab({ ...PAGE, title: long, url: long });
    assert.equal(described.title.length, 200);
    assert.equal(described.url.length, 2_000);
    assert.deepEqual(describeTab({ ...PAGE, url: '', pendingUrl: 'http://next.test/' }), {
      tab_id: 7,
      window_id: 1,
      active: true,
      title: '',
      url: 'http://next.test/',
    });
  });

  test('an error that is already explained stays unchanged', async () => {
    const error = tabGone(7);
    assert.equal(await tabs.explain(error, 7), error);
  });
});
