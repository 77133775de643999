/** Several actions in one command, and the selection of text, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertComplete, assertError } from './support/extension_setting.js';
import { HandsSetting } from './support/hands_setting.js';

let hands;
let page;

before(async () => {
  hands = await HandsSetting.start({ next: '<!doctype html><title>Next</title><button id="b">Go on</button>' });
  ({ page } = hands);
});
after(() => hands?.stop());

const batch = (...steps) => hands.setting.gateway.run({ action: 'batch', steps });
const FORM = `<input id="a"><input id="b"><a id="link" href="/next">Next</a>
  <button id="off" disabled>Off</button><p id="said"></p><script>
  a.oninput = () => { said.textContent = a.value; };</script>`;

describe('batch', () => {
  test('runs its steps in order, also across pages', async () => {
    await hands.show(FORM);
    const report = await batch(
      { action: 'fill', fields: { '#a': 'one' } },
      { action: 'press', key: 'Tab' },
      { action: 'type', text: 'two' },
      { action: 'execute_js', script: '[a.value, b.value, said.textContent]' },
      { action: 'click', selector: '#link' },
      { action: 'wait_for', url: '**/next' },
      { action: 'click', selector: '#b' },
    );
    const { values } = assertComplete(report);
    assert.deepEqual(values, { 4: ['one', 'two', 'one'] });
    assert.match(JSON.stringify(report.result), /filled .*textbox; pressed Tab; typed into .*textbox; .*clicked .*link Next; waited for .*next; clicked button Go on/);
    assert.equal(page.url(), `${hands.url}next`);
  });

  test('stops at the first error, which names the step', async () => {
    await hands.show(FORM);
    const report = await batch(
      { action: 'fill', fields: { '#a': 'one' } },
      { action: 'select', selector: '#b', value: 'x' },
      { action: 'fill', fields: { '#b': 'never' } },
    );
    const error = assertError(report, 'invalid_params');
    assert.match(error.message, /^step 2 \(select\): selector: .* Done before it: filled .*textbox/);
    assert.equal(error.may_have_executed, true);
    assert.equal(await page.inputValue('#b'), '');
  });

  test('is rejected as a whole if a step is invalid', async () => {
    await hands.show(FORM);
    const fine = { action: 'fill', fields: { '#a': 'one' } };
    const wrong = [
      [[fine, { action: 'click' }], /^steps: step 2: selector:/],
      [[fine, { action: 'batch', steps: [fine] }], /^steps: step 2: action/],
      [[fine, { action: 'click', selector: '#a', tab_id: 1 }], /^steps: step 2: tab_id/],
      [[fine, null], /^steps: step 2/],
      [[], /^steps: must/],
      [Array(21).fill(fine), /^steps: must/],
    ];
    for (const [steps, message] of wrong) {
      const error = await hands.refused({ action: 'batch', steps }, 'invalid_params');
      assert.match(error.message, message);
      assert.equal(error.may_have_executed, false);
    }
    assert.equal(await page.inputValue('#a'), '');
  });

  test('cannot act on the gateway\'s own page', async () => {
    await hands.show(`<p>`);
    const report = await batch(
      { action: 'navigate', url: `${hands.setting.gateway.url}/ui/` },
      { action: 'press', key: 'Enter' },
    );
    assertError(report, 'restricted_page');
  });
});

describe('select_text', () => {
  const TEXT = `<p id="p">The quick <b>brown
    fox</b> jumps.</p><textarea id="t">over the lazy dog</textarea><div id="e" contenteditable>rich text</div>
    <script>window.heard = []; for (const type of ['mousedown', 'mouseup', 'click'])
      document.addEventListener(type, (event) => heard.push(type));</script>`;
  const select = (params) => hands.perform({ action: 'select_text', ...params });
  const selected = () => page.evaluate(() => String(getSelection()));

  test('selects text across elements, a whole element, and part of a field', async () => {
    await hands.show(TEXT);
    await select({ text: 'quick brown fox' });
    assert.equal(await selected(), 'quick brown fox');
    assert.deepEqual(await page.evaluate(() => window.heard), ['mousedown', 'mouseup']);
    await select({ selector: '#p' });
    assert.equal(await selected(), 'The quick brown fox jumps.');
    await select({ selector: '#t', text: 'lazy' });
    assert.deepEqual(await page.evaluate(() => [t.selectionStart, t.selectionEnd]), [9, 13]);
    await select({ selector: '#e', text: 'rich' });
    await hands.perform({ action: 'type', text: 'plain' });
    assert.equal(await page.textContent('#e'), 'plain text');
    const error = await hands.refused({ action: 'select_text', text: 'no such words' }, 'element_not_found');
    assert.equal(error.may_have_executed, false);
    await hands.refused({ action: 'select_text' }, 'invalid_params');
  });

  test('scrolls to text in a pane, and presses the mouse on nothing else', async () => {
    await hands.show(`<div style="height: 80px; overflow: auto"><p style="height: 150px">Top</p><p>Far below</p></div>
      <button style="display: block; width: 100%; height: 300px">Delete</button>
      <script>window.pressed = []; onmousedown = ({ target }) => pressed.push(target.localName);</script>`);
    await select({ text: 'Far below' });
    assert.equal(await selected(), 'Far below');
    assert.deepEqual(await page.evaluate(() => window.pressed), ['p']);
  });

  test('waits until an editor can have noticed the selection', async () => {
    await hands.show(`<div id="editor" contenteditable>Make it bold</div><button id="bold">B</button><output></output><script>
      let noticed = '';
      const look = () => { noticed = String(getSelection()); };
      document.querySelector('#editor').onmouseup = () => setTimeout(look, 100);
      document.querySelector('#bold').onclick = () => { document.querySelector('output').textContent = noticed; };
    </script>`);
    const steps = [{ action: 'select_text', text: 'it bold' }, { action: 'click', selector: '#bold' }];
    await hands.perform({ action: 'batch', steps });
    assert.equal(await hands.page.textContent('output'), 'it bold');
  });
});
