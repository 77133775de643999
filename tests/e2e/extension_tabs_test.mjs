/** The extension in a real Chromium with several tabs and windows. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  assertComplete,
  assertError,
  ExtensionSetting,
  release,
  UNTIL_RELEASED,
} from './support/extension_setting.js';

let setting;
let gateway;
let pages;
let browser;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway, pages, browser } = setting);
});
after(() => setting?.stop());

const open = (path) => setting.open(path);

describe('tabs', () => {
  test('commands run side by side in different tabs and in order within one', async () => {
    const first = await open('/');
    const second = await open('/second');
    try {
      await first.page.evaluate(() => { window.order = []; });
      const inFirst = (script) => ({ action: 'execute_js', script, tab_id: first.tabId });
      const [slow, next, aside] = gateway.sendTogether([
        { params: inFirst(`${UNTIL_RELEASED}.then(() => order.push('slow'))`) },
        { params: inFirst("order.push('next')") },
        { params: { action: 'get_page', tab_id: second.tabId } },
      ]);
      assertComplete((await gateway.finalOf(aside)).body);
      assert.equal(gateway.postsOf(next).length, 0);
      await release(first.page);
      assertComplete((await gateway.finalOf(slow)).body);
      assertComplete((await gateway.finalOf(next)).body);
      assert.deepEqual(await first.page.evaluate(() => window.order), ['slow', 'next']);
    } finally {
      await first.page.close();
      await second.page.close();
    }
  });

  test('a tab that does not exist is tab_gone, and no other tab is touched', async () => {
    const { page } = await open('/');
    const params = { action: 'execute_js', script: 'window.touched = 1', tab_id: 999_999 };
    const report = await gateway.run(params);
    assert.equal(assertError(report, 'tab_gone').may_have_executed, false);
    assert.equal(report.tab_id, 999_999);
    assert.equal(await page.evaluate(() => window.touched), undefined);
    await page.close();
  });

  test('a tab that is closed meanwhile is tab_gone for what ran and what waited', async () => {
    const { page, tabId } = await open('/');
    const [running, waiting] = gateway.sendTogether([
      { params: { action: 'execute_js', script: UNTIL_RELEASED, tab_id: tabId } },
      { params: { action: 'get_page', tab_id: tabId } },
    ]);
    await page.waitForFunction(() => 'release' in window);
    await page.close();
    const ran = assertError((await gateway.finalOf(running)).body, 'tab_gone');
    assert.equal(ran.may_have_executed, true);
    const waited = assertError((await gateway.finalOf(waiting)).body, 'tab_gone');
    assert.equal(waited.may_have_executed, false);
  });

  test('a tab that the browser has put aside is loaded again', async () => {
    const { tabId } = await open('/second');
    const { page } = await open('/');
    const asideId = await browser.worker.evaluate(
      (id) => chrome.tabs.discard(id).then((tab) => tab.id),
      tabId,
    );
    const report = await gateway.run({ action: 'get_page', tab_id: asideId });
    assert.equal(assertComplete(report).title, 'Second page');
    await browser.worker.evaluate((id) => chrome.tabs.remove(id), asideId);
    await page.close();
  });

  test('a page that is replaced meanwhile is an error, not a silence', async () => {
    const { page } = await open('/');
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await page.waitForFunction(() => 'release' in window);
    await page.goto(`${pages.url}/second`);
    const error = assertError((await gateway.finalOf(command)).body, 'page_navigated');
    assert.equal(error.may_have_executed, true);
    await page.close();
  });
});

describe('the list of tabs', () => {
  test('names what is open, opens and closes', async () => {
    const { page, tabId } = await open('/');
    const url = `${pages.url}/second`;
    const background = { action: 'open_tab', url, background: true };
    const report = await gateway.run(background);
    const { tab_id: openedId, ...rest } = assertComplete(report);
    assert.deepEqual(rest, { url, title: 'Second page' });
    assert.equal(report.tab_id, openedId);
    assert.equal(report.url, url);

    const listed = await setting.perform({ action: 'list_tabs' });
    const found = (id) => listed.tabs.find((tab) => tab.tab_id === id);
    const { window_id: windowId, ...first } = found(tabId);
    const title = 'Test page';
    assert.deepEqual(first, { tab_id: tabId, active: true, title, url: `${pages.url}/` });
    const second = { tab_id: openedId, window_id: windowId, active: false, ...rest };
    assert.deepEqual(found(openedId), second);

    const closed = await setting.perform({ action: 'close_tab', tab_id: openedId });
    assert.deepEqual(closed, { tab_id: openedId, closed: true });
    await setting.refused({ action: 'close_tab', tab_id: openedId }, 'tab_gone');
    const { tabs } = await setting.perform({ action: 'list_tabs' });
    assert.equal(tabs.some((tab) => tab.tab_id === openedId), false);
    await page.close();
  });

  test('a tab that was opened in front is the one to act on', async () => {
    const { page } = await open('/');
    const opened = await setting.perform({ action: 'open_tab', url: `${pages.url}/second` });
    const report = await gateway.run({ action: 'get_page' });
    assert.equal(report.tab_id, opened.tab_id);
    assert.equal(assertComplete(report).text, 'You have arrived.');
    await setting.perform({ action: 'close_tab', tab_id: opened.tab_id });
    await page.close();
  });

  test('a tab that shows an error page is an error, and can be closed', async () => {
    const report = await gateway.run({ action: 'open_tab', url: 'http://127.0.0.1:1/' });
    assert.match(assertError(report, 'execution_failed').message, /could not be loaded/);
    await setting.perform({ action: 'close_tab', tab_id: report.tab_id });
  });
});

describe('two windows', () => {
  test('the one that was focused last has the tab to act on', async () => {
    const { page, tabId } = await open('/');
    const appeared = browser.context.waitForEvent('page');
    const windowId = await browser.worker.evaluate(
      (url) => chrome.windows.create({ url, focused: true }).then(({ id }) => id),
      `${pages.url}/second`,
    );
    const other = await appeared;
    await other.waitForLoadState();
    try {
      const inSecond = await gateway.run({ action: 'get_page' });
      assert.equal(assertComplete(inSecond).title, 'Second page');
      const named = await gateway.run({ action: 'get_page', tab_id: tabId });
      assert.equal(assertComplete(named).title, 'Test page');

      const { tabs } = await setting.perform({ action: 'list_tabs' });
      const [first] = tabs.filter((tab) => tab.tab_id === tabId);
      const [second] = tabs.filter((tab) => tab.tab_id === inSecond.tab_id);
      assert.notEqual(first.window_id, second.window_id);
      assert.equal(first.active && second.active, true);

      const pictures = [tabId, inSecond.tab_id].map((id) =>
        setting.perform({ action: 'screenshot', tab_id: id }));
      const [firstPicture, secondPicture] = await Promise.all(pictures);
      assert.notEqual(firstPicture.base64, secondPicture.base64);
    } finally {
      await browser.worker.evaluate((id) => chrome.windows.remove(id), windowId);
    }
    assert.equal((await gateway.run({ action: 'get_page' })).tab_id, tabId);
    await page.close();
  });
});

describe('private windows', () => {
  test('are out of reach', async () => {
    const allowed = await browser.worker.evaluate(() =>
      chrome.extension.isAllowedIncognitoAccess());
    assert.equal(allowed, false);
    const { incognito } = await browser.worker.evaluate(() => chrome.runtime.getManifest());
    assert.equal(incognito, 'not_allowed');

    const session = await browser.context.browser().newBrowserCDPSession();
    const { browserContextId } = await session.send('Target.createBrowserContext');
    try {
      const url = `${pages.url}/second?private`;
      const { targetId } = await session.send('Target.createTarget', { url, browserContextId });
      assert.ok(targetId);
      const { tabs } = await setting.perform({ action: 'list_tabs' });
      assert.equal(tabs.some((tab) => tab.url === url), false);
    } finally {
      await session.send('Target.disposeBrowserContext', { browserContextId });
      await session.detach();
    }
  });
});

describe('the status of the browser', () => {
  const settings = (values) =>
    browser.worker.evaluate((given) => chrome.storage.local.set(given), values);

  test('says who it is and what is open, and follows the tabs', async () => {
    const { page, tabId } = await open('/');
    const title = 'Test page';
    const shows = (tab) => ({ tabs }) =>
      tabs.some((each) => Object.entries(tab).every(([key, value]) => each[key] === value));
    const status = await gateway.status(
      shows({ tab_id: tabId, title, url: `${pages.url}/`, active: true }));
    const { workerId } = await browser.worker.evaluate(() => chrome.storage.local.get('workerId'));
    const { worker, target, name, version, paused, browser: product } = status;
    assert.deepEqual(
      { worker, target, name, version, paused },
      { worker: workerId, target: 'browser', name: '', version: '0.1.0', paused: false },
    );
    assert.match(product, /^Chrome\/\d+\.\d+$/);
    await page.goto(`${pages.url}/second`);
    await gateway.status(shows({ tab_id: tabId, title: 'Second page' }));
    await page.close();
    const seen = gateway.statuses.length;
    const isGone = (each) => !shows({ tab_id: tabId })(each);
    await gateway.status((each) => gateway.statuses.indexOf(each) >= seen && isGone(each));
  });

  test('a target and a name take effect at once', async () => {
    try {
      const poll = gateway.pollFor({ target: 'office' });
      await settings({ target: 'office', name: 'The desk by the window' });
      await poll;
      await gateway.status(({ target, name }) => target === 'office' && /^The desk/.test(name));
    } finally {
      const back = gateway.pollFor({ target: 'browser' });
      await settings({ target: '', name: '' });
      await back;
    }
  });

  test('a paused browser takes no commands, and takes what waits when it goes on', async () => {
    await settings({ paused: true });
    await gateway.status(({ paused }) => paused);
    await gateway.pollDropped();
    const command = gateway.send({ action: 'list_tabs' });
    const seen = gateway.polls.length;
    const { page } = await open('/');
    await page.close();
    assert.equal(gateway.polls.length, seen);
    await settings({ paused: false });
    assertComplete((await gateway.finalOf(command)).body);
  });
});
