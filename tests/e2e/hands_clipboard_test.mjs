/** The keys that copy, cut and paste, compared with the real keys of the same Chromium. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { keyStrokes } from '../../extension/src/key_stroke.js';
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

/** Presses keys as the action does, with the clipboard of one agent; returns its notes. */
const press = (text) => page.evaluate(async (strokes) => {
  const notes = [];
  for (let at = 0; at < strokes.length;) {
    const { clipboard, clipboardChars } = window;
    const { pressed, copied, note } = await callslip.keys.press(null, strokes.slice(at), { clipboard, clipboardChars });
    at += pressed;
    if (copied) window.clipboard = copied;
    if (note) notes.push(note);
  }
  return notes;
}, keyStrokes(text));

describe('the clipboard keys', () => {
  const FORM = `<!doctype html><input id="text" value="one two three"><input id="short" maxlength="16" value="abcd">
    <input id="fixed" readonly value="fixed"><input id="password" type="password" value="secret">
    <input id="mail" type="email" value="ada@example.com"><input id="count" type="number" value="12">
    <textarea id="area">first line
second line</textarea><div id="editor" contenteditable>some <b>bold</b> text</div><p id="one">para one</p><p id="two">para two</p>
    <button id="button">Go</button><script>
    window.heard = [];
    // Texts of ours have no formatting, and no script can make a textInput that is composed.
    for (const type of ['copy', 'cut', 'paste', 'beforeinput', 'textInput', 'input', 'change']) {
      addEventListener(type, ({ target, inputType, data, dataTransfer, clipboardData, cancelable, composed }) => {
        const types = (transfer) => transfer && [...transfer.types].filter((each) => each !== 'text/html');
        heard.push([type, target.id, inputType, data, types(dataTransfer), types(clipboardData), cancelable,
          type === 'textInput' || composed]);
      });
    }</script>`;

  function state() {
    const { activeElement: at } = document;
    return {
      heard: window.heard.splice(0),
      values: [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
      editor: document.querySelector('#editor').innerText,
      caret: [at.id, at.selectionStart, at.selectionEnd, at.id === 'editor' && String(getSelection())],
    };
  }

  /** Focuses an element and selects in it: characters of a field, else everything. */
  function begin([id, from, to]) {
    const element = document.querySelector(`#${id}`);
    element.focus();
    if (from !== undefined) element.setSelectionRange(from, to);
    else if (element.select) element.select();
    else getSelection().selectAllChildren(element);
  }

  const CASES = [
    [['text', 0, 3], 'Control+C End Control+V'],
    [['text', 3, 7], 'Control+X Home Control+V*2'],
    [['text', 4, 7], 'Control+Insert End Shift+Insert'],
    [['text', 4, 8], 'Shift+Delete End Shift+Insert'],
    [['text', 2, 2], 'Control+X Control+C Shift+Delete'],
    [['text', 0, 3], 'Control+C', ['text', 2, 2], 'Control+C Control+V'],
    [['text', 0, 3], 'Control+C Control+Shift+V'],
    [['text', 0, 3], 'Control+Alt+v Control+Shift+X'],
    [['text', 0, 3], 'Control+C', ['password', 0, 6], 'Control+C Control+X', ['area', 0, 0], 'Control+V'],
    [['text', 0, 3], 'Control+C', ['one'], 'Control+C Control+X', ['area', 0, 0], 'Control+V'],
    [['text', 0, 13], 'Control+C', ['short', 2, 2], 'Control+V'],
    [['text', 0, 3], 'Control+C', ['fixed', 0, 5], 'Control+V'],
    [['text', 0, 3], 'Control+C', ['password', 0, 2], 'Control+V'],
    [['text', 0, 3], 'Control+C', ['button'], 'Control+V Control+C'],
    [['fixed', 0, 3], 'Control+X', ['text', 0, 0], 'x'],
    [['fixed', 0, 3], 'Control+C', ['text', 0, 0], 'Control+V'],
    [['mail'], 'Control+C', ['text', 0, 0], 'Control+V', ['mail'], 'Control+X Control+V*2'],
    [['count'], 'Control+X Control+V*2'],
    [['area', 6, 17], 'Control+X', ['text', 4, 7], 'Control+V'],
    [['area', 6, 17], 'Control+C', ['editor'], 'ArrowLeft Control+V'],
    [['area', 6, 17], 'Control+C', ['editor'], 'Control+A Control+V'],
    [['text', 0, 3], 'Control+C', ['editor'], 'ArrowRight Control+V'],
    [['editor'], 'Control+X x'],
    [['editor'], 'Shift+ArrowLeft*3 Control+C', ['area', 0, 0], 'Control+V'],
    [['text', 0, 3], 'Control+X Control+Z'],
    [['text', 0, 3], 'Control+C', ['text', 13, 13], 'Control+V Control+Z'],
  ];

  const on = (type, act) => `document.addEventListener('${type}', (event) => { ${act} });`;
  const PAGES = [
    [on('copy', "event.clipboardData.setData('text/plain', 'ours'); event.preventDefault();"), ['text', 0, 3], 'Control+C End Control+V'],
    [on('copy', "event.clipboardData.setData('text/plain', 'ours');"), ['text', 0, 3], 'Control+C End Control+V'],
    [on('cut', "event.clipboardData.setData('text/plain', 'ours'); event.preventDefault();"), ['text', 0, 3], 'Control+X End Control+V'],
    [on('cut', 'event.preventDefault();'), ['text', 0, 3], 'Control+C ArrowLeft Shift+End Control+X End Control+V'],
    [on('copy', 'area.select(); area.focus();'), ['text', 0, 3], 'Control+C End Control+V'],
    [on('paste', "event.target.value = event.clipboardData.getData('text/plain') + '!'; event.preventDefault();"), ['text', 0, 3], 'Control+C Control+V'],
    [on('paste', 'area.focus();'), ['text', 0, 3], 'Control+C Control+V'],
    [on('beforeinput', 'event.preventDefault();'), ['text', 0, 3], 'Control+C Control+X End Control+V'],
    [on('keydown', 'if (event.ctrlKey) event.preventDefault();'), ['text', 0, 3], 'Control+C Control+X Control+V'],
  ];

  for (const steps of [...CASES.map((each) => ['', ...each]), ...PAGES]) {
    test(`act like real keys: ${steps.join(' ').trim()}`, async () => {
      const states = [];
      const [script, ...others] = steps;
      for (const isReal of [true, false]) {
        await hands.show(`${FORM}<script>${script}</script>`);
        for (const step of others) {
          if (Array.isArray(step)) await page.evaluate(begin, step);
          else if (!isReal) await press(step);
          else for (const { key, held } of keyStrokes(step)) await page.keyboard.press([...held, key].join('+'));
        }
        states.push(await page.evaluate(state));
      }
      assert.deepEqual(states[1], states[0]);
    });
  }

  test('work in an editor in a shadow tree', async () => {
    await hands.show('<div id="host"></div><input id="text"><script>host.attachShadow({ mode: "open" }).innerHTML = "<p contenteditable>one two</p>"</script>');
    await page.evaluate(() => document.querySelector('#host').shadowRoot.querySelector('p').focus());
    await press('End Shift+Home Control+X');
    assert.equal(await page.evaluate(() => document.querySelector('#host').shadowRoot.textContent), '');
    await page.focus('#text');
    await press('Control+V');
    assert.equal(await page.inputValue('#text'), 'one two');
  });

  test('report that there is nothing to paste or copy', async () => {
    await hands.show(FORM);
    await page.evaluate(begin, ['text', 2, 2]);
    assert.deepEqual(await press('Control+V'), ['the clipboard is empty']);
    assert.deepEqual(await press('Control+C End Control+X Shift+Home Control+C'), ['nothing was copied', 'nothing was copied']);
  });

  test('copy nothing from a secret field, even while it shows its password', async () => {
    await hands.show('<input id="password" type="password" value="hush"><input id="card" autocomplete="cc-number" value="4711">');
    await page.evaluate(() => callslipSecretFields.isSecret(document.querySelector('#password')));
    await page.evaluate(() => { document.querySelector('#password').type = 'text'; });
    for (const id of ['#password', '#card']) {
      await page.focus(id);
      assert.deepEqual(await press('Control+A Control+C Control+X'), ['nothing was copied', 'nothing was copied']);
    }
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value)), ['hush', '4711']);
    assert.equal(await page.evaluate(() => window.clipboard), undefined);
  });

  test('do not cut text that is too long for the clipboard', async () => {
    await hands.show(FORM);
    await page.evaluate(begin, ['text', 0, 13]);
    await page.evaluate(() => { window.clipboardChars = 20; });
    await assert.rejects(press('Control+X'), /holds 20 characters, and the copy would have 23/);
    assert.equal(await page.inputValue('#text'), 'one two three');
  });
});

describe('an agent\'s clipboard', () => {
  const INNER = '<!doctype html><title>Inner</title><input id="inner" value="card">';
  let setting;
  before(async () => {
    setting = await HandsSetting.start({ inner: INNER });
    const { port } = new URL(setting.url);
    await setting.show(`<input id="one" value="Ada"><input id="two"><iframe src="http://${REBOUND_NAME}:${port}/inner"></iframe>`);
  });
  after(() => setting?.stop());

  test('is shared by all frames and tabs, but not with other agents', async () => {
    const { page: top } = setting;
    const valueOf = (selector) => top.frameLocator('iframe').locator(selector).inputValue();
    const run = (params, caller) => setting.setting.gateway.run(params, { caller });
    await run({ action: 'press', selector: '#one', key: 'Control+A Control+C' }, 'a');
    await run({ action: 'press', selector: '#inner', key: 'Control+A Control+V' }, 'b');
    assert.equal(await valueOf('#inner'), 'card');
    await run({ action: 'press', selector: '#inner', key: 'End Control+V Control+A Control+X' }, 'a');
    assert.equal(await valueOf('#inner'), '');
    await run({ action: 'press', selector: '#two', key: 'Control+V' }, 'a');
    assert.equal(await top.inputValue('#two'), 'cardAda');
    const { page: other } = await setting.setting.open('/form');
    const steps = [{ action: 'click', selector: '#remark' }, { action: 'press', key: 'Shift+Insert' }];
    await run({ action: 'batch', steps }, 'a');
    assert.equal(await other.inputValue('#remark'), 'cardAda');
    const { result } = await run({ action: 'press', selector: '#remark', key: 'Control+V' }, 'b');
    assert.match(result.data.page, /^pressed Control\+V on .*; the clipboard is empty, \d+ ms/);
    await other.close();
  });

  test('is separate from the clipboard of the person', async () => {
    const { page: top } = setting;
    await top.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await top.bringToFront();
    await top.evaluate(() => navigator.clipboard.writeText('of the person'));
    await setting.perform({ action: 'press', selector: '#one', key: 'Control+A Control+C Control+X Control+V' }, { caller: 'c' });
    assert.equal(await top.inputValue('#one'), 'Ada');
    assert.equal(await top.evaluate(() => navigator.clipboard.readText()), 'of the person');
  });
});
