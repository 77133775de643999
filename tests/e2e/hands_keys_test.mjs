/**
 * The events and effects of the extension's keys, compared with the real keys of the same Chromium.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { keyStroke, keyStrokes } from '../../extension/src/key_stroke.js';
import { NAMED_KEYS } from '../../extension/src/key_table.js';
import { REBOUND_NAME } from './support/chromium.js';
import { HandsPage } from './support/hands_page.js';
import { HandsSetting } from './support/hands_setting.js';

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

  test('equal the native events for all 95 printable characters', async () => {
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

  test('equal the native events for all named keys', async () => {
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

describe('the effect of key presses', () => {
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
      for (const type of ['beforeinput', 'textInput']) {
        document.addEventListener(type, (event) => {
          const ranges = (event.getTargetRanges?.() ?? []).map((range) => [range.startContainer, range.endContainer]
            .map((node) => node.data ?? node.outerHTML).concat(range.startOffset, range.endOffset));
          heard.push([type, event.target.id, event.inputType, event.data, ranges, event.cancelable]);
        }, true);
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

  /** Sets the focus, and the caret or selection in a text, where a case begins. */
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
    [['editor'], 'Backspace Delete'],
    [['editor'], 'Control+Backspace'],
    [['editor'], 'Control+Delete'],
    [['editor'], 'x Control+Z Control+Y'],
    [['text', 5], 'x Control+Z Control+Shift+Z'],
    [['text', 5], 'Control+Delete'],
    [['number'], 'Backspace 7'],
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
    test(`equals the native effect: ${keys} at ${place.join(' ')}`, async () => {
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

describe('the Tab key', () => {
  const LISTENING = `<script>
    window.heard = [];
    for (const type of ['focusin', 'focusout', 'keydown', 'keyup', 'change']) {
      addEventListener(type, ({ target, key, shiftKey, relatedTarget }) => heard.push([type, target.id, key, shiftKey, relatedTarget?.id]), true);
    }</script>`;
  const INNER = '<input id="i1" value="x"><button id="i2">In</button>';
  const around = (frames) => `<input id="a">${frames}<input id="z">`;
  let setting;
  let other;
  before(async () => {
    setting = await HandsSetting.start({
      in: LISTENING + INNER,
      empty: `${LISTENING}<p>Nothing</p>`,
      nested: `${LISTENING}<iframe src="/in"></iframe>`,
      deep: `${LISTENING}<input id="n1"><iframe src="/empty"></iframe><div id="host"></div><script>
        host.attachShadow({ mode: 'closed' }).innerHTML = '<iframe src="/in"></iframe>'</script>`,
    });
    other = `http://${REBOUND_NAME}:${new URL(setting.url).port}`;
  });
  after(() => setting?.stop());

  /** The events of each frame, and the focused element. */
  const states = () => Promise.all(setting.page.frames().map((frame) => frame.evaluate(() => {
    const { activeElement: at } = document;
    const focus = document.hasFocus() && !at.contentWindow ? at.id || at.localName : '';
    return { focus, selected: at.selectionEnd - at.selectionStart || 0, heard: window.heard.splice(0) };
  })));

  async function focusedIn(page) {
    // The innermost first: a document does not report that its focus is in a frame of a shadow
    // tree.
    for (const frame of page.frames().reverse()) {
      const [isHere, id] = await frame.evaluate(() => [document.hasFocus() && !document.activeElement.contentWindow, document.activeElement.id]);
      if (isHere) return `${new URL(frame.url()).pathname}${id && `#${id}`}`;
    }
    return null;
  }

  /**
   * Presses a real key, and releases it in the then focused frame: in another process that takes a
   * moment.
   */
  async function pressReal(page, text) {
    const [{ key, held }] = keyStrokes(text);
    const before = await focusedIn(page);
    for (const each of [...held, key]) await page.keyboard.down(each);
    for (let now = before; now === before || now === null;) now = await focusedIn(page);
    for (const each of [key, ...held]) await page.keyboard.up(each);
  }

  /** Frames, a start, and keys; after each key the focus has to be where Chromium sets it. */
  const CASES = [
    ['of the same site', () => around('<iframe src="/in"></iframe>'), '#a', 'Tab Tab Tab Shift+Tab Shift+Tab Shift+Tab'],
    ['of another site', () => around(`<iframe src="${other}/in"></iframe>`), '#a', 'Tab Tab Tab Shift+Tab Shift+Tab Shift+Tab'],
    ['within frames', () => around('<iframe src="/nested"></iframe>'), '#a', 'Tab Tab Tab Shift+Tab Shift+Tab Shift+Tab'],
    ['within frames of another site', () => around(`<iframe src="${other}/nested"></iframe>`), '#a', 'Tab Tab Tab Shift+Tab Shift+Tab Shift+Tab'],
    ['within frames and shadow trees', () => around('<iframe src="/deep"></iframe>'), '#a', 'Tab Tab Tab Tab Tab Shift+Tab Shift+Tab Shift+Tab Shift+Tab Shift+Tab'],
    ['without tab stops', () => around('<iframe src="/empty"></iframe>'), '#a', 'Tab Tab Shift+Tab Shift+Tab'],
    ['of another site without tab stops', () => around(`<iframe src="${other}/empty"></iframe>`), '#a', 'Tab Shift+Tab'],
    ['that follow each other', () => around(`<iframe src="/in"></iframe><iframe src="${other}/in"></iframe>`), '#a', 'Tab Tab Tab Tab Tab'],
    ['that are object elements', () => around('<object data="/in" type="text/html"></object>'), '#a', 'Tab Tab Tab'],
    ['that are not tab stops', () => around('<iframe src="/in" tabindex="-1"></iframe><iframe src="/in" style="display: none"></iframe>'), '#a', 'Tab Shift+Tab'],
  ];

  for (const [name, html, start, keys] of CASES) {
    test(`moves the focus like the real key with frames ${name}: ${keys}`, async () => {
      const { page: top } = setting;
      const ways = [];
      for (const isReal of [true, false]) {
        await setting.show(LISTENING + html());
        await top.focus(start);
        await states();
        const way = [];
        for (const key of keys.split(' ')) {
          if (isReal) await pressReal(top, key);
          else await setting.perform({ action: 'press', key });
          way.push(await focusedIn(top), await states());
        }
        ways.push(way);
      }
      assert.deepEqual(ways[1], ways[0]);
    });
  }

  test('sends the remaining keys of a press to the frame that it has reached', async () => {
    await setting.show(around(`<iframe src="/in"></iframe><iframe src="${other}/in"></iframe>`));
    const { page: top } = setting;
    const frame = (at) => top.frameLocator('iframe').nth(at);
    await setting.perform({ action: 'press', selector: '#a', key: '1 Tab 2 Control+A Control+C Tab*2 3 Control+V Tab*2 4 Tab 5 Shift+Tab*3 6' });
    const values = [top.locator('#a'), frame(0).locator('#i1'), frame(1).locator('#i1'), top.locator('#z')].map((each) => each.inputValue());
    assert.deepEqual(await Promise.all(values), ['5', '2', '6', '4']);
    await setting.perform({ action: 'type', text: '7' });
    assert.equal(await frame(1).locator('#i1').inputValue(), '67');
  });

  test('starts over if no frame has a tab stop', async () => {
    await setting.show(`<p>Nothing</p><iframe src="${other}/empty"></iframe>`);
    await setting.perform({ action: 'press', key: 'Tab Shift+Tab' });
    await setting.show(`<iframe src="${other}/in"></iframe>`);
    await setting.perform({ action: 'press', key: 'Tab*3 x' });
    assert.equal(await setting.page.frameLocator('iframe').locator('#i1').inputValue(), 'x');
  });
});

describe('typing', () => {
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
    test(`stops when another command starts: ${name}`, async () => {
      await started();
      await page.evaluate(other, keyStroke('b'));
      const { code, message } = await first();
      assert.equal(code, 'execution_failed');
      const [, done] = /Another command .* when (\d+) of 20000 characters/.exec(message);
      const text = name === 'fill' ? 'bbb' : `${'a'.repeat(Number(done))}bbb`;
      assert.equal(await page.textContent('#editor'), text);
    });
  }

  test('works in an editor that applies a key only in the next animation frame', async () => {
    await hands.show(`<div id="editor" contenteditable><p>-</p></div><script>
      const editor = document.querySelector('#editor');
      const goTo = (line) => getSelection().collapse(line, line.childNodes.length);
      editor.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter') return;
        event.preventDefault();
        requestAnimationFrame(() => {
          const line = document.createElement('p');
          line.append('-');
          editor.append(line);
          goTo(line);
        });
      });
      editor.focus();
      goTo(editor.firstElementChild);
    </script>`);
    await press('a Enter b Enter c');
    assert.deepEqual(await page.locator('#editor p').allTextContents(), ['-a', '-b', '-c']);
  });

  test('stops for another command even if the scripts were reinstalled meanwhile', async () => {
    await started();
    await page.evaluate((scripts) => scripts.forEach((script) => (0, eval)(script)), hands.scripts);
    await page.evaluate(OTHERS.type, keyStroke('b'));
    const { message } = await first();
    const [, done] = /when (\d+) of 20000 characters/.exec(message);
    assert.equal(await page.textContent('#editor'), `${'a'.repeat(Number(done))}bbb`);
  });

  for (const leftMs of [0, -1]) {
    test(`does not start without remaining time: ${leftMs} ms`, async () => {
      await hands.show('<input id="field">');
      const answer = await page.evaluate(([stroke, left]) => callslip.keys.type(callslip.target.keep(document.querySelector('#field')), 'a',
        { strokes: { a: stroke }, clear: false, leftMs: left }).catch((error) => error.answer), [keyStroke('a'), leftMs]);
      assert.equal(answer.code, 'execution_timeout');
      assert.match(answer.message, /0 of 1 characters/);
      assert.equal(await page.inputValue('#field'), '');
    });
  }
});
