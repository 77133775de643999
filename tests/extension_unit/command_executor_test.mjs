import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createCommandExecutor } from '../../extension/src/command_executor.js';
import { createTabLanes } from '../../extension/src/tab_lanes.js';
import { createTabs } from '../../extension/src/tabs.js';
import { FakeBrowser } from './support/fake_browser.mjs';
import { settled } from './support/settled.mjs';

const PAGE = { id: 7, windowId: 1, active: true, status: 'complete', url: 'http://page.test/' };

let browser;
let log;
let execute;

const check = () => {};

/** One action of each kind; each logs its run. */
const actions = {
  act: {
    check,
    async run({ tab, progress }) {
      log.push('act');
      progress('half', 0.5);
      return { url: tab.url, data: 'done' };
    },
  },
  endless: { check, run: () => new Promise(() => {}) },
  look: { check, readsOnly: true, tabless: true, run: async () => ({ data: 'seen' }) },
  failing: { check, tabless: true, run: async () => { throw new Error('odd'); } },
  open: {
    check,
    openTab: async () => {
      log.push('open');
      browser.open.push({ ...PAGE, id: 8, active: false });
      return browser.open.at(-1);
    },
    run: async ({ tab }) => ({ url: tab.url, data: tab.id }),
  },
  close: {
    check,
    closesTab: true,
    async run({ tab }) {
      browser.open = browser.open.filter(({ id }) => id !== tab.id);
      browser.tabs.onRemoved.fire(tab.id);
      return { url: tab.url, data: 'closed' };
    },
  },
};

function newRun() {
  const stop = new AbortController();
  const run = { signal: stop.signal, stop, started: false };
  run.begin = async () => {
    log.push('begin');
    run.started = !stop.signal.aborted;
    return run.started;
  };
  return run;
}

const command = (params) => ({ type: 'browser_action', params });

beforeEach(() => {
  browser = new FakeBrowser([PAGE]);
  log = [];
  const tabs = createTabs(browser);
  execute = createCommandExecutor({ actions, tabs, lanes: createTabLanes(), tools: {} });
});

describe('command executor', () => {
  test('begins a command before its action runs, and notes its tab and progress', async () => {
    const run = newRun();
    assert.equal(await execute(command({ action: 'act' }), run), 'done');
    assert.deepEqual(log, ['begin', 'act']);
    assert.equal(run.tabId, 7);
    assert.equal(run.url, PAGE.url);
    assert.equal(run.readsOnly, false);
    assert.deepEqual(run.progress, { message: 'half', fraction: 0.5 });
  });

  test('runs no action in a tab that shows or is loading a page that is off limits', async () => {
    const off = 'http://127.0.0.1:7890/ui/';
    execute = createCommandExecutor({ actions, tabs: createTabs(browser), lanes: createTabLanes(), tools: {},
      isOff: async (url) => url === off });
    for (const there of [{ url: off }, { url: PAGE.url, pendingUrl: off }]) {
      browser.open = [{ ...PAGE, ...there }];
      for (const action of ['act', 'endless', 'close']) {
        await assert.rejects(execute(command({ action }), newRun()), { code: 'restricted_page', mayHaveExecuted: false });
      }
    }
    assert.deepEqual(log, []);
    assert.equal(await execute(command({ action: 'look' }), newRun()), 'seen');
    assert.equal(await execute(command({ action: 'open' }), newRun()), 8);
  });

  test('lets a tab that an action has opened explain why it is gone', async () => {
    const said = [];
    const opened = { id: 8, explain: ({ code }) => new Error(`not shown: ${code}`), end: () => said.push('end') };
    let run = () => new Promise(() => {});
    const opens = { check, openTab: async () => opened, run: (...given) => run(...given) };
    execute = createCommandExecutor({ actions: { opens }, tabs: createTabs(browser), lanes: createTabLanes(), tools: {} });
    await assert.rejects(execute(command({ action: 'opens' }), newRun()), /not shown: tab_gone/);
    browser.open.push({ ...PAGE, id: 8 });
    const running = execute(command({ action: 'opens' }), newRun());
    await settled();
    browser.open.pop();
    browser.tabs.onRemoved.fire(8);
    await assert.rejects(running, /not shown: tab_gone/);
    browser.open.push({ ...PAGE, id: 8 });
    run = async () => ({ data: 'done' });
    assert.equal(await execute(command({ action: 'opens' }), newRun()), 'done');
    assert.deepEqual(said, ['end', 'end', 'end']);
  });

  test('does not run an action whose command could not begin', async () => {
    const run = newRun();
    run.begin = async () => { throw new Error('QUOTA_BYTES'); };
    await assert.rejects(execute(command({ action: 'act' }), run), /QUOTA/);
    run.begin = async () => false;
    assert.equal(await execute(command({ action: 'act' }), run), undefined);
    assert.deepEqual(log, []);
  });

  test('runs an action without a tab without waiting for a turn', async () => {
    execute(command({ action: 'endless' }), newRun());
    const run = newRun();
    assert.equal(await execute(command({ action: 'look' }), run), 'seen');
    assert.equal(run.tabId, undefined);
    assert.equal(run.readsOnly, true);
  });

  test('passes on the error of an action without a tab', async () => {
    const failed = execute(command({ action: 'failing' }), newRun());
    await assert.rejects(failed, { code: 'execution_failed', message: 'odd' });
  });

  test('begins a command before its action opens a tab', async () => {
    const run = newRun();
    assert.equal(await execute(command({ action: 'open' }), run), 8);
    assert.deepEqual(log, ['begin', 'open']);
    assert.equal(run.tabId, 8);
  });

  test('lets an action close its tab, and ends other actions with their tab', async () => {
    const closed = await execute(command({ action: 'close', tab_id: 7 }), newRun());
    assert.equal(closed, 'closed');
    browser.open = [PAGE];
    const cut = execute(command({ action: 'endless' }), newRun());
    const gone = assert.rejects(cut, { code: 'tab_gone' });
    await settled();
    browser.tabs.onRemoved.fire(7);
    await gone;
  });

  test('gives the tab of an aborted command to the next command', async () => {
    const run = newRun();
    const first = execute(command({ action: 'endless' }), run);
    const second = execute(command({ action: 'act' }), newRun());
    await settled();
    run.stop.abort();
    assert.equal(await first, undefined);
    assert.equal(await second, 'done');
  });
});
