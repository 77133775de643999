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
import { stretched } from '../support/patience.js';

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

describe('an address that is not a page', () => {
  const cases = [
    ['/attachment', /download, which the browser saves as bill 1\.txt; /],
    ['/to-attachment', /saves as bill 1\.txt; /],
    ['/unknown.bin', /saves as unknown\.bin; /],
    ['/nothing', /server sent no page \(status 204\); /],
    ['/unchanged', /server sent no page \(status 304\); /],
    ['/reset', /server sent no page \(status 205\); /],
  ];
  for (const [path, message] of cases) {
    test(`${path} is reported at once, and the tab stays where it was`, async () => {
      const { page, tabId } = await open('/second');
      const params = { action: 'navigate', url: pages.url + path, tab_id: tabId };
      const report = await gateway.run(params, { timeout_ms: 60_000 });
      const error = assertError(report, 'not_a_page');
      assert.match(error.message, message);
      assert.ok(error.message.endsWith(`the tab is where it was, at ${pages.url}/second.`), error.message);
      assert.equal(error.may_have_executed, true);
      assert.ok(report.work.duration_ms < stretched(30_000), `${report.work.duration_ms}`);
      const seen = await setting.perform({ action: 'get_page', tab_id: tabId });
      assert.equal(seen.url, `${pages.url}/second`);
      await page.close();
    });

    test(`${path} is reported for a new tab too`, async () => {
      const report = await gateway.run({ action: 'open_tab', url: pages.url + path }, { timeout_ms: 60_000 });
      const error = assertError(report, 'not_a_page');
      assert.match(error.message, message);
      const isClosed = error.message.endsWith('the browser has closed the new tab.');
      assert.equal(isClosed, !['/nothing', '/reset', '/unchanged'].includes(path), error.message);
      if (!isClosed) await setting.perform({ action: 'close_tab', tab_id: report.tab_id });
    });
  }

  test('a click that leads to a download or no content does not wait for it', async () => {
    const { page, tabId } = await open('/files');
    for (const selector of ['#large', '#nothing']) {
      const report = await gateway.run({ action: 'click', selector, tab_id: tabId }, { timeout_ms: 60_000 });
      assertComplete(report);
      assert.ok(report.work.duration_ms < stretched(8_000), `${selector} took ${report.work.duration_ms} ms`);
    }
    await page.close();
  });

  test('a download in a background tab is reported, however soon the tab is closed', async () => {
    for (let count = 0; count < 12; count += 1) {
      const params = { action: 'open_tab', url: `${pages.url}/attachment`, background: true };
      assert.match(assertError(await gateway.run(params), 'not_a_page').message, /bill 1\.txt; the browser has closed/);
    }
  });

  test('a page that closes its own tab after loading is reported as tab_gone', async () => {
    for (const after of [0, 60]) {
      const report = await gateway.run({ action: 'open_tab', url: `${pages.url}/closing?${after}` });
      assertError(report, 'tab_gone');
    }
  });

  test('a tab that a person closes while it loads is reported as tab_gone', async () => {
    const command = gateway.send({ action: 'open_tab', url: `${pages.url}/streaming` }, { timeout_ms: 60_000 });
    const { body } = await gateway.post(command, 'pending');
    await browser.worker.evaluate((id) => chrome.tabs.remove(id), body.tab_id);
    assertError((await gateway.finalOf(command)).body, 'tab_gone');
  });
});

describe('a PDF in the browser viewer', () => {
  let tabId;

  before(async () => {
    const url = `${pages.url}/paper.pdf`;
    const opened = await gateway.run({ action: 'open_tab', url });
    tabId = assertComplete(opened).tab_id;
    assert.ok(opened.result.data.page.endsWith('\nthe tab shows a PDF, whose text is out of reach'));
  });
  after(() => setting.perform({ action: 'close_tab', tab_id: tabId }));

  const refused = [
    { action: 'get_page' }, { action: 'query', text: 'Invoice' }, { action: 'page' },
    { action: 'find', text: 'Invoice' }, { action: 'wait_for', text: 'Invoice' }, { action: 'click', selector: 'embed' },
    { action: 'click', x: 50, y: 50 }, { action: 'hover', selector: 'embed' }, { action: 'press', key: 'End' },
    { action: 'type', text: 'a' }, { action: 'fill', fields: { input: 'a' } },
    { action: 'select', selector: 'select', value: 'a' }, { action: 'scroll', dy: 100 },
    { action: 'drag', x: 5, y: 5, to: '+5,5' }, { action: 'select_text', text: 'Invoice' },
    { action: 'screenshot', marks: true }, { action: 'batch', steps: [{ action: 'press', key: 'End' }] },
  ];
  for (const params of refused) {
    test(`refuses ${JSON.stringify(params)} with a reason`, async () => {
      const error = await setting.refused({ ...params, tab_id: tabId }, 'pdf_viewer');
      assert.match(error.message, /shows a PDF/);
      assert.equal(error.may_have_executed, false);
    });
  }

  test('supports screenshot, execute_js and navigate', async () => {
    assert.ok((await setting.perform({ action: 'screenshot', tab_id: tabId })).base64.length > 100);
    const script = 'fetch(location.href).then((answer) => answer.text()).then((text) => text.slice(0, 4))';
    const { result } = await gateway.run({ action: 'execute_js', script, tab_id: tabId });
    assert.equal(result.data, '%PDF');
    const url = `${pages.url}/second`;
    assert.equal((await setting.perform({ action: 'navigate', url, tab_id: tabId })).url, url);
    await setting.perform({ action: 'navigate', url: `${pages.url}/paper.pdf`, tab_id: tabId });
  });
});

describe('a PDF in a frame', () => {
  test('appears in the outline, and the page around it stays usable', async () => {
    const { page, tabId } = await open('/papers');
    const other = pages.url.replace('127.0.0.1', 'localhost');
    await page.evaluate((src) => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.width = 400;
      return new Promise((resolve) => { Object.assign(frame, { src, onload: resolve }); });
    }, `${other}/paper.pdf`);
    const { page: outline } = await setting.perform({ action: 'page', tab_id: tabId });
    assert.ok(outline.split('\n').some((line) => line.trim() === `e1 iframe (${new URL(other).host})`), outline);
    await setting.perform({ action: 'select_text', text: 'Around it', tab_id: tabId });
    await setting.refused({ action: 'select_text', text: 'Invoice', tab_id: tabId }, 'element_not_found');
    await page.close();
  });
});

describe('a page that never finishes loading', () => {
  const short = { timeout_ms: 3_000 };

  test('is reported as usable, with the requests that are still loading', async () => {
    const { page, tabId } = await open('/');
    const url = `${pages.url}/unfinished`;
    const arrived = await setting.perform({ action: 'navigate', url, tab_id: tabId }, short);
    const { still_loading: loading, ...place } = arrived;
    assert.deepEqual(place, { url, title: 'Unfinished' });
    assert.deepEqual(loading.sort(), [`image ${pages.url}/never`, `sub_frame ${pages.url}/never`]);
    assert.match((await setting.perform({ action: 'get_page', tab_id: tabId }, short)).text, /Here already/);
    await setting.perform({ action: 'click', selector: '#go', tab_id: tabId });
    await page.close();
  });

  test('is reported as usable in a new tab too', async () => {
    const url = `${pages.url}/unfinished`;
    const { tab_id: tabId, title, still_loading: loading } = await setting.perform({ action: 'open_tab', url }, short);
    assert.equal(title, 'Unfinished');
    assert.equal(loading.length, 2);
    await setting.perform({ action: 'close_tab', tab_id: tabId });
  });

  test('is usable while its document itself is still loading', async () => {
    const { page, tabId } = await open('/');
    const url = `${pages.url}/streaming`;
    const { title, still_loading: loading } = await setting.perform({ action: 'navigate', url, tab_id: tabId }, short);
    assert.deepEqual([title, loading], ['Streaming', [`main_frame ${url}`]]);
    const { page: outline } = await setting.perform({ action: 'page', tab_id: tabId });
    assert.match(outline, /Here already/);
    assert.match((await setting.perform({ action: 'get_page', tab_id: tabId })).text, /Here already/);
    assert.equal(await setting.perform({ action: 'execute_js', script: 'document.title', tab_id: tabId }), 'Streaming');
    await page.close();
  });

  test('is waited for once, and no longer than the timeout of the command', async () => {
    const { page, tabId } = await open('/');
    const url = `${pages.url}/streaming`;
    await setting.perform({ action: 'navigate', url, tab_id: tabId }, short);
    await page.evaluate((to) => { setTimeout(() => location.assign(to)); }, `${url}?again`);
    await setting.perform({ action: 'wait_for', text: 'Here already', tab_id: tabId }, short);
    const read = await gateway.run({ action: 'get_page', tab_id: tabId }, { timeout_ms: 2_000 });
    assert.match(assertComplete(read).text, /Here already/);
    const run = await gateway.run({ action: 'execute_js', script: 'document.title', tab_id: tabId });
    assertComplete(run);
    assert.ok(run.work.duration_ms < stretched(2_500), `${run.work.duration_ms}`);
    await page.close();
  });

  test('delays no command if a loaded page reopens its document', async () => {
    const { page, tabId } = await open('/');
    await page.evaluate(() => {
      document.open();
      document.write('<title>Written</title><p>Written on.</p>');
    });
    for (const params of [{ action: 'get_page' }, { action: 'page' }]) {
      const report = await gateway.run({ ...params, tab_id: tabId });
      assert.match(JSON.stringify(assertComplete(report)), /Written on/);
      assert.ok(report.work.duration_ms < stretched(2_000), `${params.action} took ${report.work.duration_ms} ms`);
    }
    await page.close();
  });

  test('makes navigate time out if nothing of it has arrived', async () => {
    const { page, tabId } = await open('/');
    const report = await gateway.run({ action: 'navigate', url: `${pages.url}/never`, tab_id: tabId }, { timeout_ms: 2_000 });
    assert.deepEqual([report.status, report.error.code], ['timeout', 'execution_timeout']);
    await page.close();
  });
});

describe('tabs', () => {
  test('commands run concurrently in different tabs and in order within one', async () => {
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

  test('a command for a nonexistent tab gets tab_gone and touches no other tab', async () => {
    const { page } = await open('/');
    const params = { action: 'execute_js', script: 'window.touched = 1', tab_id: 999_999 };
    const report = await gateway.run(params);
    assert.equal(assertError(report, 'tab_gone').may_have_executed, false);
    assert.equal(report.tab_id, 999_999);
    assert.equal(await page.evaluate(() => window.touched), undefined);
    await page.close();
  });

  test('running and waiting commands get tab_gone when their tab is closed', async () => {
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

  test('a tab that the browser has discarded is loaded again', async () => {
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

  test('a command gets page_navigated when its page is replaced meanwhile', async () => {
    const { page } = await open('/');
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await page.waitForFunction(() => 'release' in window);
    await page.goto(`${pages.url}/second`);
    const error = assertError((await gateway.finalOf(command)).body, 'page_navigated');
    assert.equal(error.may_have_executed, true);
    await page.close();
  });
});

describe('opened tabs', () => {
  test('are listed until they are closed', async () => {
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

  test('are the default tab for commands when opened in front', async () => {
    const { page } = await open('/');
    const opened = await setting.perform({ action: 'open_tab', url: `${pages.url}/second` });
    const report = await gateway.run({ action: 'get_page' });
    assert.equal(report.tab_id, opened.tab_id);
    assert.equal(assertComplete(report).text, 'You have arrived.');
    await setting.perform({ action: 'close_tab', tab_id: opened.tab_id });
    await page.close();
  });

  test('are reported as failed and can be closed when they show an error page', async () => {
    const report = await gateway.run({ action: 'open_tab', url: 'http://127.0.0.1:1/' });
    assert.match(assertError(report, 'execution_failed').message, /could not be loaded/);
    await setting.perform({ action: 'close_tab', tab_id: report.tab_id });
  });
});

describe('two windows', () => {
  test('the active tab of the last focused window is the default for commands', async () => {
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

  test('contains its identity and its tabs, and follows tab changes', async () => {
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

  test('shows a changed target and name at once', async () => {
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

  test('a paused browser takes no commands, and takes waiting ones when resumed', async () => {
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
