import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { back } from '../../extension/src/actions/back.js';
import { forward } from '../../extension/src/actions/forward.js';
import { navigate } from '../../extension/src/actions/navigate.js';
import { openTab } from '../../extension/src/actions/open_tab.js';
import { pageNavigated, tabGone } from '../../extension/src/errors.js';
import { gatewayPage } from '../../extension/src/gateway_page.js';
import { stepInHistory } from '../../extension/src/page/step_in_history.js';
import { createTabs } from '../../extension/src/tabs.js';
import { FakeBrowser } from './support/fake_browser.mjs';
import { settled } from './support/settled.mjs';

const PAGE = { id: 7, windowId: 1, active: true, status: 'complete', url: 'http://page.test/' };
const OFF = 'http://127.0.0.1:7890/ui/';
const NEXT = { url: 'http://next.test/', title: 'Next' };

let browser;
let tab;
let said;
let requests;
let loading;
let time;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  time = 0;
  requests = [];
  loading = [];
  tab = { ...PAGE };
  browser = new FakeBrowser([tab]);
  browser.scripting = { executeScript: async () => [{ result: true }] };
  said = [];
});

const isOff = async (url) => url === OFF;
const guard = async (url) => {
  if (await isOff(url)) throw gatewayPage(url);
};

const network = { pageRequest: () => () => requests.at(-1), underWay: () => loading };

function start(action, params = {}, { pageScripts, ...more } = {}) {
  const { signal } = new AbortController();
  const progress = (message) => said.push(message);
  const tabs = createTabs(browser);
  const tools = { browser, guard, isOff, network, tabs, pageScripts, now: () => time };
  return action.run({ tab, params, tools, signal, progress, ...more });
}

async function elapse(ms) {
  for (let passed = 0; passed < ms; passed += 50) {
    time += 50;
    mock.timers.tick(50);
    await settled();
  }
}

function load(page = NEXT) {
  browser.tabs.onUpdated.fire(7, { status: 'loading' });
  Object.assign(tab, page);
  browser.tabs.onUpdated.fire(7, { status: 'complete' });
}

describe('an action that navigates a tab', () => {
  test('answers once the page has loaded, and reports progress until then', async () => {
    browser.tabs.update = async (id, { url }) => assert.deepEqual([id, url], [7, NEXT.url]);
    const going = start(navigate, { url: NEXT.url });
    await settled();
    assert.deepEqual(said, ['The page is loading.']);
    load();
    assert.deepEqual(await going, { url: NEXT.url, data: NEXT });
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('rejects a restricted page, and omits its title after a redirect to it', async () => {
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

  test('distinguishes an error page from the requested page', async () => {
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

});

describe('a step through the history', () => {
  let isThere;

  beforeEach(() => {
    isThere = () => ({ data: { isThere: true } });
    browser.tabs.goBack = async () => assert.fail('the page goes itself');
  });

  function go(action) {
    const asked = [];
    const pageScripts = { run: async (...args) => {
      asked.push(args);
      return isThere();
    } };
    const going = start(action, {}, { pageScripts });
    going.catch(() => {});
    return { asked, going };
  }

  test('is made by the page', async () => {
    for (const [action, step] of [[back, -1], [forward, 1]]) {
      const { asked, going } = go(action);
      await settled();
      load();
      assert.deepEqual((await going).data, NEXT);
      const [tabId, pageFunction, [by, until]] = asked[0];
      assert.deepEqual([tabId, pageFunction, by], [7, stepInHistory, step]);
      // Without an answer within 1 s the browser navigates itself: the page must not do it as well.
      assert.ok(until <= Date.now() + 800, `${until - Date.now()} ms`);
    }
  });

  test('fails with no_history if the history has only one page', async () => {
    isThere = () => ({ data: { isThere: false } });
    await assert.rejects(go(back).going, { code: 'no_history', mayHaveExecuted: false });
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('fails with no_history if the page cannot tell and no load begins', async () => {
    isThere = () => ({ data: { isThere: null } });
    const { going } = go(back);
    await elapse(1_200);
    await assert.rejects(going, { code: 'no_history', mayHaveExecuted: false });
  });

  test('can begin a little later', async () => {
    isThere = () => ({ data: { isThere: null } });
    const { going } = go(back);
    await elapse(300);
    tab.status = 'loading';
    await elapse(2_000);
    load();
    assert.deepEqual((await going).data, NEXT);
  });

  test('is made by the browser if no script can run', async () => {
    isThere = () => { throw new Error('Cannot access contents of an error page'); };
    browser.tabs.goBack = async () => { throw new Error('Cannot find a next page in history.'); };
    await assert.rejects(go(back).going, { code: 'no_history', mayHaveExecuted: false, hint: /use navigate with the address/ });
    browser.tabs.goBack = async () => { throw new Error('Tabs cannot be edited right now'); };
    await assert.rejects(go(back).going, /cannot be edited/);
  });

  test('succeeds if the page is replaced at once', async () => {
    isThere = () => { throw pageNavigated(); };
    const { going } = go(back);
    await settled();
    load();
    assert.deepEqual((await going).data, NEXT);
  });
});

describe('the detection of an address without a page', () => {
  beforeEach(() => {
    browser.tabs.update = async () => Object.assign(tab, { status: 'loading', pendingUrl: NEXT.url });
  });

  async function answered(request) {
    const going = start(navigate, { url: NEXT.url });
    going.catch(() => {});
    await settled();
    requests.push(request);
    await elapse(300);
    Object.assign(tab, { status: 'complete', pendingUrl: undefined });
    await elapse(300);
    return going;
  }

  test('explains the answer of the server', async () => {
    const expected = { code: 'not_a_page', mayHaveExecuted: true, url: PAGE.url };
    const place = 'the tab is where it was, at http://page.test/.';
    const cases = [
      [{ answered: true, status: 204, name: 'none' }, 'The server sent no page (status 204)'],
      [{ answered: true, status: 304, error: 'net::ERR_ABORTED' }, 'The server sent no page (status 304)'],
      [{ answered: true, status: 304, name: '304' }, 'The server sent no page (status 304)'],
      [{ answered: true, status: 200, name: 'a.zip' }, 'The address is a download, which the browser saves as a.zip'],
      [{ answered: true, error: 'net::ERR_ABORTED' }, 'The address led to no page (net::ERR_ABORTED)'],
    ];
    for (const [request, message] of cases) {
      await assert.rejects(answered(request), { ...expected, message: `${message}; ${place}` });
    }
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('ignores earlier requests', async () => {
    requests.push({ answered: true, status: 204 });
    const going = start(navigate, { url: NEXT.url });
    await settled();
    tab.status = 'complete';
    delete tab.pendingUrl;
    await elapse(1_000);
    load();
    assert.deepEqual((await going).data, NEXT);
  });

  test('waits briefly for a page that the browser reports late', async () => {
    const going = start(navigate, { url: NEXT.url });
    await settled();
    requests.push({ answered: true, status: 200 });
    Object.assign(tab, { status: 'complete', pendingUrl: undefined });
    await elapse(100);
    load();
    await elapse(500);
    assert.deepEqual((await going).data, NEXT);
  });
});

describe('a new tab that is gone', () => {
  let opened;

  beforeEach(async () => {
    browser.tabs.create = async () => Object.assign(tab, { url: '', pendingUrl: NEXT.url });
    const tools = { browser, guard, network, tabs: createTabs(browser) };
    opened = await openTab.openTab({ params: { url: NEXT.url }, tools });
    requests.push({ answered: true, status: 200, name: 'a.zip' });
  });

  test('is reported as a download if there was no page to show', () => {
    const { code, message } = opened.explain(tabGone(7));
    assert.deepEqual([code, message], ['not_a_page',
      'The address is a download, which the browser saves as a.zip; the browser has closed the new tab.']);
    opened.end();
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('is reported as tab_gone if no answer arrived or a page was shown', () => {
    requests.push({ answered: false });
    assert.equal(opened.explain(tabGone(7)).code, 'tab_gone');
    requests.pop();
    browser.tabs.onUpdated.fire(7, { status: 'loading' }, { url: NEXT.url });
    assert.equal(opened.explain(tabGone(7)).code, 'tab_gone');
  });

  test('has no effect on other errors', () => {
    assert.equal(opened.explain(pageNavigated()).code, 'page_navigated');
  });
});

describe('a page that is still loading when the time is almost over', () => {
  beforeEach(() => {
    browser.tabs.update = async () => {};
    loading = Array.from({ length: 7 }, (_, number) => ({ type: 'image', url: `http://next.test/${number}` }));
  });

  async function unfinished() {
    const going = start(navigate, { url: NEXT.url }, { endsAt: 10_000 });
    await settled();
    browser.tabs.onUpdated.fire(7, { status: 'loading' });
    Object.assign(tab, NEXT);
    await elapse(10_000);
    return going;
  }

  test('is reported with its open requests', async () => {
    const { data, isUnfinished } = await unfinished();
    const first = loading.slice(0, 5).map(({ type, url }) => `${type} ${url}`);
    assert.deepEqual(data, { ...NEXT, still_loading: [...first, '2 more'] });
    assert.equal(isUnfinished, true);
    loading = [];
    assert.deepEqual((await unfinished()).data.still_loading, ['the page itself']);
  });

  test('is waited for while it cannot be used yet', async () => {
    let result = false;
    browser.scripting.executeScript = async () => [{ result }];
    const going = start(navigate, { url: NEXT.url }, { endsAt: 10_000 });
    await settled();
    let ended = false;
    going.then(() => { ended = true; });
    await elapse(9_000);
    browser.tabs.onUpdated.fire(7, { status: 'loading' });
    await elapse(500);
    assert.equal(ended, false);
    result = true;
    await elapse(200);
    assert.equal(ended, true);
  });
});

describe('a tab that was just opened', () => {
  test('leaves no listener behind if it is gone', async () => {
    browser.open.splice(0);
    await assert.rejects(start(openTab), /No tab with id/);
    assert.equal(browser.tabs.onUpdated.listeners.size, 0);
  });

  test('has already loaded if no address is pending', async () => {
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
