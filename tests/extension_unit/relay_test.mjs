/** The script in each document that forwards the reports of its page. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, test } from 'node:test';
import { createContext, Script } from 'node:vm';

const scripts = await Promise.all(['cut_text', 'relay'].map(async (name) =>
  new Script(await readFile(new URL(`../../extension/src/page/${name}.js`, import.meta.url), 'utf8'))));

let page;
let time;
let sent;
let order;
let orders;
let context;

beforeEach(() => {
  page = new EventTarget();
  time = 1_000;
  sent = [];
  order = { ms: 10_000 };
  const window = new EventTarget();
  context = createContext({
    CustomEvent, document: page, window, performance: { now: () => time }, setTimeout, clearTimeout,
    chrome: { runtime: { sendMessage: async (what) => {
      sent.push({ ...what });
      return order;
    } } },
  });
  for (const script of scripts) script.runInContext(context);
  sent.splice(0);
  orders = [];
  meet('name');
});

afterEach(() => context.callslipRelay.order({ ms: 0 }));

/** Stand-ins begin, and name their event; returns whether the relay waits for them. */
function meet(name) {
  page.addEventListener(name, ({ detail }) => orders.push(detail));
  return !page.dispatchEvent(new CustomEvent('callslip-here', { cancelable: true, detail: name }));
}

function tell(detail) {
  page.dispatchEvent(new CustomEvent('name-told', { detail }));
}

test('the relay sends new stand-ins the current answer and later orders', async () => {
  assert.equal(orders[0], 'dismiss');
  await new Promise(setImmediate);
  assert.deepEqual({ ...context.callslipRelay.order({ ms: 5_000, dialog: 'Ada' }) }, { page: true });
  assert.deepEqual([...new Set(orders)], ['dismiss', 'Ada']);
});

test('the relay rejects a second set of stand-ins, and any while no command runs', async () => {
  assert.equal(meet('other'), false);
  context.callslipRelay.order({ ms: 0 });
  assert.equal(orders.at(-1), null);
  assert.equal(meet('third'), false);
  tell({ kind: 'error' });
  assert.deepEqual(sent, []);
});

test('the relay accepts new stand-ins for the next command', () => {
  context.callslipRelay.order({ ms: 0 });
  assert.deepEqual({ ...context.callslipRelay.order({ ms: 5_000, dialog: 'accept' }) }, { page: false });
  scripts.at(-1).runInContext(context);
  assert.equal(meet('other'), true);
  assert.equal(orders.at(-1), 'accept');
});

test('the relay marks each event as an event of the page, whatever it claims', () => {
  tell({ kind: 'dialog', about: 'drawing', text: 'a' });
  assert.deepEqual(sent, [{ kind: 'dialog', about: 'page', text: 'a' }]);
});

test('the relay forwards 100 events per second of each kind, and counts the rest', () => {
  for (let at = 0; at < 100_000; at += 1) {
    tell({ kind: 'dialog', text: 'a' });
    tell({ kind: 'error' });
  }
  assert.ok(sent.length <= 240, `${sent.length} messages`);
  const counted = (kind) => sent.filter((each) => each.kind === kind).reduce((sum, { count }) => sum + (count ?? 1), 0);
  // The count is sent each time it has doubled.
  for (const count of [counted('more') + 100, counted('error')]) assert.ok(count > 50_000 && count <= 100_000, `${count}`);
  sent.splice(0);
  time += 1_001;
  tell({ kind: 'dialog', text: 'b' });
  assert.deepEqual(sent, [{ kind: 'dialog', text: 'b', about: 'page' }]);
});

test('the relay only counts an event that is too long', () => {
  tell({ kind: 'dialog', text: 'a'.repeat(60_000) });
  assert.deepEqual(sent, [{ kind: 'more', about: 'page' }]);
});

test('the relay forwards no events after the time of its order', async () => {
  await new Promise(setImmediate);
  time += order.ms - 1;
  tell({ kind: 'error' });
  assert.equal(sent.length, 1);
  time += 2;
  tell({ kind: 'error' });
  assert.equal(sent.length, 1);
});
