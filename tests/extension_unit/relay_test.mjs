/** The script in each document that hands on what its page tells. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { beforeEach, test } from 'node:test';
import { createContext, Script } from 'node:vm';

const scripts = await Promise.all(['cut_text', 'relay'].map(async (name) =>
  new Script(await readFile(new URL(`../../extension/src/page/${name}.js`, import.meta.url), 'utf8'))));

let page;
let time;
let sent;
let order;

beforeEach(() => {
  page = new EventTarget();
  time = 1_000;
  sent = [];
  order = { ms: 10_000 };
  const window = new EventTarget();
  const context = createContext({
    CustomEvent, document: page, window, performance: { now: () => time },
    chrome: { runtime: { sendMessage: async (what) => {
      sent.push({ ...what });
      return order;
    } } },
  });
  for (const script of scripts) script.runInContext(context);
  sent.splice(0);
});

function tell(what) {
  const detail = typeof what === 'string' ? what : JSON.stringify(what);
  page.dispatchEvent(new CustomEvent('callslip-told', { detail }));
}

test('what a page tells is said to be of a page, whatever it says', () => {
  tell({ kind: 'dialog', about: 'drawing', text: 'a' });
  assert.deepEqual(sent, [{ kind: 'dialog', about: 'page', text: 'a' }]);
});

test('a page that tells without end is heard a hundred times a second, and counted', () => {
  for (let at = 0; at < 100_000; at += 1) {
    tell({ kind: 'dialog', text: 'a' });
    tell({ kind: 'error' });
  }
  assert.ok(sent.length <= 240, `${sent.length} messages`);
  const counted = (kind) => sent.filter((each) => each.kind === kind).reduce((sum, { count }) => sum + (count ?? 1), 0);
  // It is told each time when it has doubled.
  for (const count of [counted('more') + 100, counted('error')]) assert.ok(count > 50_000 && count <= 100_000, `${count}`);
  sent.splice(0);
  time += 1_001;
  tell({ kind: 'dialog', text: 'b' });
  assert.deepEqual(sent, [{ kind: 'dialog', text: 'b', about: 'page' }]);
});

test('what is too long is only counted', () => {
  tell({ kind: 'dialog', text: 'a'.repeat(60_000) });
  assert.deepEqual(sent, [{ kind: 'more', about: 'page' }]);
});

test('nothing is handed on once no command runs', async () => {
  await new Promise(setImmediate);
  time += order.ms - 1;
  tell({ kind: 'error' });
  assert.equal(sent.length, 1);
  time += 2;
  tell({ kind: 'error' });
  assert.equal(sent.length, 1);
});
