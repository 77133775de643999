/** What the extension's keys are and do, beside the real keys of the same Chromium. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { keyStroke, keyStrokes } from '../../extension/src/key_stroke.js';
import { NAMED_KEYS } from '../../extension/src/key_table.js';
import { HandsPage } from './support/hands_page.js';

let hands;
let page;

before(async () => {
  hands = await HandsPage.start();
  ({ page } = hands);
});
after(() => hands?.stop());

const press = (text) => page.evaluate((strokes) => callslip.keys.press(null, strokes), keyStrokes(text));

const LISTENING = `<div id="keys" tabindex="0">keys</div><script>
  window.heard = [];
  for (const type of ['keydown', 'keypress', 'keyup']) {
    addEventListener(type, (event) => {
      const { key, code, keyCode, charCode, which, shiftKey, ctrlKey, location } = event;
      heard.push({ type, key, code, keyCode, charCode, which, shiftKey, ctrlKey, location });
      event.preventDefault();
    });
  }
  document.querySelector('#keys').focus();
</script>`;
const heard = () => page.evaluate(() => window.heard.splice(0));

describe('the events of a key', () => {
  before(() => hands.show(LISTENING));

  test('are the browser\'s own for all 95 printable characters', async () => {
    for (let code = 32; code < 127; code += 1) {
      const character = String.fromCharCode(code);
      const { shiftKey } = keyStroke(character);
      if (shiftKey) await page.keyboard.down('Shift');
      await page.keyboard.press(character === ' ' ? 'Space' : character);
      if (shiftKey) await page.keyboard.up('Shift');
      const real = (await heard()).filter(({ key }) => key !== 'Shift');
      await page.evaluate((stroke) => callslip.keys.press(null, [stroke]), keyStroke(character));
      assert.deepEqual(await heard(), real, character);
    }
  });

  test('are the browser\'s own for the keys with names', async () => {
    const names = [...Object.keys(NAMED_KEYS), 'Control+A', 'Control+Shift+ArrowLeft', 'Shift+Tab',
      'Shift', 'Alt+F4', 'Control+Enter'];
    for (const name of names) {
      await page.keyboard.press(name === 'Control+A' ? 'Control+a' : name);
      const real = await heard();
      await press(name);
      const ours = await heard();
      assert.deepEqual(ours, real, name);
    }
  });
});

describe('what a key does', () => {
  const FORM = `<!doctype html><style>body { height: 5000px }</style><form>
    <input id="range" type="range" min="0" max="50" step="2.5" value="10">
    <input id="number" type="number" min="-2" max="8" step="2" value="4">
    <select id="select"><option>Ash<option disabled>Birch<option>Cedar<option>Elm<option>Oak
      <option>Poplar<option>Willow</select>
    <select id="list" size="4"><option>One<option selected>Two<option>Three<option>Four<option>Five
      </select>
    <input type="radio" name="r" id="r1"><input type="radio" name="r" id="r2" checked>
    <input type="radio" name="r" disabled><input type="radio" name="r" id="r3">
    <input id="text" value="one two three">
    <textarea id="area" rows="4" cols="20">first line
second line
third line
fourth line
fifth line
sixth line</textarea>
    <input type="checkbox" id="check"><button type="button" id="button">Go</button>
    <div id="editor" contenteditable>rich <b>bold</b> text</div></form>
    <div id="box" tabindex="0" style="height: 100px; overflow: auto"><p style="height: 900px">x</div>
    <script>
      window.heard = [];
      // Listeners on the window that came before ours hear of the focus that a field has to lose for its change.
      for (const type of ['input', 'change', 'click', 'focus', 'blur']) {
        document.addEventListener(type, ({ target }) => heard.push(type + ' ' + target.id), true);
      }
    </script>`;

  function state() {
    const caret = (element) => [element.selectionStart, element.selectionEnd, element.value];
    const selection = getSelection();
    return {
      heard: window.heard.splice(0),
      values: [...document.querySelectorAll('input, select')].map(({ value }) => value),
      checked: [...document.querySelectorAll(':checked')].map(({ id, label }) => id || label),
      focus: document.activeElement.id,
      text: caret(document.querySelector('#text')),
      area: caret(document.querySelector('#area')),
      editor: document.querySelector('#editor').innerHTML,
      selected: document.activeElement.id === 'editor' ? String(selection) : '',
      at: document.activeElement.id === 'editor' ? selection.focusOffset : 0,
      scrolled: [scrollY, document.querySelector('#box').scrollTop],
    };
  }

  /** Puts the focus, and of a text the caret, where a case begins. */
  function begin([id, from, to]) {
    const element = document.querySelector(`#${id}`);
    element.focus();
    if (from !== undefined) element.setSelectionRange(from, to ?? from);
    if (id === 'editor') getSelection().collapse(element.querySelector('b').firstChild, 2);
    window.heard.length = 0;
  }

  const CASES = [
    [['range'], 'ArrowRight ArrowUp ArrowDown*3 ArrowLeft'],
    [['range'], 'PageUp'],
    [['range'], 'PageDown'],
    [['range'], 'End ArrowRight'],
    [['range'], 'Home'],
    [['number'], 'ArrowUp*3'],
    [['number'], 'ArrowDown'],
    [['select'], 'ArrowDown*2 ArrowUp'],
    [['select'], 'PageDown'],
    [['select'], 'End'],
    [['select'], 'End Home'],
    [['select'], 'ArrowRight*2 ArrowLeft'],
    [['select'], 'o'],
    [['list'], 'ArrowDown ArrowDown'],
    [['list'], 'End ArrowUp'],
    [['r2'], 'ArrowDown'],
    [['r2'], 'ArrowRight*2'],
    [['r2'], 'ArrowLeft'],
    [['text', 3], 'ArrowRight*2 x'],
    [['text', 3], 'Home y End z'],
    [['text', 3, 7], 'ArrowLeft x'],
    [['text', 3, 7], 'Shift+ArrowRight*2'],
    [['text', 5], 'Control+ArrowRight x Control+ArrowLeft y'],
    [['text', 5], 'ArrowUp x ArrowDown y'],
    [['text', 5], 'Control+Backspace'],
    [['text', 5], 'Delete*2 Backspace'],
    [['text', 5], 'Shift+Home Delete'],
    [['area', 13], 'ArrowDown ArrowRight x'],
    [['area', 13], 'ArrowUp x Enter'],
    [['area', 13], 'Home y End z'],
    [['area', 13], 'Control+End z Control+Home a'],
    [['area', 13], 'Shift+ArrowDown*2 Backspace'],
    [['area', 0], 'Control+A x'],
    [['editor'], 'ArrowLeft x End y'],
    [['editor'], 'Shift+Home Backspace'],
    [['editor'], 'Enter a Shift+Enter b'],
    [['check'], 'Space'],
    [['button'], 'Enter Space'],
    [['check'], 'Tab Tab'],
    [['text'], 'Shift+Tab'],
    [['number'], 'Shift+Tab Space'],
    [['button'], 'ArrowDown*2'],
    [['box'], 'End'],
    [['box'], 'ArrowDown'],
    [['box'], 'Space Space'],
    [['check'], 'PageDown'],
    [['text', 0], 'a Enter'],
  ];

  for (const [place, keys] of CASES) {
    test(`${keys} at ${place.join(' ')}`, async () => {
      await hands.show(FORM);
      await page.evaluate(begin, place);
      for (const { key, held } of keyStrokes(keys)) {
        await page.keyboard.press([...held, key === ' ' ? 'Space' : key].join('+'));
      }
      if (/^(box|check|button)$/.test(place[0])) await page.waitForTimeout(300);
      const real = await page.evaluate(state);
      await hands.show(FORM);
      await page.evaluate(begin, place);
      await press(keys);
      assert.deepEqual(await page.evaluate(state), real);
    });
  }
});

describe('text that is being typed', () => {
  const START = `window.first = callslip.keys.type(callslip.target.keep(document.querySelector('#editor')), 'a'.repeat(20_000),
    { strokes: { a: ${JSON.stringify(keyStroke('a'))} }, clear: false }).then(() => 'all', (error) => error.answer); 0`;
  const started = async () => {
    await hands.show('<div id="editor" contenteditable></div><input id="other"><form id="callslip"></form>');
    await page.evaluate(START);
  };
  const first = () => page.evaluate(() => window.first);

  const OTHERS = {
    type: (stroke) => callslip.keys.type(null, 'bbb', { strokes: { b: stroke }, clear: false }),
    press: (stroke) => callslip.keys.press(null, [stroke, stroke, stroke]),
    fill: () => callslip.fields.write(callslip.target.keep(document.querySelector('#editor')), 'bbb', 20),
  };
  for (const [name, other] of Object.entries(OTHERS)) {
    test(`ends as another command begins: ${name}`, async () => {
      await started();
      await page.evaluate(other, keyStroke('b'));
      const { code, message } = await first();
      assert.equal(code, 'execution_failed');
      const [, done] = /Another command .* when (\d+) of 20000 characters/.exec(message);
      const text = name === 'fill' ? 'bbb' : `${'a'.repeat(Number(done))}bbb`;
      assert.equal(await page.textContent('#editor'), text);
    });
  }

  test('ends so, too, where the parts were installed anew meanwhile', async () => {
    await started();
    await page.evaluate((scripts) => scripts.forEach((script) => (0, eval)(script)), hands.scripts);
    await page.evaluate(OTHERS.type, keyStroke('b'));
    const { message } = await first();
    const [, done] = /when (\d+) of 20000 characters/.exec(message);
    assert.equal(await page.textContent('#editor'), `${'a'.repeat(Number(done))}bbb`);
  });

  for (const leftMs of [0, -1]) {
    test(`does not begin without any time: ${leftMs} ms`, async () => {
      await hands.show('<input id="field">');
      const answer = await page.evaluate(([stroke, left]) => callslip.keys.type(callslip.target.keep(document.querySelector('#field')), 'a',
        { strokes: { a: stroke }, clear: false, leftMs: left }).catch((error) => error.answer), [keyStroke('a'), leftMs]);
      assert.equal(answer.code, 'execution_timeout');
      assert.match(answer.message, /0 of 1 characters/);
      assert.equal(await page.inputValue('#field'), '');
    });
  }
});
