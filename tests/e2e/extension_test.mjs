/** The extension in a real Chromium, against a fake gateway. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  assertComplete,
  assertError,
  ExtensionSetting,
  release,
  UNTIL_RELEASED,
} from './support/extension_setting.js';
import { FakeGateway } from './support/fake_gateway.js';

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

describe('polling', () => {
  test('requests work for the browser with the worker id', async () => {
    // The first poll finds out whether there is a gateway.
    assert.equal(gateway.polls[0].wait, '0');
    const poll = await gateway.pollFor({ wait: '5' });
    assert.equal(poll.target, 'browser');
    assert.match(poll.worker, /^[0-9a-f-]{36}$/);
    const kept = await browser.worker.evaluate(() => chrome.storage.local.get('workerId'));
    assert.equal(poll.worker, kept.workerId);
  });

  test('moves to another gateway as soon as the setting changes', async () => {
    const other = await FakeGateway.start();
    const setServerUrl = (url) => chrome.storage.local.set({ serverUrl: url });
    try {
      const arrived = other.nextPoll();
      await browser.worker.evaluate(setServerUrl, other.url);
      await arrived;
    } finally {
      const back = gateway.nextPoll();
      await browser.worker.evaluate(setServerUrl, gateway.url);
      await back;
      await other.down();
    }
  });
});

describe('actions', () => {
  let page;
  let tabId;

  before(async () => ({ page, tabId } = await open('/')));
  after(() => page?.close());
  afterEach(() => page.goto(`${pages.url}/`));

  test('a report contains the ids of its command, the tab and the URL', async () => {
    const command = gateway.send({ action: 'execute_js', script: 'document.title' });
    const { body: { work, ...body }, headers } = await gateway.finalOf(command);
    assert.deepEqual(Object.keys(work), ['duration_ms', 'ended_ms_ago']);
    assert.deepEqual(body, {
      id: command.id,
      correlation_id: command.correlation_id,
      status: 'complete',
      result: { success: true, data: 'Test page' },
      tab_id: tabId,
      url: `${pages.url}/`,
    });
    assert.equal(headers['content-type'], 'application/json');
  });

  const scripts = [
    ['an expression', '6 * 7', 42],
    ['an expression with a semicolon and a comment', 'document.title; // the title', 'Test page'],
    ['an object literal', '{a: [1, null, "ü"]}', { a: [1, null, 'ü'] }],
    ['statements', 'const a = 20; const b = 22; a + b', 42],
    ['a function body', 'const a = 41; return a + 1', 42],
    ['a promise', 'Promise.resolve("later")', 'later'],
    ['a body that awaits', 'const answer = await fetch("/second"); return answer.status', 200],
    ['undefined', 'undefined', null],
    ['a value that only the page has', 'heard.length', 0],
  ];
  for (const [what, script, value] of scripts) {
    test(`execute_js evaluates ${what}`, async () => {
      assert.deepEqual(assertComplete(await gateway.run({ action: 'execute_js', script })), value);
    });
  }

  const failures = [
    ['a thrown error', 'throw new TypeError("no such thing")', 'script_error', /no such thing/],
    ['a rejected promise', 'Promise.reject(new Error("refused"))', 'script_error', /refused/],
    ['a script that does not parse', 'if (', 'script_error', /SyntaxError/],
    ['a script that throws a SyntaxError', 'JSON.parse("{")', 'script_error', /JSON/],
    ['a cycle', 'const a = {}; a.a = a; a', 'result_not_serializable', /circular/],
    ['a function', '() => 1', 'result_not_serializable', /function/],
    ['an element', 'document.body', 'result_not_serializable', /HTMLBodyElement/],
    ['a result beyond 4 MiB', '"é".repeat(2097152)', 'result_too_large', /4194306 bytes/],
  ];
  for (const [what, script, code, message] of failures) {
    test(`execute_js reports ${what} as ${code}`, async () => {
      const error = assertError(await gateway.run({ action: 'execute_js', script }), code);
      assert.match(error.message, message);
    });
  }

  test('execute_js runs no part of a script twice', async () => {
    const script = 'window.runs = (window.runs ?? 0) + 1; JSON.parse("{")';
    assertError(await gateway.run({ action: 'execute_js', script }), 'script_error');
    assert.equal(await page.evaluate(() => window.runs), 1);
  });

  for (const path of ['/strict', '/trusted-types']) {
    test(`a page that forbids eval (${path}) blocks scripts and nothing else`, async () => {
      await page.goto(pages.url + path);
      const report = await gateway.run({ action: 'execute_js', script: '1 + 1' });
      const error = assertError(report, 'script_blocked');
      assert.match(error.hint, /get_page/);
      assert.equal(error.may_have_executed, false);
      assertComplete(await gateway.run({ action: 'get_page' }));
    });
  }

  test('navigate answers once the page has loaded', async () => {
    const url = `${pages.url}/second`;
    const report = await gateway.run({ action: 'navigate', url });
    assert.deepEqual(assertComplete(report), { url, title: 'Second page' });
    assert.equal(report.url, url);
    const read = assertComplete(await gateway.run({ action: 'get_page' }));
    assert.deepEqual(read, { title: 'Second page', url, text: 'You have arrived.' });
  });

  test('navigate to a fragment of the same page completes', async () => {
    const url = `${pages.url}/#below`;
    assert.equal(assertComplete(await gateway.run({ action: 'navigate', url })).url, url);
  });

  test('navigate to about:blank works, and the blank page is restricted', async () => {
    const report = await gateway.run({ action: 'navigate', url: 'about:blank' });
    assert.equal(assertComplete(report).url, 'about:blank');
    assertError(await gateway.run({ action: 'get_page' }), 'restricted_page');
  });

  test('navigate reports an address that does not respond', async () => {
    const url = 'http://127.0.0.1:1/';
    const report = await gateway.run({ action: 'navigate', url });
    assert.match(assertError(report, 'execution_failed').message, /could not be loaded/);
  });

  test('get_page reports that it truncated the text', async () => {
    await page.goto(`${pages.url}/long`);
    const { text, truncated } = assertComplete(await gateway.run({ action: 'get_page' }));
    assert.equal(text.length, 100_000);
    assert.equal(truncated, true);
  });

  test('click scrolls to the element and sends mouse events', async () => {
    const report = await gateway.run({ action: 'click', selector: '#below' });
    const { selector, tag, text } = assertComplete(report);
    assert.deepEqual([selector, tag, text], ['#below', 'button', 'Below the fold']);
    const heard = await page.evaluate(() => window.heard);
    assert.deepEqual(heard, ['mousedown below', 'mouseup below', 'click below']);
    assert.ok(await page.evaluate(() => scrollY > 0));
  });

  test('click follows a link', async () => {
    const arrived = page.waitForURL('**/second');
    assertComplete(await gateway.run({ action: 'click', selector: '#link' }));
    await arrived;
  });

  test('click refuses a disabled element', async () => {
    const report = await gateway.run({ action: 'click', selector: '#off' });
    assert.match(assertError(report, 'element_disabled').message, /disabled/);
  });

  test('type appends text, or replaces it if clear is set', async () => {
    const type = { action: 'type', selector: '#notes' };
    const report = await gateway.run({ ...type, text: 'first' });
    assert.equal(assertComplete(report).value, 'first');
    const appended = await gateway.run({ ...type, text: ' second' });
    assert.equal(assertComplete(appended).value, 'first second');
    const replaced = await gateway.run({ ...type, text: 'third', clear: true });
    assert.equal(assertComplete(replaced).value, 'third');
  });

  test('type is noticed by a page that watches the value property', async () => {
    const params = { action: 'type', selector: '#name', text: 'ab', clear: true };
    assertComplete(await gateway.run(params));
    const heard = await page.evaluate(() => window.heard);
    assert.deepEqual(heard, ['noticed a', 'input name', 'noticed ab', 'input name']);
  });

  test('type works in an editable element', async () => {
    const type = { action: 'type', selector: '#editor' };
    const appended = await gateway.run({ ...type, text: ' and more' });
    assert.equal(assertComplete(appended).value, 'draft and more');
    const replaced = await gateway.run({ ...type, text: 'new', clear: true });
    assert.equal(assertComplete(replaced).value, 'new');
    const emptied = await gateway.run({ ...type, text: '', clear: true });
    assert.equal(assertComplete(emptied).value, '');
  });

  const refusals = [
    [{ action: 'execute_js' }, 'invalid_params', /^script:/],
    [{ action: 'execute_js', script: '1', tab_id: 'first' }, 'invalid_params', /^tab_id:/],
    [{ action: 'navigate', url: 'file:///etc/hostname' }, 'invalid_params', /^url:/],
    [{ action: 'click', selector: '' }, 'invalid_params', /^selector:/],
    [{ action: 'click', selector: '##' }, 'invalid_params', /^selector:/],
    [{ action: 'click', selector: '#nowhere' }, 'element_not_found', /#nowhere/],
    [{ action: 'type', selector: '#name' }, 'invalid_params', /^text:/],
    [{ action: 'type', selector: '#plain', text: 'a' }, 'not_editable', /#plain/],
    [{ action: 'type', selector: '#nowhere', text: 'a' }, 'element_not_found', /#nowhere/],
    [{ action: 'dance' }, 'unknown_action', /"dance"/],
    [{ action: 'toString' }, 'unknown_action', /"toString"/],
    [{}, 'unknown_action', /null/],
  ];
  for (const [params, code, message] of refusals) {
    test(`${JSON.stringify(params)} is refused with ${code}`, async () => {
      const error = assertError(await gateway.run(params), code);
      assert.match(error.message, message);
      assert.equal(error.may_have_executed, false);
    });
  }

  test('an internal page of the browser is restricted', async () => {
    await page.goto('chrome://version/');
    for (const action of ['get_page', 'screenshot']) {
      const error = assertError(await gateway.run({ action }), 'restricted_page');
      assert.match(error.hint, /navigate/);
    }
  });
});

describe('deadlines', () => {
  let page;
  let tabId;

  before(async () => ({ page, tabId } = await open('/')));
  after(() => page?.close());

  test('a long command is reported as pending within 2 s, and as complete later', async () => {
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    const pending = await gateway.post(command, 'pending');
    // A unit test checks the exact instant; here the machine may be slow, but the gateway gives up
    // at 3 s.
    assert.ok(pending.at - gateway.handedOutAt.get(command.id) < 3000);
    assert.deepEqual(pending.body, {
      id: command.id,
      correlation_id: command.correlation_id,
      status: 'pending',
      tab_id: tabId,
      url: `${pages.url}/`,
    });
    await release(page, 'late');
    assert.equal(assertComplete((await gateway.finalOf(command)).body), 'late');
    const statuses = gateway.postsOf(command).map(({ body }) => body.status);
    assert.deepEqual(statuses, ['pending', 'complete']);
  });

  test('a command that times out in the queue reports that nothing was executed', async () => {
    const first = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    const script = 'window.touched = true';
    const report = await gateway.run({ action: 'execute_js', script }, { timeout_ms: 300 });
    assert.equal(report.status, 'timeout');
    assert.equal(report.error.may_have_executed, false);
    await release(page, 1);
    await gateway.finalOf(first);
    const touched = await gateway.run({ action: 'execute_js', script: 'window.touched === true' });
    assert.equal(assertComplete(touched), false);
  });
});

describe('a restarted gateway', () => {
  test('receives the pending result and is polled again', async () => {
    const { page } = await open('/');
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await page.waitForFunction(() => 'release' in window);
    await gateway.down();
    await release(page, 'kept');
    await gateway.up();
    assert.equal(assertComplete((await gateway.finalOf(command)).body), 'kept');
    assertComplete(await gateway.run({ action: 'get_page' }));
    assert.equal(gateway.postsOf(command).length, 1);
    await page.close();
  });
});
