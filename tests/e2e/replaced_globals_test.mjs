/**
 * Pages that have replaced the browser's globals: the extension's code in the page uses none of
 * them. Scripts of agents do use them, as intended.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { REBOUND_NAME } from './support/chromium.js';
import { assertComplete, assertError, changesIn, ExtensionSetting } from './support/extension_setting.js';

/** Each of these globals is replaced as a whole. */
const NAMES = [
  'Array', 'ArrayBuffer', 'Boolean', 'CustomEvent', 'Date', 'Document', 'Element', 'Error', 'EvalError', 'Event',
  'EventTarget', 'Function', 'HTMLElement', 'JSON', 'Map', 'Math', 'Node', 'Number', 'Object', 'Promise', 'Proxy',
  'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'SyntaxError', 'TextEncoder', 'TypeError', 'URL', 'WeakMap',
  'Window', 'clearTimeout', 'eval', 'performance', 'setTimeout', 'structuredClone',
];

/** All methods of each of these are replaced. */
const OWNERS = [
  'Array', 'Array.prototype', 'CustomEvent.prototype', 'Date', 'Date.prototype', 'Error', 'Error.prototype',
  'Function.prototype', 'JSON', 'Map.prototype', 'Math', 'Node.prototype', 'Number.prototype', 'Object',
  'Object.prototype', 'Promise', 'Promise.prototype', 'Reflect', 'RegExp.prototype', 'Set.prototype',
  'String', 'String.prototype', 'Symbol', 'TextEncoder.prototype', 'URL.prototype', 'WeakMap.prototype',
];

const HOWS = ['undefined', 'throwing', 'forged', 'proxied'];

/** Replacements that do not fit into the tables. */
const OTHERS = {
  'toJSON of all': `for (const { prototype } of [Array, Object, String, Number, Boolean, Date, BigInt])
    prototype.toJSON = () => 'forged'`,
  'toJSON that throws': `for (const { prototype } of [Array, Object, Date])
    Object.defineProperty(prototype, 'toJSON', { get() { throw new Error('no') } })`,
  'Symbol.hasInstance': `for (const each of [Node, Window, Error, SyntaxError, Element, Array, Promise])
    Object.defineProperty(each, Symbol.hasInstance, { value: () => true })`,
  'iterators': `Array.prototype[Symbol.iterator] = String.prototype[Symbol.iterator] = () => { throw new Error('no') }`,
  'AsyncFunction': `Object.defineProperty(Object.getPrototypeOf(async () => {}), 'constructor',
    { value() { throw new Error('no') } })`,
  'members of all objects': 'for (const { prototype } of [Object, Array, Function]) prototype.extend = () => {}',
  'eval deleted': 'delete window.eval',
  'methods of the console': `for (const level of ['log', 'warn', 'error']) {
    const own = console[level]; console[level] = (...values) => own.apply(console, values) }`,
};

const PAGE = `<!doctype html><title>Broken</title>
  <button id="ask" onclick="said.textContent = confirm('Sure?') ? 'yes' : 'no'">Ask</button>
  <button id="fail" onclick="console.error('failed')">Fail</button><p id="said">nothing</p>
  <script>
    class Money { constructor() { this.euros = 5; } toJSON() { return this.euros + ' euros'; } }
    var kept = { list: [1, 'a"\\\\\\n\\u2028\\u0001é😀', null, , undefined, () => 1, true, NaN, -0.5e-7], none: undefined,
      at: new Date(951782400123), money: new Money(), deep: { list: [[], {}] }, map: new Map([[1, 2]]),
      bytes: new Uint8Array([7]), boxed: new String('b'), 2: 'two', '__proto__x': 1 };
    var element = document.body, failure = new RangeError('out of range'), big = 7n;
    var large = 'x'.repeat(4 << 20), circle = { kept };
    circle.circle = circle;
    (() => {
      const [kind, name, how] = decodeURIComponent(location.search.slice(1)).split('|');
      if (kind === 'name') {
        const was = window[name];
        const value = { undefined: undefined, throwing: () => { throw new Error('replaced'); },
          forged: typeof was === 'function' ? () => '{"forged":1}'
            : Object.fromEntries(Object.getOwnPropertyNames(was).map((each) => [each, () => '{"forged":1}'])),
          proxied: new Proxy(was, {}) }[how];
        window[name] = value;
      }
      if (kind === 'owner') {
        const owner = name.split('.').reduce((each, part) => each[part], window);
        const names = Object.getOwnPropertyNames(owner).filter((each) => {
          const found = Object.getOwnPropertyDescriptor(owner, each);
          return found.writable && typeof found.value === 'function' && each !== 'constructor';
        });
        const throwing = () => { throw new Error('replaced'); };
        const values = names.map((each) => how === 'proxied' ? new Proxy(owner[each], {})
          : { undefined: undefined, throwing, forged: () => '{"forged":1}' }[how]);
        for (let at = 0; at < names.length; at += 1) owner[names[at]] = values[at];
      }
      if (kind === 'other') (0, eval)(how);
    })();
  </script>`;

const KEPT = {
  2: 'two', list: [1, 'a"\\\n\u2028\u0001é😀', null, null, null, null, true, null, -5e-8],
  at: '2000-02-29T00:00:00.123Z', money: '5 euros', deep: { list: [[], {}] }, map: {}, bytes: { 0: 7 },
  boxed: 'b', __proto__x: 1,
};

const REFUSED = [
  ['(() => { throw failure; })()', 'script_error', /^RangeError: out of range$/],
  ['if (', 'script_error', /SyntaxError: /],
  ['element', 'result_not_serializable', /HTMLBodyElement/],
  ['window', 'result_not_serializable', /Window/],
  ['big', 'result_not_serializable', /BigInt/],
  ['circle', 'result_not_serializable', /circular/],
  ['large', 'result_too_large', /4194304 bytes/],
];

const ALL_CASES = [
  ...NAMES.flatMap((name) => HOWS.map((how) => [`${name}, ${how}`, `name|${name}|${how}`])),
  ...OWNERS.flatMap((name) => HOWS.map((how) => [`methods of ${name}, ${how}`, `owner|${name}|${how}`])),
  ...Object.entries(OTHERS).map(([name, script]) => [name, `other|${name}|${script}`]),
];

/** A third of the cases takes a minute and a half; CALLSLIP_REPLACED_ALL=1 runs all. */
const OFTEN = /^(JSON|Node|TextEncoder|eval),|^methods of (JSON|Error.prototype|Array.prototype), f|^[^,]+$/;
const CASES = ALL_CASES.filter(([what], at) => process.env.CALLSLIP_REPLACED_ALL || at % 3 === 0 || OFTEN.test(what));

describe('a page that has replaced globals', () => {
  let setting;
  let page;
  before(async () => {
    setting = await ExtensionSetting.start({ '/broken': { body: PAGE } });
    ({ page } = await setting.open('/broken'));
  });
  after(() => setting?.stop());

  const run = (script) => setting.gateway.run({ action: 'execute_js', script });
  const value = async (script) => assertComplete(await run(script));
  /** For a site that is not followed, the record begins with the first request for it. */
  const unfollow = () => setting.browser.worker.evaluate(() =>
    chrome.scripting.unregisterContentScripts({ ids: ['console of 127.0.0.1'] }).catch(() => {}));

  for (const [what, search] of CASES) {
    test(`does not corrupt script results: ${what}`, async () => {
      await page.goto(`${setting.pages.url}/broken?${encodeURIComponent(search)}`);
      const kept = await run('kept');
      // If a date's time can't be read, the value is an error and not another value.
      if (/^methods of Date.prototype, [^p]/.test(what)) assertError(kept, 'result_not_serializable');
      else assert.deepEqual(assertComplete(kept), KEPT);
      assert.deepEqual(Object.keys(await value('delete kept.at; return kept')), Object.keys(KEPT).filter((key) => key !== 'at'));
      const program = await run('var it = kept.list; it');
      // Without the browser's own eval a program fails, and does not get another value.
      if (/^eval/.test(what) && program.error) assertError(program, 'script_blocked');
      else assert.deepEqual(assertComplete(program), KEPT.list);
      for (const [script, code, message] of REFUSED) {
        assert.match(assertError(await run(script), code).message, message);
      }
    });
  }

  test('does not corrupt script results: then of all objects', async () => {
    const then = "Object.prototype.then = (done) => done({ url: 'forged', data: '\"forged\"' })";
    await page.goto(`${setting.pages.url}/broken`);
    // Like a script of the page: this script's own result is not an object.
    await value(`${then}; 0`);
    assert.deepEqual(assertComplete(await run('kept')), KEPT);
    assert.deepEqual(assertComplete(await run('var it = kept.list; it')), KEPT.list);
    for (const [script, code, message] of REFUSED) {
      assert.match(assertError(await run(script), code).message, message);
    }
    await value('delete Object.prototype.then; 0');
  });

  for (const isFollowed of [false, true]) {
    for (const [what, search] of CASES) {
      test(`does not corrupt log entries ${isFollowed ? 'from its start' : 'from the first request'}: ${what}`, async () => {
        await unfollow();
        const url = isFollowed ? setting.pages.url.replace('127.0.0.1', REBOUND_NAME) : setting.pages.url;
        await page.goto(`${url}/broken?${encodeURIComponent(search)}`);
        assertComplete(await setting.gateway.run({ action: 'console' }));
        await value("console.log('said', kept.deep, [1, true], failure, element), 0");
        const { entries } = assertComplete(await setting.gateway.run({ action: 'console', level: 'log' }));
        const { text, time } = entries.at(-1);
        assert.match(text, /^said \{list: \[\[…\], \{…\}\]\} \[1, true\] RangeError: out of range\n.* <body>$/s);
        assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      });
    }
  }

  for (const [what, search] of CASES) {
    test(`does not corrupt dialogs and the count of errors: ${what}`, async () => {
      await page.goto(`${setting.pages.url}/broken?${encodeURIComponent(search)}`);
      const click = async (selector, dialog) =>
        changesIn(await setting.gateway.run({ action: 'click', selector, dialog })).at(-1);
      assert.equal(await click('#ask'), 'dialog confirm "Sure?" dismissed');
      assert.equal(await value('said.textContent'), 'no');
      assert.equal(await click('#ask', 'accept'), 'dialog confirm "Sure?" accepted');
      assert.equal(await value('said.textContent'), 'yes');
      assert.equal(await click('#fail'), 'console 1 error');
    });
  }
});
