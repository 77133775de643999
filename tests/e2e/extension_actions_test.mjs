/** The extension's actions in a page, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { REBOUND_NAME } from './support/chromium.js';
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
let page;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway, pages } = setting);
  ({ page } = await setting.open('/'));
});
after(() => setting?.stop());

const perform = (params, fields) => setting.perform(params, fields);
const refused = (params, code) => setting.refused(params, code);
const at = (path) => pages.url + path;
const heard = () => page.evaluate(() => window.heard.splice(0));

describe('secrets', () => {
  const type = (selector) =>
    perform({ action: 'type', selector, text: 'typed' });

  test('the results of type and query omit the values of secret fields', async () => {
    await page.goto(at('/form'));
    const leftOut = { selector: '#secret', value_left_out: true };
    assert.deepEqual(await type('#secret'), leftOut);
    assert.equal(await page.inputValue('#secret'), 'hushtyped');
    // Neither while the page shows the password, nor for a one-time code.
    await page.evaluate(() => {
      document.querySelector('#secret').autocomplete = 'current-password';
      document.querySelector('#secret').type = 'text';
      document.querySelector('#amount').autocomplete = 'section-a one-time-code';
      document.querySelector('#gift').value = '4111';
      document.querySelector('#gift').autocomplete = 'billing cc-number';
    });
    assert.deepEqual(await type('#secret'), leftOut);
    assert.deepEqual(await type('#amount'), { selector: '#amount', value_left_out: true });
    // Nor without that attribute, since the field was seen as a password field before.
    await page.evaluate(() => { document.querySelector('#secret').removeAttribute('autocomplete'); });
    const { elements } = await perform({ action: 'query', selector: '#secret, #amount, #gift' });
    for (const { attributes } of elements) assert.equal('value' in attributes, false);
    assert.deepEqual(await type('#remark'), { selector: '#remark', value: 'typed' });
  });
});

describe('history', () => {
  test('back, forward and reload complete once the page has loaded', async () => {
    await page.goto(at('/'));
    await page.goto(at('/second'));
    const first = { url: at('/'), title: 'Test page' };
    assert.deepEqual(await perform({ action: 'back' }), first);
    const second = { url: at('/second'), title: 'Second page' };
    assert.deepEqual(await perform({ action: 'forward' }), second);
    await page.evaluate(() => { window.stale = true; });
    assert.deepEqual(await perform({ action: 'reload' }), second);
    assert.equal(await page.evaluate(() => window.stale), undefined);
  });

  test('back and forward complete within one page too', async () => {
    await page.goto(at('/'));
    await page.evaluate(() => history.pushState({}, '', '/?step=2'));
    assert.equal((await perform({ action: 'back' })).url, at('/'));
    assert.equal((await perform({ action: 'forward' })).url, at('/?step=2'));
  });

  test('back and forward reach pages that no person has interacted with', async () => {
    const opened = await perform({ action: 'open_tab', url: at('/') });
    const go = async (action, more) =>
      (await perform({ action, tab_id: opened.tab_id, ...more })).url.replace(pages.url, '');
    const run = (script) => perform({ action: 'execute_js', script, tab_id: opened.tab_id });
    assert.equal(await go('navigate', { url: at('/second') }), '/second');
    assert.equal(await go('back'), '/');
    await perform({ action: 'click', selector: '#link', tab_id: opened.tab_id });
    assert.equal(await go('back'), '/');
    assert.equal(await go('forward'), '/second');
    // Pages of different sites can't read each other's addresses.
    const elsewhere = at('/form').replace('127.0.0.1', REBOUND_NAME);
    assert.equal(await go('navigate', { url: elsewhere }), elsewhere);
    assert.equal(await go('back'), '/second');
    assert.equal(await go('forward'), elsewhere);
    await go('back');
    await run("history.pushState({}, '', '/second?step=2')");
    assert.equal(await go('back'), '/second');
    assert.equal(await go('forward'), '/second?step=2');
    await go('navigate', { url: at('/paper.pdf') });
    assert.equal(await go('back'), '/second?step=2');
    await run('History.prototype.go = () => {}; Object.defineProperty(history, "length", { value: 1 })');
    assert.equal(await go('back'), '/second');
    await perform({ action: 'close_tab', tab_id: opened.tab_id });
  });

  test('forward without a next page is refused', async () => {
    const { page: fresh } = await setting.open('/');
    try {
      const error = await refused({ action: 'forward' }, 'no_history');
      assert.equal(error.may_have_executed, false);
    } finally {
      await fresh.close();
    }
  });
});

describe('a form', () => {
  beforeEach(() => page.goto(at('/form')));

  test('select chooses by value or by label and dispatches events', async () => {
    const byValue = await perform({ action: 'select', selector: '#fruit', value: 'p' });
    assert.deepEqual(byValue, { selector: '#fruit', values: ['p'] });
    assert.equal(await page.inputValue('#fruit'), 'p');
    assert.deepEqual(await heard(), ['focusin fruit', 'input fruit', 'change fruit']);
    const byLabel = await perform({ action: 'select', selector: '#fruit', label: 'Apple' });
    assert.deepEqual(byLabel.values, ['a']);
  });

  test('select chooses several options or none', async () => {
    const choice = { action: 'select', selector: '#toppings' };
    assert.deepEqual((await perform({ ...choice, values: ['3', '1'] })).values, ['1', '3']);
    assert.deepEqual((await perform({ ...choice, values: [] })).values, []);
  });

  test('select lists the available options if none matches', async () => {
    const select = { action: 'select', selector: '#fruit' };
    const error = await refused({ ...select, label: 'Plum' }, 'option_not_found');
    assert.match(error.hint, /"Apple", "Pear"/);
    assert.equal(error.may_have_executed, false);
    await refused({ ...select, value: 'x' }, 'option_not_found');
    await refused({ ...select, values: ['a', 'p'] }, 'invalid_params');
    await refused({ ...select, selector: '#amount', value: 'a' }, 'invalid_params');
    assert.equal(await page.inputValue('#fruit'), 'a');
  });

  test('press dispatches the events of the key and inserts its character', async () => {
    await perform({ action: 'press', key: 'x', selector: '#amount' });
    assert.equal(await page.inputValue('#amount'), 'x');
    const events = ['focusin amount', 'keydown x', 'keypress x', 'input amount', 'keyup x'];
    assert.deepEqual(await heard(), events);
    assert.equal((await perform({ action: 'press', key: 'y' })).key, 'y');
    assert.equal(await page.inputValue('#amount'), 'xy');
  });

  test('press edits text with Backspace, Control+A, Delete and Enter', async () => {
    const remark = { action: 'press', selector: '#remark' };
    for (const key of ['a', 'b', 'Backspace', 'Enter', 'c']) await perform({ ...remark, key });
    assert.equal(await page.inputValue('#remark'), 'a\nc');
    for (const key of ['Control+A', 'Delete']) await perform({ ...remark, key });
    assert.equal(await page.inputValue('#remark'), '');
  });

  test('press moves the focus, ticks checkboxes and respects preventDefault', async () => {
    await perform({ action: 'press', key: 'Tab', selector: '#secret' });
    assert.equal(await page.evaluate(() => document.activeElement.id), 'gift');
    await perform({ action: 'press', key: 'Space' });
    assert.equal(await page.isChecked('#gift'), true);
    await perform({ action: 'press', key: 'Shift+Tab' });
    assert.equal(await page.evaluate(() => document.activeElement.id), 'secret');
    await page.evaluate(() => {
      document.addEventListener('keydown', (event) => event.preventDefault());
    });
    await perform({ action: 'press', key: 'z', selector: '#amount' });
    assert.equal(await page.inputValue('#amount'), '');
  });

  test('press Enter submits the form', async () => {
    const arrived = page.waitForURL('**/second?*');
    const submitted = await gateway.run({ action: 'press', key: 'Enter', selector: '#amount' });
    assert.equal(assertComplete(submitted).key, 'Enter');
    await arrived;
  });

  test('hover dispatches mouse events', async () => {
    const hovered = await perform({ action: 'hover', selector: '#menu' });
    assert.deepEqual(hovered, { selector: '#menu', tag: 'div', text: 'Menu' });
    const events = ['pointerover', 'mouseover', 'mouseenter', 'mousemove'];
    assert.deepEqual(await heard(), events);
  });

  test('query finds elements by selector and describes each of them', async () => {
    const { count, elements } = await perform({ action: 'query', selector: 'input' });
    assert.equal(count, 3);
    const [amount, secret, gift] = elements;
    assert.equal(amount.selector, '#amount');
    assert.equal(amount.tag, 'input');
    assert.equal(amount.visible, true);
    assert.ok(amount.bounds.width > 0 && amount.bounds.height > 0);
    assert.deepEqual(amount.attributes, { id: 'amount', name: 'amount', value: '' });
    assert.equal('value' in secret.attributes, false);
    assert.equal(gift.attributes.type, 'checkbox');
  });

  test('query finds the innermost elements by text that can span nodes', async () => {
    const texts = [
      ['place the order', ['#send']],
      ['Tomorrow', ['html > body > p:nth-of-type(1)']],
      ['delivered', ['html > body > p:nth-of-type(1)', 'html > body > p:nth-of-type(2)']],
      ['document.addEventListener', []],
    ];
    for (const [text, selectors] of texts) {
      const { count, elements } = await perform({ action: 'query', text });
      assert.deepEqual(elements.map(({ selector }) => selector), selectors, text);
      assert.equal(count, selectors.length);
      for (const { selector } of elements) assert.equal(await page.locator(selector).count(), 1);
    }
    const both = await perform({ action: 'query', selector: '.hint', text: 'never' });
    assert.equal(both.count, 1);
    assert.equal(both.elements[0].visible, false);
  });

  test('query returns up to its limit of elements and counts all matches', async () => {
    const { count, elements } = await perform({ action: 'query', selector: 'option', limit: 2 });
    assert.equal(count, 6);
    assert.equal(elements.length, 2);
    const none = await perform({ action: 'query', selector: 'video' });
    assert.deepEqual(none, { count: 0, elements: [] });
  });
});

describe('scroll', () => {
  beforeEach(() => page.goto(at('/tall')));

  test('moves to a position, by a distance, or to an element', async () => {
    const scroll = { action: 'scroll' };
    assert.deepEqual(await perform({ ...scroll, y: 300 }), { x: 0, y: 300 });
    assert.deepEqual(await perform({ ...scroll, dy: 50 }), { x: 0, y: 350 });
    assert.deepEqual(await perform({ ...scroll, dx: 0, dy: -100 }), { x: 0, y: 250 });
    assert.deepEqual(await perform({ ...scroll, x: 0, y: 0 }), { x: 0, y: 0 });
    const { y } = await perform({ ...scroll, selector: '#third' });
    assert.equal(y, await page.evaluate(() => scrollY));
    assert.ok(y > 500);
  });
});

describe('wait_for', () => {
  beforeEach(() => page.goto(at('/')));

  const later = (change) => page.evaluate(change);
  const waiting = (params, fields) => gateway.send({ action: 'wait_for', ...params }, fields);
  const matched = async (command) => {
    const data = assertComplete((await gateway.finalOf(command)).body);
    assert.equal(data.matched, true);
    assert.ok(Number.isInteger(data.waited_ms));
  };
  /** The page has registered the wait once the `pending` report comes. */
  const noted = (command) => gateway.post(command, 'pending');

  test('completes at once if the condition already holds', async () => {
    await matched(waiting({ selector: '#go' }));
    await matched(waiting({ text: 'hello from' }));
    await matched(waiting({ selector: '#nowhere', state: 'hidden' }));
  });

  test('notices elements that are added, shown and removed', async () => {
    const comes = waiting({ selector: '#new', state: 'attached' });
    const pending = await noted(comes);
    assert.deepEqual(pending.body.progress, { message: 'Waiting until #new is attached.' });
    await later(() => document.body.insertAdjacentHTML('beforeend', '<p id="new" hidden>New</p>'));
    await matched(comes);
    const shown = waiting({ text: 'New' });
    await noted(shown);
    await later(() => { document.querySelector('#new').hidden = false; });
    await matched(shown);
    const goes = waiting({ selector: '#new', state: 'hidden' });
    await noted(goes);
    await later(() => document.querySelector('#new').remove());
    await matched(goes);
  });

  test('notices an element that only a style sheet makes visible', async () => {
    await later(() => {
      document.body.insertAdjacentHTML('beforeend', '<style>#veiled { display: none }</style>');
      document.body.insertAdjacentHTML('beforeend', '<p id="veiled">Veiled</p>');
    });
    const shown = waiting({ selector: '#veiled' });
    await noted(shown);
    await later(() => { document.styleSheets[document.styleSheets.length - 1].disabled = true; });
    await matched(shown);
  });

  test('continues in the next page', async () => {
    const command = waiting({ text: 'You have arrived' });
    await noted(command);
    await page.goto(at('/second'));
    await matched(command);
    assert.equal((await gateway.finalOf(command)).body.url, at('/second'));
  });

  test('times out without having executed anything', async () => {
    const command = waiting({ selector: '#never' }, { timeout_ms: 300 });
    const { body } = await gateway.finalOf(command);
    assert.equal(body.status, 'timeout');
    assert.equal(body.error.may_have_executed, false);
  });

  test('stops when it is cancelled, and frees its tab', async () => {
    const command = waiting({ selector: '#never' }, { timeout_ms: 60_000 });
    await noted(command);
    const next = gateway.send({ action: 'get_page' });
    gateway.cancel(command);
    assertComplete((await gateway.finalOf(next)).body);
    assert.deepEqual(gateway.postsOf(command).map(({ body }) => body.status), ['pending']);
  });

  test('refuses invalid conditions', async () => {
    await refused({ action: 'wait_for' }, 'invalid_params');
    await refused({ action: 'wait_for', selector: '##' }, 'invalid_params');
    await refused({ action: 'wait_for', text: 'a', state: 'gone' }, 'invalid_params');
  });
});

describe('a page that looks for the extension', () => {
  /** All signs of the `console` record and of stand-ins that a script of the page could see. */
  const signs = (where) => where.evaluate(() => ({
    known: 'callslip.console' in window,
    symbols: Object.getOwnPropertySymbols(window).map(String),
    functions: [alert, confirm, prompt, open, console.error, console.log].map((each) => Function.prototype.toString.call(each)),
    answers: ['callslip-order', 'callslip-told', 'callslip-here'].filter((type) =>
      !document.dispatchEvent(new CustomEvent(type, { cancelable: true, detail: '{}' }))),
  }));
  const NO_SIGNS = {
    known: false,
    symbols: [],
    functions: ['alert', 'confirm', 'prompt', 'open', 'error', 'log'].map((name) => `function ${name}() { [native code] }`),
    answers: [],
  };
  const without = (where) => where.waitForFunction(() => String(alert) === 'function alert() { [native code] }');

  test('finds no trace of console before its first use or on other sites', async () => {
    await page.goto(at('/'));
    await without(page);
    assert.deepEqual(await signs(page), NO_SIGNS);
    const first = await perform({ action: 'console' });
    assert.deepEqual(first.entries, []);
    assert.match(first.hint, /reload/i);
    assert.equal((await signs(page)).known, true);
    const { hint } = await perform({ action: 'console' });
    assert.equal(hint, undefined);

    await page.goto(at('/second').replace('127.0.0.1', REBOUND_NAME));
    await without(page);
    assert.deepEqual(await signs(page), NO_SIGNS);
  });

  test('finds no trace of a command in another tab or of a finished one', async () => {
    const elsewhere = (path) => at(path).replace('127.0.0.1', REBOUND_NAME);
    await page.goto(elsewhere('/'));
    const tabId = await setting.browser.tabIdOf(page);
    const before = await setting.browser.open(elsewhere('/second'));
    const opened = await setting.browser.context.newPage();
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED, tab_id: tabId });
    await page.waitForFunction(() => 'release' in window);
    for (const other of [before, opened]) {
      if (other === opened) await other.goto(elsewhere('/second'));
      await without(other);
      assert.deepEqual(await signs(other), NO_SIGNS);
    }
    await release(page, 'done');
    assertComplete((await gateway.finalOf(command)).body);
    await without(page);
    assert.deepEqual(await signs(page), NO_SIGNS);
    for (const other of [before, opened]) await other.close();
    await page.bringToFront();
  });
});

describe('console', () => {
  before(async () => {
    await page.goto(at('/'));
    await perform({ action: 'console' });
  });

  test('returns the log entries and uncaught errors of the page', async () => {
    const gone = page.waitForEvent('pageerror');
    await page.goto(at('/talkative'));
    await gone;
    const find = async () => (await perform({ action: 'console' })).entries;
    let entries = await find();
    while (entries.length < 5) entries = await find();
    assert.deepEqual(entries.map(({ level }) => level).slice(0, 3), ['log', 'warn', 'debug']);
    assert.equal(entries[0].text, 'hello {a: 1, b: [true, null]} 7n');
    assert.match(entries[1].text, /^Error: a warning\n/);
    assert.equal(entries[2].text, '{trap: (…)}');
    assert.equal(await page.evaluate(() => window.trapped), undefined);
    const texts = entries.slice(3).map(({ text }) => text);
    assert.ok(texts.some((text) => text.startsWith('Uncaught (in promise) TypeError')), texts);
    assert.ok(texts.some((text) => text.startsWith('Uncaught RangeError: not caught')), texts);
    assert.match(entries.find(({ source }) => source).source, /\/talkative:\d+:\d+$/);
  });

  test('filters by level and keeps the latest entries', async () => {
    await page.goto(at('/'));
    await page.evaluate(() => {
      for (let number = 0; number < 300; number += 1) console.info(`entry ${number}`);
      console.error('one error');
    });
    const errors = await perform({ action: 'console', level: 'error' });
    assert.deepEqual(errors.entries.map(({ text }) => text), ['one error']);
    const { entries, truncated } = await perform({ action: 'console', limit: 200 });
    assert.equal(entries.length, 200);
    assert.equal(entries[0].text, 'entry 101');
    assert.equal(truncated, true);
  });

  test('returns the entries of frames with their addresses', async () => {
    await page.goto(at('/'));
    await page.evaluate(async () => {
      for (const [tag, place] of [['src', '/second?framed'], ['srcdoc', '<p>Framed</p>']]) {
        const frame = document.createElement('iframe');
        frame[tag] = place;
        document.body.append(frame);
        await new Promise((resolve) => { frame.onload = resolve; });
      }
    });
    await perform({ action: 'console' });
    await page.evaluate(() => {
      frames[0].console.log('from a frame');
      console.log('from the page');
      frames[1].console.log('from srcdoc');
    });
    const { entries } = await perform({ action: 'console' });
    const said = entries.map(({ text, frame }) => [text, frame]);
    assert.deepEqual(said.slice(-3).sort(), [
      ['from a frame', at('/second?framed')], ['from srcdoc', 'about:srcdoc'],
      ['from the page', undefined],
    ]);
  });

  test('works where the page forbids scripts', async () => {
    await page.goto(at('/strict'));
    await page.evaluate(() => console.log('still heard'));
    const { entries } = await perform({ action: 'console' });
    assert.deepEqual(entries.map(({ text }) => text), ['still heard']);
  });
});

describe('network', () => {
  test('returns the requests of the tab and their outcomes', async () => {
    await page.goto(at('/'));
    await page.evaluate(async () => {
      await fetch('/count?id=network', { method: 'POST' });
      await fetch('/missing');
      await fetch('http://127.0.0.1:1/').catch(() => {});
    });
    const find = (part) => perform({ action: 'network', url_contains: part });
    const counted = (await find('/count?id=network')).entries;
    assert.equal(counted.length, 1);
    const { id, time, duration_ms: duration, ...rest } = counted[0];
    assert.match(id, /^\d+$/);
    assert.ok(Date.parse(time) > 0 && duration >= 0);
    assert.deepEqual(rest, {
      method: 'POST',
      type: 'xmlhttprequest',
      url: at('/count?id=network'),
      status: 200,
      from_cache: false,
    });
    assert.equal((await find('/missing')).entries[0].status, 404);
    const [refusedOne] = (await find('127.0.0.1:1/')).entries;
    assert.match(refusedOne.error, /^net::ERR_/);
    const all = await perform({ action: 'network' });
    assert.ok(all.entries.some(({ type, url }) => type === 'main_frame' && url === at('/')));
    assert.ok(Date.parse(all.observed_since) > 0);
  });

  test('returns the details of one request and fetches its response again', async () => {
    await page.goto(at('/'));
    await page.evaluate(async () => {
      await fetch('/count?id=again', { headers: { 'X-Token': 'hush', 'X-Kind': 'plain' } });
      await fetch('/count?id=post', { method: 'POST', body: JSON.stringify({ a: 1, password: 'hush' }) });
    });
    const idOf = async (part) => (await perform({ action: 'network', url_contains: part })).entries.at(-1).id;
    const entry = await perform({ action: 'network', text: await idOf('id=again') });
    assert.equal(entry.request_headers['x-kind'], 'plain');
    assert.equal(entry.request_headers['x-token'], '(value omitted)');
    assert.ok(entry.response_headers.date);
    assert.equal(entry.response.fetched_again, true);
    assert.equal(pages.counts.get('again'), 2);
    const post = await perform({ action: 'network', text: await idOf('id=post') });
    assert.equal(post.request_body, '{"a":1,"password":"(value omitted)"}');
    assert.equal('response' in post, false);
    const { entries } = await perform({ action: 'network' });
    const { id } = entries.findLast(({ type }) => type === 'main_frame');
    const document = await perform({ action: 'network', text: id });
    assert.equal(document.response.fetched_again, false);
    await refused({ action: 'network', text: 'x1' }, 'invalid_params');
  });

  test('lists a request without a response, with neither status nor error', async () => {
    await page.goto(at('/'));
    await page.evaluate(() => { fetch('/never?here').catch(() => {}); });
    // The browser reports it to the extension a moment later.
    let entries = [];
    while (entries.length === 0) {
      ({ entries } = await perform({ action: 'network', url_contains: '/never?here' }));
    }
    assert.equal(entries.length, 1);
    assert.equal('status' in entries[0] || 'error' in entries[0], false);
  });
});

describe('a page that forbids the evaluation of strings', () => {
  for (const path of ['/strict', '/trusted-types']) {
    test(`blocks execute_js but no other action (${path})`, async () => {
      await page.goto(at(path));
      await page.evaluate(() => {
        const form = document.createElement('form');
        const input = Object.assign(document.createElement('input'), { id: 'word' });
        const select = Object.assign(document.createElement('select'), { id: 'pick' });
        select.append(new Option('One', '1'), new Option('Two', '2'));
        const button = Object.assign(document.createElement('button'), { type: 'button', id: 'b' });
        button.textContent = 'Press me';
        form.append(input, select, button);
        document.body.append(form);
      });
      await refused({ action: 'execute_js', script: '1 + 1' }, 'script_blocked');
      await perform({ action: 'type', selector: '#word', text: 'written' });
      await perform({ action: 'press', selector: '#word', key: '!' });
      assert.equal(await page.inputValue('#word'), 'written!');
      const picked = await perform({ action: 'select', selector: '#pick', label: 'Two' });
      assert.deepEqual(picked.values, ['2']);
      for (const action of ['click', 'hover', 'scroll', 'wait_for', 'query', 'screenshot']) {
        await perform({ action, selector: '#b' });
      }
      await perform({ action: 'get_page' });
      await perform({ action: 'reload' });
    });
  }
});

describe('refusals', () => {
  before(() => page.goto(at('/')));

  const wrong = [
    [{ action: 'select', selector: '#name' }, /^value:/],
    [{ action: 'select', selector: '#name', value: 'a', label: 'A' }, /^label:/],
    [{ action: 'select', selector: '#name', values: [1] }, /^values:/],
    [{ action: 'scroll' }, /^selector:/],
    [{ action: 'scroll', x: 'far' }, /^x:/],
    [{ action: 'scroll', dx: 'far' }, /^dx:/],
    [{ action: 'scroll', dy: 1.5 }, /^dy:/],
    [{ action: 'scroll', selector: '##' }, /^selector:/],
    [{ action: 'press' }, /^key:/],
    [{ action: 'press', key: 'Return' }, /^key:/],
    [{ action: 'hover' }, /^selector:/],
    [{ action: 'query' }, /^selector:/],
    [{ action: 'query', text: 'a', limit: 101 }, /^limit:/],
    [{ action: 'query', selector: '##' }, /^selector:/],
    [{ action: 'screenshot', full_page: 'yes' }, /^full_page:/],
    [{ action: 'screenshot', full_page: true, selector: '#go' }, /^selector:/],
    [{ action: 'open_tab' }, /^url:/],
    [{ action: 'open_tab', url: 'file:///etc/hostname' }, /^url:/],
    [{ action: 'close_tab' }, /^tab_id:/],
    [{ action: 'console', level: 'loud' }, /^level:/],
    [{ action: 'network', limit: 0 }, /^limit:/],
  ];
  for (const [params, message] of wrong) {
    test(`${JSON.stringify(params)} is invalid`, async () => {
      const error = await refused(params, 'invalid_params');
      assert.match(error.message, message);
      assert.equal(error.may_have_executed, false);
    });
  }

  for (const action of ['hover', 'scroll', 'select', 'press', 'screenshot']) {
    test(`${action} is refused if its element does not exist`, async () => {
      const params = { action, selector: '#nowhere', value: 'a', key: 'a' };
      const error = await refused(params, 'element_not_found');
      assert.match(error.hint, /query/);
    });
  }
});

describe('navigation during a command', () => {
  beforeEach(() => page.goto(at('/')));

  test('a script that navigates to another page gets page_navigated', async () => {
    const script = 'location.href = "/second"; new Promise(() => {})';
    const arrived = page.waitForURL('**/second');
    const error = await refused({ action: 'execute_js', script }, 'page_navigated');
    assert.equal(error.may_have_executed, true);
    await arrived;
  });

  test('a click that navigates to another page completes', async () => {
    const arrived = page.waitForURL('**/second');
    const [clicked] = gateway.sendTogether([{ params: { action: 'click', selector: '#link' } }]);
    assertComplete((await gateway.finalOf(clicked)).body);
    await arrived;
  });

  test('a cancelled navigation frees the tab', async () => {
    const command = gateway.send({ action: 'navigate', url: at('/never') });
    const { body } = await gateway.post(command, 'pending');
    assert.deepEqual(body.progress, { message: 'The page is loading.' });
    gateway.cancel(command);
    assert.equal((await perform({ action: 'navigate', url: at('/second') })).title, 'Second page');
    assert.equal(gateway.postsOf(command).length, 1);
  });
});

describe('surrogate pairs', () => {
  const SMILE = '\u{1f642}';

  /** Shows a page with this HTML. */
  async function write(html) {
    await page.goto(at('/second'));
    await page.evaluate((text) => { document.documentElement.innerHTML = text; }, html);
  }

  test('an unpaired surrogate becomes U+FFFD in results, errors and log entries', async () => {
    await page.goto(at('/second'));
    const run = (script) => ({ action: 'execute_js', script });
    await perform({ action: 'console' });
    assert.equal(await perform(run(String.raw`console.log('said \ud83d'), 'a\ud83d'`)), 'a\ufffd');
    assert.deepEqual(await perform(run(String.raw`({ ['\ud83d']: ['\ude42'] })`)), { '\ufffd': ['\ufffd'] });
    const { message } = await refused(run(String.raw`throw new Error('\ude42 bad')`), 'script_error');
    assert.equal(message, 'Error: \ufffd bad');
    const { entries } = await perform({ action: 'console' });
    assert.equal(entries.at(-1).text, 'said \ufffd');
  });

  test('truncated texts do not end with half of a pair', async () => {
    const long = (before) => 'x'.repeat(before) + SMILE.repeat(20);
    await write(`<title>${long(199)}</title><button title="${long(199)}">${long(199)}</button><p>${long(99_799)}</p>`);
    await page.evaluate(() => { document.querySelector('p').style.wordBreak = 'break-all'; });
    const { text, truncated } = await perform({ action: 'get_page' });
    assert.deepEqual([truncated, text.length > 99_900, text.includes('\ufffd')], [true, true, false]);
    const { elements } = await perform({ action: 'query', selector: 'button' });
    assert.equal(elements[0].text, 'x'.repeat(199));
    assert.equal(elements[0].attributes.title, 'x'.repeat(199));
    const { page: outline } = await perform({ action: 'page' });
    assert.equal(outline.includes('\ufffd'), false);
    assert.ok(outline.includes(`${'x'.repeat(199)}…`));
    assert.equal((await perform({ action: 'click', selector: 'button' })).text, 'x'.repeat(199));
    const { tabs } = await perform({ action: 'list_tabs' });
    assert.ok(tabs.some(({ title }) => title === 'x'.repeat(199)));
    await gateway.status(({ tabs: open }) => open.some(({ title }) => title === 'x'.repeat(199)));
  });

  test('truncated log entries and dialog texts do not end with half of a pair', async () => {
    await page.goto(at('/second'));
    await perform({ action: 'console' });
    const script = `console.log('x'.repeat(1999) + '${SMILE}'); alert('x'.repeat(199) + '${SMILE}')`;
    const { result } = await gateway.run({ action: 'execute_js', script });
    assert.ok(result.page.includes(`dialog alert "${'x'.repeat(199)}"`), result.page);
    const { entries } = await perform({ action: 'console' });
    assert.equal(entries.at(-1).text, 'x'.repeat(1999));
  });
});

describe('a result that the gateway refuses', () => {
  test('is replaced by the error result_refused', async () => {
    const command = gateway.send({ action: 'execute_js', script: '1' });
    gateway.answer(command, 'complete', { code: 400, body: { error: 'too_many_values' } });
    const { body } = await gateway.post(command, 'error');
    assert.equal(body.error.code, 'result_refused');
    assert.match(body.error.message, /answered 400: .*too_many_values/);
    assert.equal(body.error.may_have_executed, true);
  });
});

describe('endurance', () => {
  test('200 commands in a row are each executed once and in order', async () => {
    await page.goto(at('/'));
    await page.evaluate(() => { window.runs = []; });
    for (let number = 0; number < 200; number += 1) {
      const script = `runs.push(${number}), runs.length`;
      assert.equal(await perform({ action: 'execute_js', script }), number + 1);
    }
    const runs = await page.evaluate(() => window.runs);
    assert.deepEqual(runs, Array.from({ length: 200 }, (_, number) => number));
  });
});
