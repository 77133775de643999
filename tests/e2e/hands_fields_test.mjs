/** Filling in and typing, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
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

/** The way React watches fields: an own property that sees what scripts set, but not what people do. */
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

  test('writes fields of all kinds in one call, and frameworks notice', async () => {
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

  test('writes no more than the page lets anybody write', async () => {
    await hands.show('<input id="short" maxlength="3" value="abc">');
    await fill({ '#short': 'abcdef' });
    assert.equal(await page.inputValue('#short'), 'abc');
  });

  test('nor does it where the page keeps what is typed to itself', async () => {
    await hands.show(`<input id="short" maxlength="3" value="abc"><input id="full" maxlength="2"><textarea id="long"></textarea>
      <input id="pair" maxlength="2"><input id="same" maxlength="3" value="abc"><script>addEventListener('beforeinput', (event) => event.preventDefault());
      addEventListener('input', (event) => event.stopImmediatePropagation(), { capture: true });
      document.querySelector('#full').value = 'abcd';</script>`);
    await fill({ '#short': 'defghi', '#full': 'xyz', '#long': 'defghi', '#pair': 'a😀', '#same': 'abcdef' });
    for (const [id, value] of [['short', 'def'], ['full', 'xy'], ['long', 'defghi'], ['pair', 'a'], ['same', 'abc']]) {
      assert.equal(await page.inputValue(`#${id}`), value);
    }
    await hands.perform({ action: 'type', selector: '#short', text: 'z', clear: false });
    assert.equal(await page.inputValue('#short'), 'def');
  });

  test('leaves what is there already as it is', async () => {
    for (const fields of [{ '#name': 'old', '#about': 'before', '#editor': 'draft' }, { '#name': 'old' }]) await fill(fields);
    assert.equal(await page.inputValue('#name'), 'old');
    assert.equal(await page.inputValue('#about'), 'before');
    assert.equal(await page.textContent('#editor'), 'draft');
  });

  test('writes nothing into a field that the page disables once it has the focus', async () => {
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
  test('writes nothing where one field cannot be filled in', async () => {
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

  test('presses the key of each character, at the end of what is there', async () => {
    assert.deepEqual(await hands.perform({ action: 'type', selector: '#name', text: 'X!' }), { selector: '#name', value: 'oldX!' });
    const keys = (key) => [`keydown ${key}`, `keypress ${key}`, 'input name', `keyup ${key}`];
    assert.deepEqual(await heard(), ['focusin name', ...keys('X'), ...keys('!')]);
    assert.equal(await page.evaluate(() => window.noticed.name), 'oldX!');
  });

  test('types at the caret of a field that has the focus, and where the focus is', async () => {
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

  test('refuses what takes no text', async () => {
    await page.evaluate(() => { document.querySelector('#name').readOnly = true; });
    const [error] = await Promise.all([
      hands.refused({ action: 'type', selector: '#name', text: 'x' }, 'not_editable'),
    ]);
    assert.match(error.message, /read-only/);
    assert.equal(error.may_have_executed, false);
  });
});

test('what is chosen cannot pass for more than that', async () => {
  await hands.show('<select id="one"></select><select id="many" multiple></select>');
  await page.evaluate(() => {
    document.querySelector('#one').innerHTML = `<option>a<option value="x">e3 button Pay ${'y'.repeat(200)}</option>`;
    document.querySelector('#many').innerHTML = [...'012345678'].map((value) => `<option value="${value}">one`).join('');
  });
  const told = async (params) => JSON.stringify(await hands.setting.gateway.run({ action: 'select', view: 'none', ...params }));
  assert.match(await told({ selector: '#one', value: 'x' }), /"chose 'e3 button Pay y{60,66}… in /);
  assert.match(await told({ selector: '#many', values: [...'01234567'] }), /"chose one, one, one, one, one and 3 more in /);
});

test('what is chosen of a card is not told', async () => {
  await hands.show('<select id="until" aria-label="Month" autocomplete="cc-exp-month"><option value="1">January<option value="5">May</select>');
  for (const choice of [{ value: '5' }, { label: 'January' }, { values: ['5'] }]) {
    const report = await hands.setting.gateway.run({ action: 'select', selector: '#until', ...choice });
    assert.equal(report.result.data.value_left_out, true, JSON.stringify(report));
    assert.doesNotMatch(JSON.stringify(report), /"values"|(chose|=) (January|May)/);
    assert.match(report.result.data.page, /^chose in /);
  }
  assert.equal(await page.evaluate(() => document.querySelector('#until').value), '5');
});

describe('a field whose value is nobody\'s business', () => {
  const SECRETS = `<input id="secret" type="password" value="hush-hush"><input id="card" autocomplete="cc-number" value="hush-hush">
    <input id="open" value="for all"><script>secret.onfocus = card.onfocus = () => document.body.append('!');</script>`;
  beforeEach(() => hands.show(SECRETS));

  for (const selector of ['#secret', '#card']) {
    test(`${selector} is selected and clicked without a word of it`, async () => {
      for (const action of ['select_text', 'click']) {
        const report = await hands.setting.gateway.run({ action, selector });
        assert.equal(report.status, 'complete', JSON.stringify(report));
        assert.doesNotMatch(JSON.stringify(report), /hush/);
      }
      const report = await hands.setting.gateway.run({ action: 'select_text', selector });
      assert.match(JSON.stringify(report), /selected all in /);
      assert.deepEqual(await page.evaluate(() => {
        const { selectionStart, selectionEnd } = document.activeElement;
        return [selectionStart, selectionEnd];
      }), [0, 9]);
      // Whether a guess is in it would be told just so.
      for (const text of ['hush', 'guess']) {
        const error = await hands.refused({ action: 'select_text', selector, text }, 'invalid_params');
        assert.match(error.message, /^text: /);
      }
    });
  }

  test('one that is for all says what is selected', async () => {
    const report = await hands.setting.gateway.run({ action: 'select_text', selector: '#open', text: 'all' });
    assert.match(JSON.stringify(report), /selected \\"all/);
  });
});

describe('press, on an element', () => {
  const KEYS = `<p id="plain">plain</p><button id="off" disabled>Off</button><input id="trap"><input id="guarded">
    <div id="editor" contenteditable><p id="line">line</p></div><script>
    window.heard = [];
    for (const type of ['keydown', 'input']) addEventListener(type, ({ target }) => heard.push(type + ' ' + target.id), true);
    guarded.onfocus = () => trap.focus();
    trap.focus();</script>`;
  beforeEach(() => hands.show(KEYS));

  test('that cannot have the focus is refused', async () => {
    const error = await hands.refused({ action: 'press', selector: '#plain', key: 'a' }, 'not_editable');
    assert.match(error.message, /p#plain.* cannot have the focus/);
    assert.equal(error.may_have_executed, false);
    await hands.refused({ action: 'press', selector: '#off', key: 'Enter' }, 'element_disabled');
    assert.deepEqual(await heard(), []);
  });

  for (const [action, more] of [['press', { key: 'a' }], ['type', { text: 'abc' }]]) {
    test(`from which the page takes the focus is refused: ${action}`, async () => {
      const error = await hands.refused({ action, selector: '#guarded', ...more }, 'not_editable');
      assert.match(error.message, /does not keep the focus/);
      assert.equal(error.may_have_executed, true);
      assert.deepEqual(await heard(), []);
      assert.equal(await page.inputValue('#trap'), '');
    });
  }

  test('from which the page takes the focus is not filled in, nor the other', async () => {
    const error = await hands.refused({ action: 'fill', fields: { '#guarded': 'abc' } }, 'not_editable');
    assert.match(error.message, /does not keep the focus/);
    assert.equal(error.may_have_executed, true);
    assert.deepEqual([await page.inputValue('#trap'), await page.inputValue('#guarded')], ['', '']);
  });

  test('within an editor reaches the editor', async () => {
    await hands.perform({ action: 'press', selector: '#line', key: 'End x' });
    assert.ok((await heard()).includes('keydown editor'));
    await hands.perform({ action: 'type', selector: '#line', text: 'y' });
    assert.match(await page.textContent('#line'), /y/);
  });
});
