/** The actions `fill` and `type`, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { HandsSetting } from './support/hands_setting.js';

let hands;
let page;

before(async () => {
  hands = await HandsSetting.start();
  ({ page } = hands);
});
after(() => hands?.stop());

const fill = (fields) => hands.perform({ action: 'fill', fields });
const heard = () => page.evaluate(() => window.heard.splice(0));

/**
 * React's way to watch fields: an own property that sees values set by scripts, but not by users.
 */
const FORM = `<style>.behind { position: absolute; opacity: 0; width: 0; height: 0 }</style>
  <form onsubmit="return false">
  <label>Name <input id="name" value="old"></label>
  <label>Mail <input id="mail" type="email"></label>
  <label>Age <input id="age" type="number" min="0"></label>
  <label>About <textarea id="about">before</textarea></label>
  <label>Country <select id="country"><option value="">Choose…<option value="at">Austria
    <option value="de">Germany<option value="x" disabled>Nowhere</select></label>
  <label>Tags <select id="tags" multiple><option>a<option selected>b<option>c</select></label>
  <label>Terms <input id="terms" type="checkbox"></label>
  <label>News <input id="news" type="checkbox" checked></label>
  <input id="slow" type="radio" name="way" value="slow" checked><label for="slow">Standard</label>
  <input id="fast" type="radio" name="way" value="fast"><label for="fast">Express</label>
  <input id="styled" type="checkbox" class="behind"><label for="styled">Styled</label>
  <label>Day <input id="day" type="date"></label>
  <label>Colour <input id="colour" type="color"></label>
  <label>Volume <input id="volume" type="range" min="0" max="50" step="5"></label>
  <div id="switch" role="switch" aria-checked="false" tabindex="0" onclick="this.setAttribute('aria-checked', 'true')">Dark</div>
  <div id="editor" contenteditable>draft</div>
  <label>Secret <input id="secret" type="password"></label>
  </form><script>
    window.heard = [];
    window.noticed = {};
    for (const field of document.querySelectorAll('input, textarea')) {
      const name = ['checkbox', 'radio'].includes(field.type) ? 'checked' : 'value';
      const { get, set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), name);
      let tracked = String(get.call(field));
      Object.defineProperty(field, name, {
        configurable: true,
        get() { return get.call(this); },
        set(value) { tracked = String(value); set.call(this, value); },
      });
      for (const type of ['input', 'click', 'change']) {
        field.addEventListener(type, () => {
          const now = String(get.call(field));
          if (now === tracked) return;
          tracked = now;
          noticed[field.id] = now;
        });
      }
    }
    for (const type of ['keydown', 'keypress', 'keyup', 'input', 'change', 'focusin', 'focusout']) {
      document.addEventListener(type, (event) => heard.push(type + ' ' + (event.key ?? event.target.id)));
    }
  </script>`;

describe('fill', () => {
  beforeEach(() => hands.show(FORM));

  test('fills in fields of all kinds in one call, and frameworks notice the changes', async () => {
    await fill({
      '#name': 'Ada', '#mail': 'ada@page.test', '#age': 36, '#about': 'one\ntwo', '#country': 'Germany',
      '#tags': ['a', 'c'], '#terms': true, '#news': false, '#slow': 'Express', '#styled': true,
      '#day': '2026-11-24', '#colour': '#102030', '#volume': 35, '#switch': true, '#editor': 'final',
      '#secret': 'hush',
    });
    const values = await page.evaluate(() => {
      const value = (id) => document.getElementById(id).value;
      return {
        name: value('name'), mail: value('mail'), age: value('age'), about: value('about'),
        country: value('country'), tags: [...document.querySelector('#tags').selectedOptions].map(({ text }) => text),
        day: value('day'), colour: value('colour'), volume: value('volume'), secret: value('secret'),
        ticked: [...document.querySelectorAll('input:checked')].map(({ id }) => id),
        dark: document.querySelector('#switch').ariaChecked,
        editor: document.querySelector('#editor').textContent,
      };
    });
    assert.deepEqual(values, {
      name: 'Ada', mail: 'ada@page.test', age: '36', about: 'one\ntwo', country: 'de', tags: ['a', 'c'],
      day: '2026-11-24', colour: '#102030', volume: '35', secret: 'hush',
      ticked: ['terms', 'fast', 'styled'], dark: 'true', editor: 'final',
    });
    assert.deepEqual(await page.evaluate(() => window.noticed), {
      name: 'Ada', mail: 'ada@page.test', age: '36', about: 'one\ntwo', terms: 'true', news: 'false',
      fast: 'true', styled: 'true', day: '2026-11-24', colour: '#102030', volume: '35', secret: 'hush',
    });
    const changed = (await heard()).filter((each) => each.startsWith('change')).map((each) => each.slice(7));
    for (const id of ['name', 'mail', 'age', 'about', 'country', 'tags', 'terms', 'day', 'volume', 'secret']) {
      assert.ok(changed.includes(id), `${id} of ${changed}`);
    }
  });

  test('rejects a value longer than maxlength, and writes nothing', async () => {
    await hands.show('<input id="name" value="old"><input id="short" maxlength="3" value="abc"><textarea id="note" maxlength="4"></textarea>');
    for (const [selector, value, wish] of [['#short', 'abcdef', 'at most 3'], ['#note', 'a😀😀', 'at most 4']]) {
      const error = await hands.refused({ action: 'fill', fields: { '#name': 'new', [selector]: value } }, 'invalid_params');
      assert.ok(error.message.includes(`takes ${wish} characters, not ${JSON.stringify(value)}`), error.message);
      assert.equal(error.may_have_executed, false);
    }
    assert.equal(await page.inputValue('#short'), 'abc');
    assert.equal(await page.inputValue('#name'), 'old');
    await fill({ '#short': 'xyz', '#note': '😀😀' });
    assert.equal(await page.inputValue('#short'), 'xyz');
    assert.equal(await page.inputValue('#note'), '😀😀');
  });

  test('fills a field up to maxlength if the page stops propagation of input events', async () => {
    await hands.show(`<input id="short" maxlength="3" value="abc"><input id="full" maxlength="2"><textarea id="long"></textarea>
      <input id="pair" maxlength="3"><script>
      addEventListener('input', (event) => event.stopImmediatePropagation(), { capture: true });
      document.querySelector('#full').value = 'abcd';</script>`);
    await fill({ '#short': 'def', '#full': 'xy', '#long': 'defghi', '#pair': 'a😀' });
    for (const [id, value] of [['short', 'def'], ['full', 'xy'], ['long', 'defghi'], ['pair', 'a😀']]) {
      assert.equal(await page.inputValue(`#${id}`), value);
    }
    await hands.perform({ action: 'type', selector: '#short', text: 'z', clear: false });
    assert.equal(await page.inputValue('#short'), 'def');
  });

  test('types single characters into a field that accepts nothing else', async () => {
    await hands.show(`<input id="digits"><input id="grouped"><script>
      const { digits, grouped } = window;
      digits.addEventListener('beforeinput', (event) => { if (!/^\\d$/.test(event.data)) event.preventDefault(); });
      // Writes all itself, and always the same.
      grouped.addEventListener('beforeinput', (event) => {
        event.preventDefault();
        grouped.value = '1 234';
      });</script>`);
    await fill({ '#digits': '1234' });
    assert.equal(await page.inputValue('#digits'), '1234');
    await fill({ '#digits': '56' });
    assert.equal(await page.inputValue('#digits'), '56');
    for (let time = 0; time < 2; time += 1) await fill({ '#grouped': '1234' });
    assert.equal(await page.inputValue('#grouped'), '1 234');
  });

  test('leaves fields unchanged that already have the value', async () => {
    for (const fields of [{ '#name': 'old', '#about': 'before', '#editor': 'draft' }, { '#name': 'old' }]) await fill(fields);
    assert.equal(await page.inputValue('#name'), 'old');
    assert.equal(await page.inputValue('#about'), 'before');
    assert.equal(await page.textContent('#editor'), 'draft');
  });

  test('writes nothing into a field that the page disables on focus', async () => {
    await page.evaluate(() => { document.querySelector('#name').onfocus = ({ target }) => { target.disabled = true; }; });
    const error = await hands.refused({ action: 'fill', fields: { '#name': 'Ada' } }, 'element_disabled');
    assert.equal(error.may_have_executed, true);
    assert.equal(await page.inputValue('#name'), 'old');
    await page.evaluate(() => { document.querySelector('#name').disabled = false; });
    await page.evaluate(() => { document.querySelector('#name').onfocus = null; });
    await fill({ '#name': 'Ada' });
    assert.equal(await page.inputValue('#name'), 'Ada');
  });

  const WRONG = [
    ['#country', 'Atlantis', 'option_not_found', /"Austria"/],
    ['#country', ['at', 'de'], 'invalid_params'],
    ['#slow', 'Teleport', 'option_not_found', /"Express"/],
    ['#volume', 33, 'invalid_params', /0 to 50 in steps of 5/],
    ['#day', 'tomorrow', 'invalid_params', /2026-11-24/],
    ['#terms', ['a'], 'invalid_params'],
    ['#age', 'old', 'invalid_params'],
    ['#name', true, 'invalid_params'],
    ['form', 'x', 'not_editable'],
  ];
  test('writes nothing if one of the fields cannot be filled in', async () => {
    for (const [selector, value, code, message = /./] of WRONG) {
      const error = await hands.refused({ action: 'fill', fields: { '#name': 'Ada', [selector]: value } }, code);
      assert.match(`${error.message} ${error.hint}`, message, selector);
      assert.equal(error.may_have_executed, false);
    }
    for (const fields of [{}, [], 'x', { '': 'a' }, { '#name': null }]) {
      await hands.refused({ action: 'fill', fields }, 'invalid_params');
    }
    assert.equal(await page.inputValue('#name'), 'old');
    assert.deepEqual(await heard(), []);
  });
});

describe('type', () => {
  beforeEach(() => hands.show(FORM));

  test('presses the key of each character at the end of the existing text', async () => {
    assert.deepEqual(await hands.perform({ action: 'type', selector: '#name', text: 'X!' }), { selector: '#name', value: 'oldX!' });
    const keys = (key) => [`keydown ${key}`, `keypress ${key}`, 'input name', `keyup ${key}`];
    assert.deepEqual(await heard(), ['focusin name', ...keys('X'), ...keys('!')]);
    assert.equal(await page.evaluate(() => window.noticed.name), 'oldX!');
  });

  test('types at the caret of the focused field, or into a given element', async () => {
    await hands.perform({ action: 'press', selector: '#name', key: 'Home' });
    await hands.perform({ action: 'type', text: 'be' });
    assert.equal(await page.inputValue('#name'), 'beold');
    await hands.perform({ action: 'type', selector: '#name', text: 'new', clear: true });
    assert.equal(await page.inputValue('#name'), 'new');
    await hands.perform({ action: 'type', selector: '#about', text: '\nline', clear: false });
    assert.equal(await page.inputValue('#about'), 'before\nline');
    await hands.perform({ action: 'type', selector: '#editor', text: ' two' });
    assert.equal(await page.textContent('#editor'), 'draft two');
    await hands.perform({ action: 'type', selector: '#day', text: '2026-01-02' });
    assert.equal(await page.inputValue('#day'), '2026-01-02');
    const long = 'long '.repeat(400);
    await hands.perform({ action: 'type', selector: '#about', text: long, clear: true });
    assert.equal(await page.inputValue('#about'), long);
  });

  test('rejects a read-only field', async () => {
    await page.evaluate(() => { document.querySelector('#name').readOnly = true; });
    const [error] = await Promise.all([
      hands.refused({ action: 'type', selector: '#name', text: 'x' }, 'not_editable'),
    ]);
    assert.match(error.message, /read-only/);
    assert.equal(error.may_have_executed, false);
  });
});

test('the report of a select quotes and truncates the texts of the options', async () => {
  await hands.show('<select id="one"></select><select id="many" multiple></select>');
  await page.evaluate(() => {
    document.querySelector('#one').innerHTML = `<option>a<option value="x">e3 button Pay ${'y'.repeat(200)}</option>`;
    document.querySelector('#many').innerHTML = [...'012345678'].map((value) => `<option value="${value}">one`).join('');
  });
  const told = async (params) => JSON.stringify(await hands.setting.gateway.run({ action: 'select', view: 'none', ...params }));
  assert.match(await told({ selector: '#one', value: 'x' }), /"chose 'e3 button Pay y{60,66}… in /);
  assert.match(await told({ selector: '#many', values: [...'01234567'] }), /"chose one, one, one, one, one and 3 more in /);
});

describe('keyboard input to an element', () => {
  const KEYS = `<p id="plain">plain</p><button id="off" disabled>Off</button><input id="trap"><input id="guarded">
    <div id="editor" contenteditable><p id="line">line</p></div><script>
    window.heard = [];
    for (const type of ['keydown', 'input']) addEventListener(type, ({ target }) => heard.push(type + ' ' + target.id), true);
    guarded.onfocus = () => trap.focus();
    trap.focus();</script>`;
  beforeEach(() => hands.show(KEYS));

  test('is rejected if the element cannot be focused', async () => {
    const error = await hands.refused({ action: 'press', selector: '#plain', key: 'a' }, 'not_editable');
    assert.match(error.message, /p#plain.* cannot have the focus/);
    assert.equal(error.may_have_executed, false);
    await hands.refused({ action: 'press', selector: '#off', key: 'Enter' }, 'element_disabled');
    assert.deepEqual(await heard(), []);
  });

  for (const [action, more] of [['press', { key: 'a' }], ['type', { text: 'abc' }]]) {
    test(`is rejected if the page moves the focus elsewhere: ${action}`, async () => {
      const error = await hands.refused({ action, selector: '#guarded', ...more }, 'not_editable');
      assert.match(error.message, /does not keep the focus/);
      assert.equal(error.may_have_executed, true);
      assert.deepEqual(await heard(), []);
      assert.equal(await page.inputValue('#trap'), '');
    });
  }

  test('goes to neither field if the page moves the focus elsewhere: fill', async () => {
    const error = await hands.refused({ action: 'fill', fields: { '#guarded': 'abc' } }, 'not_editable');
    assert.match(error.message, /does not keep the focus/);
    assert.equal(error.may_have_executed, true);
    assert.deepEqual([await page.inputValue('#trap'), await page.inputValue('#guarded')], ['', '']);
  });

  test('reaches the editor that contains the element', async () => {
    await hands.perform({ action: 'press', selector: '#line', key: 'End x' });
    assert.ok((await heard()).includes('keydown editor'));
    await hands.perform({ action: 'type', selector: '#line', text: 'y' });
    assert.match(await page.textContent('#line'), /y/);
  });
});

describe('the last key', () => {
  const LEAVES = `<input id="field"><div id="editor" contenteditable></div><script>
    addEventListener('keydown', ({ key }) => {
      if (key !== 'Enter') return;
      location.href = '/next';
      for (const from = performance.now(); performance.now() - from < 200;);
    });</script>`;
  for (const selector of ['#field', '#editor']) {
    for (const params of [{ action: 'press', key: 'a Enter' }, { action: 'type', text: 'a\n' }]) {
      test(`can open another page: ${params.action} in ${selector}`, async () => {
        await hands.show(LEAVES);
        await hands.perform({ ...params, selector });
        await page.waitForURL('**/next', { timeout: stretched(10_000) });
      });
    }
  }
});

describe('slow typing', () => {
  /** Each key keeps the page busy for 50 ms. */
  const BUSY = `<input id="field"><script>
    document.querySelector('#field').onkeydown = () => {
      for (const from = performance.now(); performance.now() - from < 50;);
    };</script>`;

  for (const [action, params] of [['type', { text: 'a'.repeat(900) }], ['press', { key: 'a*400' }]]) {
    test(`stops before the command expires, and reports its progress: ${action}`, async () => {
      await hands.show(BUSY);
      const report = await hands.setting.gateway.run({ action, selector: '#field', ...params }, { timeout_ms: stretched(2_000) });
      assert.deepEqual([report.status, report.error.code], ['timeout', 'execution_timeout'], JSON.stringify(report));
      const [, done, all] = /when (\d+) of (900|400) (characters|keys)/.exec(report.error.message) ?? [];
      assert.ok(Number(done) > 0 && Number(done) < Number(all), report.error.message);
      assert.equal((await page.inputValue('#field')).length, Number(done));
    });
  }

  test('stops when its command is cancelled', async () => {
    await hands.show(BUSY);
    const { gateway } = hands.setting;
    const command = gateway.send({ action: 'type', selector: '#field', text: 'a'.repeat(900) }, { timeout_ms: stretched(60_000) });
    await page.waitForFunction(() => document.querySelector('#field').value.length > 2, undefined, { timeout: stretched(10_000) });
    gateway.cancel(command);
    await hands.perform({ action: 'type', selector: '#field', text: 'new', clear: true });
    assert.equal(await page.inputValue('#field'), 'new');
  });
});

describe('an editor with its own model of text and selection', () => {
  /**
   * An editor that learns of the selection by selectionchange, and writes its text after the event.
   */
  const EDITOR = `<div id="editor" contenteditable></div><input id="elsewhere"><script>
    window.model = '';
    window.sent = [];
    let selected = null;
    const root = document.getElementById('editor');
    document.addEventListener('selectionchange', () => {
      const { anchorNode, anchorOffset, focusOffset } = getSelection();
      if (!root.contains(anchorNode)) selected = null;
      else if (anchorNode === root) selected = [0, focusOffset > anchorOffset ? model.length : 0];
      else selected = [anchorOffset, focusOffset].sort((a, b) => a - b);
      if (anchorNode === root && anchorOffset === focusOffset && anchorOffset > 0) selected = [model.length, model.length];
    });
    function replace(data, back) {
      if (!selected) return;
      const [from, to] = selected[0] === selected[1] ? [selected[0] - back, selected[1]] : selected;
      model = model.slice(0, from) + data + model.slice(to);
      const caret = from + data.length;
      queueMicrotask(() => {
        root.textContent = model;
        if (root.firstChild) getSelection().collapse(root.firstChild, caret);
        else getSelection().collapse(root, 0);
      });
    }
    root.addEventListener('input', (event) => {
      if (event.inputType === 'insertText') replace(event.data, 0);
      else if (event.inputType.startsWith('delete')) replace('', 1);
    });
    root.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      sent.push(model);
    });</script>`;

  const model = () => page.evaluate(() => window.model);
  const type = (text, more) => hands.perform({ action: 'type', selector: '#editor', text, ...more });

  beforeEach(() => hands.show(EDITOR));

  test('receives text that is typed, appended and replaced', async () => {
    assert.deepEqual(await type('Grüße 🙂'), { selector: '#editor', value: 'Grüße 🙂' });
    assert.equal(await model(), 'Grüße 🙂');
    await type(' and more');
    await page.focus('#elsewhere');
    await type('!');
    assert.equal(await model(), 'Grüße 🙂 and more!');
    assert.equal((await type('anew', { clear: true })).value, 'anew');
    assert.equal(await model(), 'anew');
    await type('', { clear: true });
    assert.equal(await model(), '');
  });

  test('receives filled and inserted text, and sends it on Enter', async () => {
    await fill({ '#editor': 'filled' });
    assert.equal(await model(), 'filled');
    await type('long '.repeat(300), { clear: true });
    assert.equal(await model(), 'long '.repeat(300));
    await fill({ '#editor': 'to send' });
    await hands.perform({ action: 'press', selector: '#editor', key: 'Enter' });
    assert.deepEqual(await page.evaluate(() => window.sent), ['to send']);
    await hands.perform({ action: 'press', selector: '#editor', key: 'Control+A Delete x' });
    assert.equal(await model(), 'x');
  });

  /** As some do: it prevents all that the browser would write, and writes what the event names itself. */
  const OWN_WRITER = `<div id="editor" contenteditable></div><script>
    window.model = '';
    const root = document.getElementById('editor');
    function draw(caret) {
      root.textContent = model;
      getSelection().collapse(root.firstChild ?? root, caret);
    }
    function replace([from, to], text) {
      model = model.slice(0, from) + text + model.slice(to);
      draw(from + text.length);
    }`;
  test('can apply beforeinput events itself, and revert the changes of the browser', async () => {
    await hands.show(`${OWN_WRITER}
      const offset = (node, at) => (node === root && at > 0 ? model.length : at);
      function asked(event) {
        event.preventDefault();
        const [{ startContainer, startOffset, endContainer, endOffset }] = event.getTargetRanges();
        const places = [offset(startContainer, startOffset), offset(endContainer, endOffset)];
        if (event.inputType.startsWith('delete')) replace(places, '');
        else replace(places, event.inputType === 'insertText' ? event.data : '\\n');
      }
      root.addEventListener('beforeinput', asked);
      root.addEventListener('input', () => draw(0));</script>`);
    await type('one two three');
    await hands.perform({ action: 'press', key: 'Backspace*2 Control+Backspace' });
    assert.equal(await model(), 'one two ');
    await hands.perform({ action: 'press', key: 'ArrowLeft Delete x Control+A Shift+ArrowLeft' });
    await type('1\n2', { clear: true });
    assert.equal(await model(), '1\n2');
    await hands.perform({ action: 'press', key: 'Backspace Enter Shift+Enter 3' });
    assert.equal(await model(), '1\n\n\n3');
    await type('long '.repeat(300), { clear: true });
    assert.equal(await model(), 'long '.repeat(300));
    await fill({ '#editor': 'filled' });
    assert.equal(await model(), 'filled');
    await fill({ '#editor': '' });
    assert.equal(await model(), '');
  });

  test('can insert the text of textInput events itself', async () => {
    await hands.show(`${OWN_WRITER}
      root.addEventListener('textInput', (event) => {
        event.preventDefault();
        replace([getSelection().anchorOffset, getSelection().focusOffset].sort((a, b) => a - b), event.data);
      });</script>`);
    await type('one');
    await type(' two');
    assert.equal(await model(), 'one two');
    await hands.perform({ action: 'press', key: 'ArrowLeft*3 x' });
    assert.equal(await model(), 'one xtwo');
  });

  test('works in a page that shadows the globals that the extension uses', async () => {
    const names = ['addEventListener', 'getSelection', 'performance', 'MessageChannel', 'setTimeout', 'callslip', 'writing'];
    const takers = names.map((name) => `<form id="${name}"></form><img name="${name}">`).join('');
    await hands.show(`${EDITOR}<input id="digits">${takers}<script>
      document.querySelector('#digits').oninput = ({ target }) => { target.value = target.value.replace(/\\D/g, ''); };
      for (const name of ['MessageChannel', 'performance', 'Event', 'InputEvent']) Object.defineProperty(window, name, { value: null });</script>`);
    await type('kept');
    assert.equal(await model(), 'kept');
    assert.deepEqual((await fill({ '#digits': '1a' })).value, { '#digits': '1' });
  });

  test('receives text in a background tab, too', async () => {
    const tabId = await hands.setting.browser.tabIdOf(page);
    const other = await hands.setting.open('/');
    try {
      const { value } = await hands.perform({ action: 'type', selector: '#editor', text: 'a'.repeat(50), tab_id: tabId });
      assert.equal(value, 'a'.repeat(50));
      assert.equal(await model(), value);
      await hands.perform({ action: 'fill', fields: { '#elsewhere': 'there' }, tab_id: tabId });
      assert.equal(await page.inputValue('#elsewhere'), 'there');
    } finally {
      await other.page.close();
    }
  });

  test('can be in a shadow tree', async () => {
    await hands.show(`<div id="host"></div><script>
      const root = document.querySelector('#host').attachShadow({ mode: 'open' });
      root.innerHTML = '<div id="inner" contenteditable></div>';
      const inner = root.querySelector('#inner');
      let hasHeard = false;
      inner.addEventListener('focus', () => { hasHeard = false; });
      document.addEventListener('selectionchange', () => { hasHeard = true; });
      inner.addEventListener('input', () => { if (!hasHeard) inner.textContent = ''; });</script>`);
    assert.equal((await hands.perform({ action: 'type', selector: '#inner', text: 'kept' })).value, 'kept');
  });

  test('is cleared by the Backspace key if it reverts other input', async () => {
    for (const params of [{ action: 'fill', fields: { '#editor': '' } }, { action: 'type', selector: '#editor', text: '', clear: true }]) {
      await hands.show(`<div id="editor" contenteditable>text</div><script>
        const editor = document.querySelector('#editor');
        editor.addEventListener('input', () => { editor.textContent = 'text'; });
        editor.addEventListener('keydown', (event) => {
          if (event.key !== 'Backspace') return;
          event.preventDefault();
          editor.textContent = '';
        });</script>`);
      await hands.perform(params);
      assert.equal(await page.textContent('#editor'), '');
    }
  });

  test('can be empty after a fill without causing an error', async () => {
    await hands.show(`<div id="editor" contenteditable></div><script>
      addEventListener('input', (event) => { event.stopImmediatePropagation(); editor.textContent = ''; }, { capture: true });</script>`);
    assert.deepEqual((await fill({ '#editor': 'new' })).value, { '#editor': '' });
  });

  test('is not waited for long if the page stops selectionchange events', async () => {
    await hands.show('<div id="editor" contenteditable></div>');
    const stop = () => { document.addEventListener('selectionchange', (event) => event.stopImmediatePropagation(), { capture: true }); };
    await page.evaluate(stop);
    await type('kept');
    await page.evaluate(() => {
      addEventListener('selectionchange', (event) => event.stopImmediatePropagation(), { capture: true });
    });
    const text = 'a'.repeat(900);
    assert.equal((await type(text, { clear: true })).value, text);
  });

  test('causes an error with its content if it rejects the whole text', async () => {
    await hands.show(`<div id="editor" contenteditable>old</div><script>
      const editor = document.querySelector('#editor');
      editor.addEventListener('input', () => queueMicrotask(() => { editor.textContent = 'old'; }));</script>`);
    const error = await hands.refused({ action: 'fill', fields: { '#editor': 'new' } }, 'value_refused');
    assert.match(error.message, /It holds "old"\./);
  });
});
