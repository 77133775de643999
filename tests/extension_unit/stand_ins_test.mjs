import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { EVENTS_TOLD, LINGER_MS, TABS_ARMED } from '../../extension/src/limits.js';
import { createStandIns } from '../../extension/src/stand_ins.js';
import { FakeEvent } from './support/fake_browser.mjs';

let browser;
let begun;
let orders;
let time;
let standIns;

beforeEach((t) => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  browser = { tabs: { onCreated: new FakeEvent(), onRemoved: new FakeEvent() } };
  begun = [];
  orders = [];
  time = 0;
  const scripts = {
    begin: async (dialog) => { begun.push(dialog); },
    order: async (tabId, order) => { orders.push([tabId, order]); },
  };
  standIns = createStandIns({ browser, scripts, now: () => time });
});

async function enter(tabId, options = {}) {
  const watch = await standIns.begin({ timeoutMs: 10_000, ...options });
  await watch.enter(tabId);
  return watch;
}

const dialog = { kind: 'dialog', dialog: 'confirm', text: 'Sure?', accepted: false };

describe('stand-ins for dialogs', () => {
  test('are active while a command runs in the tab, and a little longer', async () => {
    const watch = await enter(7);
    assert.deepEqual(begun, ['dismiss']);
    assert.deepEqual(orders, [[7, { ms: 10_000 + LINGER_MS, dialog: 'dismiss' }]]);
    watch.end();
    assert.equal(orders.length, 1);
    mock.timers.tick(LINGER_MS);
    assert.deepEqual(begun, ['dismiss', null]);
    assert.deepEqual(orders[1], [7, { ms: 0 }]);
  });

  test('stay active for the next command', async () => {
    (await enter(7)).end();
    const next = await enter(7);
    mock.timers.tick(LINGER_MS);
    assert.equal(orders.length, 2);
    next.end();
    mock.timers.tick(LINGER_MS);
    assert.deepEqual(orders.at(-1), [7, { ms: 0 }]);
  });

  test('send each new document the order of its tab', async () => {
    await enter(7, { dialog: 'accept' });
    time = 1_000;
    const ms = 9_000 + LINGER_MS;
    assert.deepEqual(await standIns.heard({ kind: 'begun' }, 7), { ms, dialog: 'accept' });
    assert.deepEqual(await standIns.heard({ kind: 'begun' }, 8), { ms: 0 });
  });

  test('make a document of a tab that is being opened wait for its order', async () => {
    const watch = await standIns.begin({ timeoutMs: 5 });
    const answer = standIns.heard({ kind: 'begun' }, 9);
    await watch.enter(9);
    assert.deepEqual(await answer, { ms: 5 + LINGER_MS, dialog: 'dismiss' });
  });

  test('accept dialogs in new documents only if all commands do', async () => {
    const first = await enter(7, { dialog: 'accept' });
    await enter(8);
    assert.deepEqual(begun, ['accept', 'dismiss']);
    first.end();
    mock.timers.tick(LINGER_MS);
    assert.equal(begun.at(-1), 'dismiss');
  });

  test('report each event once, to the command of its tab', async () => {
    const watch = await enter(7);
    await standIns.heard(dialog, 8);
    assert.deepEqual(watch.heard(), []);
    await standIns.heard({ ...dialog, extra: 1 }, 7);
    await standIns.heard({ kind: 'error' }, 7);
    await standIns.heard({ kind: 'error' }, 7);
    await standIns.heard({ kind: 'unheard of' }, 7);
    assert.deepEqual(watch.heard(), [dialog, { kind: 'error', count: 2 }]);
    assert.deepEqual(watch.heard(), []);
  });

  test('report the first of very many events, and count the rest', async () => {
    const watch = await enter(7);
    for (let at = 0; at < 1_000; at += 1) {
      await standIns.heard(dialog, 7);
      await standIns.heard({ kind: 'error', count: 2 }, 7);
      browser.tabs.onCreated.fire({ id: 100 + at, openerTabId: 7, url: 'http://page.test/' });
    }
    await standIns.heard({ kind: 'more', count: 64 }, 7);
    for (const count of [-1, 'many', undefined, 1e300]) await standIns.heard({ kind: 'more', count }, 7);
    const heard = watch.heard();
    const count = (kind) => heard.filter((event) => event.kind === kind).length;
    assert.deepEqual([count('dialog'), count('tab')], [EVENTS_TOLD, EVENTS_TOLD]);
    assert.deepEqual(heard.find(({ kind }) => kind === 'error'), { kind: 'error', count: 2_000 });
    assert.deepEqual(heard.at(-1), { kind: 'more', count: 2 * (1_000 - EVENTS_TOLD) + 64 + 4 });
    watch.end();
    mock.timers.tick(LINGER_MS);
    assert.equal(orders.length, 1 + 1 + TABS_ARMED);
  });

  test('report an event after the end of a command to the next command', async () => {
    (await enter(7)).end();
    await standIns.heard(dialog, 7);
    assert.deepEqual((await enter(7)).heard(), [dialog]);
  });

  test('report a tab that the page opens, and become active in it', async () => {
    const watch = await enter(7);
    const url = 'http://page.test/';
    browser.tabs.onCreated.fire({ id: 20, openerTabId: 7, pendingUrl: url });
    browser.tabs.onCreated.fire({ id: 21, openerTabId: 6, url });
    assert.deepEqual(watch.heard(), [{ kind: 'tab', tabId: 20, url }]);
    browser.tabs.get = async (id) => ({ id, url });
    assert.deepEqual([await watch.created(url), await watch.created(url)], [21, undefined]);
    assert.ok((await standIns.heard({ kind: 'begun' }, 20)).ms > 0);
    watch.end();
    mock.timers.tick(LINGER_MS);
    assert.deepEqual(orders.slice(1).map(([tabId]) => tabId), [7, 20]);
  });
});
