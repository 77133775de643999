/** Filling in and typing, in a real Chromium. */
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

  test('refuses more than a field has room for, and nothing is written', async () => {
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

  test('has that room where the page keeps what is typed to itself, too', async () => {
    await hands.show(`<input id="short" maxlength="3" value="abc"><input id="full" maxlength="2"><textarea id="long"></textarea>
      <input id="pair" maxlength="3"><script>addEventListener('beforeinput', (event) => event.preventDefault());
      addEventListener('input', (event) => event.stopImmediatePropagation(), { capture: true });
      document.querySelector('#full').value = 'abcd';</script>`);
    await fill({ '#short': 'def', '#full': 'xy', '#long': 'defghi', '#pair': 'a😀' });
    for (const [id, value] of [['short', 'def'], ['full', 'xy'], ['long', 'defghi'], ['pair', 'a😀']]) {
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

describe('a field that cannot hold a value', () => {
  /** By type: what it holds, what is refused, and a word of what it wants. */
  const TYPES = {
    date: ['2026-11-24', ['24.11.2026', '2026-02-30', 'soon'], 'such as 2026-11-24'],
    time: ['09:30', ['9:30', '25:00', '9 am'], 'such as 09:30'],
    month: ['2026-11', ['2026-13', 'November'], 'such as 2026-11'],
    week: ['2026-W48', ['2026-W60', '48'], 'such as 2026-W48'],
    'datetime-local': ['2026-11-24T09:30', ['2026-11-24', 'now'], 'such as 2026-11-24T09:30'],
    color: ['#1a2b3c', ['#ggg', 'reddish'], 'such as #1a2b3c'],
    range: ['30', ['101', 'loud'], 'from 0 to 100'],
    number: ['36.5', ['many', '1,5', '0x10', '12 years'], 'a number'],
  };

  /** Nobody types into these. */
  const NOT_TYPED = ['color', 'range'];

  for (const [type, [good, bad, wish]] of Object.entries(TYPES)) {
    test(`of the type ${type} says what it wants, and stays as it was`, async () => {
      await hands.show(`<input id="field" type="${type}">`);
      await fill({ '#field': good });
      assert.equal(await page.inputValue('#field'), good);
      for (const value of bad) {
        const error = await hands.refused({ action: 'fill', fields: { '#field': value } }, 'invalid_params');
        assert.ok(error.message.includes(wish), error.message);
        assert.ok(error.message.includes(`It holds ${JSON.stringify(good)}.`), error.message);
        assert.equal(error.may_have_executed, false);
        assert.equal(await page.inputValue('#field'), good);
        if (NOT_TYPED.includes(type)) continue;
        const typed = { action: 'type', selector: '#field', text: value, clear: true };
        const refused = await hands.refused(typed, 'invalid_params');
        assert.ok(refused.message.includes(wish), refused.message);
        assert.ok(refused.message.includes(`It holds ${JSON.stringify(good)}.`), refused.message);
        assert.equal(await page.inputValue('#field'), good);
      }
      if (NOT_TYPED.includes(type)) return;
      const { value } = await hands.perform({ action: 'type', selector: '#field', text: good, clear: true });
      assert.equal(value, good);
    });
  }

  test('may be emptied, and takes a date in another form of its own', async () => {
    await hands.show('<input id="day" type="date" value="2026-01-01"><input id="age" type="number" value="3"><input id="at" type="datetime-local">');
    await fill({ '#day': '', '#age': '', '#at': '2026-11-24 09:30' });
    for (const [id, value] of [['day', ''], ['age', ''], ['at', '2026-11-24T09:30']]) assert.equal(await page.inputValue(`#${id}`), value);
  });

  test('is told of without a selector, too', async () => {
    await hands.show('<input id="day" type="date" value="2026-01-01">');
    await page.focus('#day');
    const error = await hands.refused({ action: 'type', text: 'soon' }, 'invalid_params');
    assert.match(error.message, /such as 2026-11-24, not "soon"\. It holds "2026-01-01"\./);
    await hands.perform({ action: 'type', text: '2026-01-02' });
    assert.equal(await page.inputValue('#day'), '2026-01-02');
    await hands.perform({ action: 'press', key: '5' });
    assert.equal(await page.inputValue('#day'), '2026-01-02');
  });

  test('has as much of what is typed as it has room for', async () => {
    await hands.show('<input id="short" maxlength="5" value="ab"><input id="signs" maxlength="3">');
    for (const [selector, text, value] of [['#short', 'cde', 'abcde'], ['#short', 'f', 'abcde'], ['#signs', '!!!!', '!!!']]) {
      assert.equal((await hands.perform({ action: 'type', selector, text })).value, value);
    }
  });

  test('has a line break left out, which counts as one where it stays', async () => {
    await hands.show('<input id="name" maxlength="3"><textarea id="note" maxlength="3"></textarea>');
    assert.deepEqual((await fill({ '#name': 'Ada\n', '#note': 'a\r\nb' })).value, { '#name': 'Ada' });
    assert.equal(await page.inputValue('#note'), 'a\nb');
  });

  test('for numbers takes what the browser takes from people', async () => {
    await hands.show('<input id="number" type="number">');
    for (const text of ['+5', '5.', ' 5 ']) {
      await fill({ '#number': text });
      assert.equal(await page.inputValue('#number'), '5');
    }
    for (const [text, value, clear] of [['-', '', true], ['7', '-7'], ['e', ''], ['1\n', '-7e1'], ['', '', true]]) {
      assert.equal((await hands.perform({ action: 'type', selector: '#number', text, clear })).value, value);
    }
  });

  const MASK = `<input id="digits" value="7" inputmode="numeric" pattern="[0-9]*"><input id="later"><input id="blocked" value="7"><input id="reverted" value="old">
    <input id="slow"><input id="phone"><input id="upper"><input id="price" value="1"><input id="cents" value="0.00"><input id="thousands"><input id="trimmed"><script>
    const on = (id, mask) => document.getElementById(id).addEventListener('input', ({ target }) => mask(target));
    const digits = (field) => { field.value = field.value.replace(/\\D/g, ''); };
    on('digits', digits);
    on('later', (field) => setTimeout(digits, 0, field));
    document.querySelector('#blocked').onkeypress = ({ key }) => /\\d/.test(key);
    on('reverted', (field) => queueMicrotask(() => { field.value = 'old'; }));
    on('slow', (field) => { const { value } = field; field.value = ''; setTimeout(() => { field.value = value; }, 100); });
    on('phone', (field) => { field.value = field.value.replace(/\\D/g, '').replace(/^(\\d{3})(\\d{3})(\\d+)$/, '($1) $2-$3'); });
    on('upper', (field) => { field.value = field.value.toUpperCase(); });
    on('cents', (field) => { field.value = (Number(field.value.replace(/\\D/g, '')) / 100).toFixed(2); });
    on('trimmed', (field) => { field.value = field.value.trim(); });
    on('thousands', (field) => { field.value = Number(field.value.replaceAll(',', '')).toLocaleString('en'); });
    on('price', (field) => { field.value = Number(field.value).toFixed(2) + ' €'; });</script>`;

  test('as the page masks it, is left as the page made it, which the answer tells', async () => {
    for (const selector of ['#digits', '#later', '#first']) {
      await hands.show(`<input id="first" value="7">${MASK}<script>addEventListener('input', ({ target }) => {
        if (target.id === 'first') target.value = target.value.replace(/\\D/g, '');
      }, { capture: true });</script>`);
      assert.deepEqual((await fill({ [selector]: '12ab' })).value, { [selector]: '12' });
      assert.equal((await hands.perform({ action: 'type', selector, text: 'a34', clear: true })).value, '34');
    }
    assert.equal((await hands.perform({ action: 'type', selector: '#blocked', text: '12ab', clear: true })).value, '12');
  });

  for (const text of ['new', '!!!', '👍', '…']) {
    test(`as the page keeps its own value, is refused: ${text}`, async () => {
      await hands.show(MASK);
      const error = await hands.refused({ action: 'fill', fields: { '#reverted': text } }, 'value_refused');
      assert.match(error.message, /It holds "old"\./);
      assert.equal(error.may_have_executed, true);
      assert.equal(await page.inputValue('#reverted'), 'old');
      const typed = await hands.perform({ action: 'type', selector: '#reverted', text, clear: true });
      assert.equal(typed.value, 'old');
    });
  }

  test('as the page may have taken the value, and shows the same as before, has not refused it', async () => {
    /** By what it is: what it holds, what the page makes of a text, what is given, and what it holds then. */
    const SHOWN = {
      phone: ['(202) 555-0100', 'text.replace(/\\D/g, "").slice(-10).replace(/(...)(...)(.*)/, "($1) $2-$3")', '+1 202 555 0100'],
      thousands: ['1,000.00', 'Number(text.replaceAll(",", "")).toLocaleString("en", { minimumFractionDigits: 2 })', '1000'],
      price: ['1.00', 'Number(text).toFixed(2)', '1'],
      part: ['12345', 'text.slice(0, 5)', '12345-6789'],
      day: ['11/24/2026', 'text.replace(/^(\\d+)-(\\d+)-(\\d+)$/, "$2/$3/$1")', '2026-11-24'],
      bullets: ['•••', '"•".repeat(text.length)', 'new'],
      ending: ['***-**-6789', '"***-**-" + text.slice(-4)', '111226789'],
      beginning: ['old', '"old"', 'o'],
      mail: ['a@xn--mller-kva.de', 'text', 'a@müller.de'],
      cleared: ['1', 'text || "1"', ''],
      'sharp s': ['STRASSE', 'text.toUpperCase()', 'Straße'],
      'capital sharp s': ['Straße', '"Straße"', 'STRAẞE'],
      umlaut: ['MUELLER', 'text.replaceAll("ü", "ue").toUpperCase()', 'Müller'],
      accents: ['Jose', 'text.normalize("NFD").replace(/\\p{M}/gu, "")', 'José'],
      'wide digits': ['123', 'text.normalize("NFKC")', '１２３'],
      time: ['2:30 PM', '"2:30 PM"', '14:30'],
      fraction: ['0.5', '"0.5"', '1/2'],
      'day in words': ['Tue 24 Nov', '"Tue 24 Nov"', '2026-11-24'],
    };
    for (const [what, [before, mask, text]] of Object.entries(SHOWN)) {
      await hands.show(`<input id="field" type="${what === 'mail' ? 'email' : 'text'}" value="${before}"><script>
        field.oninput = () => { const text = field.value; field.value = ${mask}; };</script>`);
      assert.deepEqual((await fill({ '#field': text })).value, { '#field': before }, what);
    }
    await hands.show(`${'<input>'.repeat(6)}<script>
      const all = [...document.querySelectorAll('input')];
      all[0].oninput = ({ target: { value } }) => all.forEach((field, at) => { field.value = value[at]; });</script>`);
    for (const code of ['123456', '199999']) {
      assert.deepEqual((await fill({ 'input:first-of-type': code })).value, { 'input:first-of-type': '1' });
      assert.equal(await page.evaluate(() => all.map(({ value }) => value).join('')), code);
    }
    await hands.show(`<div id="editor" contenteditable>old</div><script>editor.oninput = () => {
      editor.textContent = '';
      setTimeout(() => { editor.textContent = 'old'; }, 50);
    };</script>`);
    assert.deepEqual((await fill({ '#editor': 'new' })).value, { '#editor': 'old' });
  });

  test('does not keep the others from being filled in', async () => {
    await hands.show(`<input id="one"><input id="two" value="old"><input id="three"><input id="four" value="old"><input id="five"><script>
      two.oninput = four.oninput = ({ target }) => { target.value = 'old'; };</script>`);
    const fields = { '#one': '1', '#two': '2', '#three': '3', '#four': '4', '#five': '5' };
    const error = await hands.refused({ action: 'fill', fields }, 'value_refused');
    assert.match(error.message, /^Filled in: .*\. #two: .*It holds "old"\. #four: .*It holds "old"\.$/);
    const values = await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value));
    assert.deepEqual(values, ['1', 'old', '3', 'old', '5']);
  });

  const MANY = (mask) => `${Array.from({ length: 90 }, (_, at) => `<input id="i${at}">`).join('')}<script>
    for (const field of document.querySelectorAll('input')) field.oninput = () => { ${mask}; };</script>`;
  const manyFields = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`#i${at}`, '5']));
  for (const mask of ['field.value = Number(field.value).toFixed(2)', "field.value = ''"]) {
    test(`is waited for no longer where there are many: ${mask}`, async () => {
      await hands.show(MANY(mask));
      const from = performance.now();
      assert.equal(Object.keys((await fill(manyFields)).value).length, 90);
      const waited = performance.now() - from;
      assert.ok(waited < stretched(9_000), `${waited} ms`);
    });
  }

  test('in time is told with how far filling in came', async () => {
    await hands.show(MANY('for (const from = performance.now(); performance.now() - from < 100;)'));
    const report = await hands.setting.gateway.run({ action: 'fill', fields: manyFields }, { timeout_ms: stretched(4_000) });
    assert.deepEqual([report.status, report.error.code], ['timeout', 'execution_timeout'], JSON.stringify(report));
    const [, done] = /when (\d+) of 90 fields had been filled in; the next is #i\1\./.exec(report.error.message) ?? [];
    assert.ok(Number(done) > 0, report.error.message);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('input')].filter(({ value }) => value).length), Number(done));
  });

  test('that becomes one for a password is not told', async () => {
    await hands.show(`<input id="field"><script>field.oninput = () => {
      if (field.value === 'hush') setTimeout(() => { field.type = 'password'; }, 0);
    };</script>`);
    for (let time = 0; time < 5; time += 1) {
      await page.evaluate(() => { field.type = 'text'; });
      const answer = await hands.perform({ action: 'type', selector: '#field', text: 'hush', clear: true });
      assert.equal('value' in answer && 'value_left_out' in answer, false, JSON.stringify(answer));
    }
  });

  test('is told no further than 200 characters', async () => {
    await hands.show('<textarea id="field"></textarea><script>field.oninput = () => { field.value = field.value.toUpperCase(); };</script>');
    assert.deepEqual((await fill({ '#field': 'a'.repeat(300) })).value, { '#field': `${'A'.repeat(199)}…` });
  });

  test('as the page changes it once it has changed, is told in the answer', async () => {
    await hands.show(`<input id="taken" onchange="sent.push(this.value); this.value = ''"><input id="clamped" value="3" onchange="this.value = 10">
      <input id="plain" onchange="sent.push(this.value)"><input id="next"><script>window.sent = [];</script>`);
    const { value } = await fill({ '#taken': 'one', '#clamped': '99', '#plain': 'two', '#next': 'x' });
    assert.deepEqual(value, { '#taken': '', '#clamped': '10' });
    assert.deepEqual(new Set(await page.evaluate(() => window.sent)), new Set(['one', 'two']));
  });

  const RESET = {
    text: ['1', '5'], number: ['1', '5'], search: ['old', 'new'], range: ['10', '50'], date: ['2026-01-01', '2026-11-24'], textarea: ['old', 'new'],
  };
  for (const [type, [before, given]] of Object.entries(RESET)) {
    for (const [when, reset] of [['at once', 'reset()'], ['after that', 'setTimeout(reset, 0)']]) {
      test(`of which the page takes the value, and puts its own back ${when}, has not refused it: ${type}`, async () => {
        await hands.show(`<${type === 'textarea' ? 'textarea' : `input type="${type}"`} id="field"></textarea><script>
          window.sent = [];
          const field = document.querySelector('#field');
          const reset = () => { field.value = '${before}'; };
          reset();
          field.onchange = () => { sent.push(field.value); ${reset}; };</script>`);
        assert.deepEqual((await fill({ '#field': given })).value, { '#field': before });
        assert.deepEqual(await page.evaluate(() => window.sent), [given]);
      });
    }
  }

  test('that it holds in another form already is not refused', async () => {
    await hands.show('<input id="at" type="datetime-local" value="2026-11-24T09:30"><input id="mail" type="email" value="a@page.test">');
    assert.deepEqual((await fill({ '#at': '2026-11-24 09:30', '#mail': ' a@page.test ' })).value, { '#at': '2026-11-24T09:30', '#mail': 'a@page.test' });
  });

  test('may be given the same again, in the form that it has not', async () => {
    await hands.show(`<input id="phone"><input id="day"><input id="country"><script>
      window.sent = [];
      addEventListener('change', ({ target }) => sent.push(target.id));
      const on = (id, mask) => document.getElementById(id).addEventListener('input', ({ target }) => { target.value = mask(target.value); });
      on('phone', (text) => { const [a = '', b = '', c = ''] = text.replace(/\\D/g, '').match(/(.{0,3})(.{0,3})(.{0,4})/).slice(1);
        return '(' + a.padEnd(3, '_') + ') ' + b.padEnd(3, '_') + '-' + c.padEnd(4, '_'); });
      on('day', (text) => text.replace(/^(\\d+)-(\\d+)-(\\d+)$/, '$2/$3/$1'));
      on('country', (text) => (text === 'at' ? 'Austria' : text));</script>`);
    const made = { '#phone': '(555) 123-4567', '#day': '11/24/2026', '#country': 'Austria' };
    for (let time = 0; time < 3; time += 1) {
      assert.deepEqual((await fill({ '#phone': '5551234567', '#day': '2026-11-24', '#country': 'at' })).value, made);
    }
    assert.deepEqual(await page.evaluate(() => window.sent.splice(0)), ['phone', 'day', 'country']);
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual((await fill({ '#phone': '' })).value, { '#phone': '(___) ___-____' });
    }
  });

  test('says so where the page makes more of it', async () => {
    await hands.show(`<input id="ten"><script>ten.oninput = () => { ten.value = '10'; };</script>`);
    assert.deepEqual((await fill({ '#ten': '1' })).value, { '#ten': '10' });
  });

  test('may be an editor of any element, with a placeholder in it', async () => {
    await hands.show(`<ul><li id="item" contenteditable>old</li></ul><button id="button" contenteditable>old</button>
      <div id="empty" contenteditable>Write here</div><script>empty.oninput = () => { empty.textContent = 'Write here'; };</script>`);
    for (const selector of ['#item', '#button']) {
      await fill({ [selector]: 'new' });
      assert.equal(await page.textContent(selector), 'new');
      assert.equal((await hands.perform({ action: 'type', selector, text: 'er' })).value, 'newer');
    }
    assert.deepEqual((await fill({ '#empty': '' })).value, { '#empty': 'Write here' });
  });

  test('holds it in the form that the page gives it, at once or soon, and the answer says so', async () => {
    await hands.show(MASK);
    const fields = {
      '#phone': '5551234567', '#upper': 'abc', '#price': '12.5', '#digits': '42', '#thousands': '1234', '#trimmed': ' a b ', '#slow': 'new',
    };
    const report = await hands.setting.gateway.run({ action: 'fill', fields });
    assert.match(JSON.stringify(report), /filled .*\(value \\"\(555\) 123-4567\\"\).*\(value \\"ABC\\"\)/);
    const held = { phone: '(555) 123-4567', upper: 'ABC', price: '12.50 €', digits: '42', thousands: '1,234', trimmed: 'a b', slow: 'new' };
    for (const [id, value] of Object.entries(held)) assert.equal(await page.inputValue(`#${id}`), value);
    const typed = await hands.perform({ action: 'type', selector: '#thousands', text: '5' });
    assert.equal(typed.value, '12,345');
    assert.equal((await hands.perform({ action: 'type', selector: '#cents', text: '1250' })).value, '12.50');
  });

  test('may be empty by what the page does with the value', async () => {
    await hands.show(`<input id="chat"><input id="tags"><input id="letters"><textarea id="terminal"></textarea><script>
      window.sent = [];
      const send = (field) => { sent.push(field.value); field.value = ''; };
      document.querySelector('#chat').oninput = ({ target }) => { if (target.value === 'hello') send(target); };
      document.querySelector('#chat').onkeydown = ({ key, target }) => { if (key === 'Enter') send(target); };
      document.querySelector('#tags').onkeydown = (event) => {
        if (event.key !== ',') return;
        event.preventDefault();
        send(event.target);
      };
      document.querySelector('#letters').oninput = ({ target }) => setTimeout(send, 50, target);
      document.querySelector('#terminal').onkeydown = ({ key }) => { sent.push(key); return false; };</script>`);
    const report = await hands.setting.gateway.run({ action: 'fill', fields: { '#chat': 'hello', '#letters': 'ab' } });
    assert.equal(report.status, 'complete', JSON.stringify(report));
    assert.match(JSON.stringify(report), /filled textbox \(value \\"\\"\), textbox, /);
    await page.waitForFunction(() => window.sent.length === 2, undefined, { timeout: stretched(10_000) });
    for (const [selector, text, value] of [['#chat', 'hello', ''], ['#chat', 'x\n', ''], ['#tags', 'one,two', 'two'], ['#terminal', 'ls', '']]) {
      assert.equal((await hands.perform({ action: 'type', selector, text })).value, value);
    }
    assert.deepEqual(await page.evaluate(() => window.sent), ['hello', 'ab', 'hello', 'x', 'one', 'l', 's']);
  });

  test('does not keep those from getting their part that take one character each', async () => {
    await hands.show(`${'<input maxlength="1">'.repeat(4)}<script>
      for (const field of document.querySelectorAll('input')) {
        field.oninput = () => field.nextElementSibling.focus?.();
      }</script>`);
    await hands.perform({ action: 'type', selector: 'input:first-of-type', text: '1234' });
    const values = await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value));
    assert.deepEqual(values, ['1', '2', '3', '4']);
  });

  const SECRETS = ['type="password"', 'autocomplete="cc-number"', 'autocomplete="cc-csc"', 'autocomplete="one-time-code"'];
  for (const kind of SECRETS) {
    test(`does not tell the secret that it refuses: ${kind}`, async () => {
      await hands.show(`<input id="pin" ${kind} maxlength="9" value="old-hush"><input id="kept" ${kind} value="old-hush"><script>
        pin.oninput = () => { pin.value = pin.value.replaceAll('x', ''); };
        kept.oninput = () => { kept.type = 'text'; kept.autocomplete = ''; kept.value = 'old-hush'; };</script>`);
      const asked = [
        [{ action: 'fill', fields: { '#pin': 'hush-hush-hush' } }, /at most 9 characters, not what was given/],
        [{ action: 'fill', fields: { '#kept': 'hush-two-hush' } }, /does not keep the value/],
        [{ action: 'fill', fields: { '#pin': 'xhush' } }],
        [{ action: 'type', selector: '#pin', text: 'xhush-hush-hush', clear: true }],
      ];
      for (const [params, message] of asked) {
        const report = await hands.setting.gateway.run({ ...params, view: 'none' });
        assert.equal(report.status, message ? 'error' : 'complete');
        if (message) assert.match(report.error.message, message);
        if (message) assert.match(report.error.message, /What it holds is not shown\./);
        assert.equal(JSON.stringify(report).includes('hush'), false, JSON.stringify(report));
      }
    });

    test(`does not tell the secret that the page shows: ${kind}`, async () => {
      for (const params of [{ action: 'fill', fields: { '#pin': 'xhush' } }, { action: 'type', selector: '#pin', text: 'xhush' }]) {
        await hands.show(`<input id="pin" ${kind}><script>
          pin.oninput = () => { pin.type = 'text'; pin.autocomplete = ''; pin.value = pin.value.replaceAll('x', ''); };</script>`);
        const report = await hands.setting.gateway.run({ ...params, view: 'none' });
        assert.equal(report.status, 'complete');
        assert.equal(JSON.stringify(report).includes('hush'), false, JSON.stringify(report));
      }
    });
  }

  test('is no matter of keys that the page has taken', async () => {
    await hands.show(`<input id="ready" readonly value="ready"><input id="sum" value="0"><script>
      sum.onkeydown = (event) => { event.preventDefault(); sum.value = String(Number(sum.value) + Number(event.key)); };</script>`);
    await page.focus('#ready');
    assert.equal((await hands.perform({ action: 'type', text: 'x', clear: true })).value, 'ready');
    assert.equal((await hands.perform({ action: 'type', text: 'x'.repeat(1_100), clear: true })).value, 'ready');
    assert.equal((await hands.perform({ action: 'type', selector: '#sum', text: '123', clear: true })).value, '6');
  });
});

describe('an element that loses the focus before it has the text', () => {
  const LOSING = {
    editor: '<div id="a" contenteditable></div><input id="b"><script>a.onfocus = () => setTimeout(() => b.focus(), 0);</script>',
    password: `<input id="a" type="password"><input id="b"><script>a.onfocus = () => {
      for (const from = performance.now(); performance.now() - from < 80;);
      setTimeout(() => b.focus(), 0);
    };</script>`,
  };
  const WAYS = {
    fill: { action: 'fill', fields: { '#a': 'private' } },
    type: { action: 'type', selector: '#a', text: 'private' },
    clear: { action: 'type', selector: '#a', text: 'private', clear: true },
    'type at once': { action: 'type', selector: '#a', text: 'private '.repeat(200) },
    press: { action: 'press', selector: '#a', key: 'p r i' },
  };
  for (const [kind, html] of Object.entries(LOSING)) {
    for (const [way, params] of Object.entries(WAYS)) {
      test(`is refused, and nothing is written elsewhere: ${kind}, ${way}`, async () => {
        await hands.show(html);
        const error = await hands.refused(params, 'not_editable');
        assert.match(error.message, /does not keep the focus/);
        assert.equal(await page.inputValue('#b'), '');
        assert.equal(await page.evaluate(() => a.textContent + (a.value ?? '')), '');
      });
    }
  }

  for (const [type, when] of [['input', 'value.length === 3'], ['keydown', 'value.length === 3'], ['keypress', 'value.length === 3']]) {
    test(`and is a secret, has no more typed: ${type}`, async () => {
      await hands.show(`<input id="a" type="password"><input id="b"><script>a.on${type} = () => { if (a.${when}) b.focus(); };</script>`);
      const error = await hands.refused({ action: 'type', selector: '#a', text: 'private' }, 'not_editable');
      assert.match(error.message, /had it when 3 of 7 characters had been typed/);
      assert.equal(error.message.includes('private'), false);
      assert.deepEqual([await page.inputValue('#a'), await page.inputValue('#b')], ['pri', '']);
    });
  }

  test('and is a secret that the page shows meanwhile, has no more typed', async () => {
    await hands.show(`<input id="a" type="password"><input id="b"><script>a.oninput = () => {
      a.type = 'text';
      if (a.value.length === 3) b.focus();
    };</script>`);
    await hands.refused({ action: 'type', selector: '#a', text: 'private' }, 'not_editable');
    assert.deepEqual([await page.inputValue('#a'), await page.inputValue('#b')], ['pri', '']);
  });

  const ENTER = { 'moves the focus': 'b.focus()', 'hides the form': 'login.hidden = true', 'takes the field away': 'a.remove()' };
  for (const [what, act] of Object.entries(ENTER)) {
    for (const event of ['keydown', 'keypress', 'keyup']) {
      test(`and is a secret, may do so by Enter: ${event} ${what}`, async () => {
        await hands.show(`<form id="login" onsubmit="return false"><input id="a" type="password"></form><input id="b"><script>
          window.sent = [];
          a.on${event} = ({ key }) => { if (key === 'Enter') { sent.push(a.value); ${act}; } };</script>`);
        await hands.perform({ action: 'type', selector: '#a', text: 'hush\n' });
        assert.deepEqual(await page.evaluate(() => window.sent), ['hush']);
      });
    }
  }

  test('and is a secret, may do so once all of it is in', async () => {
    await hands.show(`<input id="a" type="password"><input id="b"><script>
      a.oninput = () => { if (a.value === 'hush') b.focus(); };</script>`);
    await hands.perform({ action: 'type', selector: '#a', text: 'hush\n' });
    await hands.perform({ action: 'type', selector: '#a', text: 'hush\nAda', clear: true });
    assert.deepEqual([await page.inputValue('#a'), await page.inputValue('#b')], ['hush', 'Ada']);
  });

  const PASSING = {
    'a code in boxes': [`<input autocomplete="one-time-code" maxlength="1">${'<input maxlength="1">'.repeat(5)}`, '123456', ['1', '2', '3', '4', '5', '6']],
    'a code in boxes of any length': [`<input autocomplete="one-time-code">${'<input>'.repeat(2)}`, '123', ['1', '2', '3']],
    'a card and its month': ['<input autocomplete="cc-number" data-full="4"><input data-full="4"><input>', '41111126', ['4111', '1126', '']],
    'a number of which the end is shown': ['<input type="password" maxlength="3"><input type="password" maxlength="2"><input maxlength="4">', '123456789', ['123', '45', '6789']],
  };
  for (const [what, [html, text, values]] of Object.entries(PASSING)) {
    test(`is no matter where the page passes the rest on: ${what}`, async () => {
      await hands.show(`${html}<script>for (const field of document.querySelectorAll('input')) field.oninput = () => {
        const full = field.dataset.full ?? (field.maxLength > 0 ? field.maxLength : 1);
        if (field.value.length >= full) field.nextElementSibling.focus?.();
      };</script>`);
      await hands.perform({ action: 'type', selector: 'input:first-of-type', text });
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value)), values);
    });
  }

  for (const attributes of ['autocomplete="one-time-code" maxlength="1"', 'type="password"']) {
    test(`passes on the rest of a secret to others like it: ${attributes}`, async () => {
      await hands.show(`${`<input ${attributes}>`.repeat(3)}<script>
        for (const field of document.querySelectorAll('input')) field.oninput = () => field.nextElementSibling.focus?.();</script>`);
      await hands.perform({ action: 'type', selector: 'input:first-of-type', text: '123' });
      const values = await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value));
      assert.deepEqual(values, ['1', '2', '3']);
    });
  }
});

describe('the change of a field', () => {
  const COUNTED = `<input id="field"><input id="next"><script>
    window.sent = [];
    field.addEventListener('change', () => sent.push(field.value));</script>`;
  const sent = () => page.evaluate(() => window.sent.splice(0));
  const reset = (value = '') => page.evaluate((text) => { document.querySelector('#field').value = text; }, value);
  const type = (text) => hands.perform({ action: 'type', selector: '#field', text });

  beforeEach(() => hands.show(COUNTED));

  test('is told each time it is filled in, also where a script has reset it', async () => {
    for (const value of ['', 'other', '']) {
      await fill({ '#field': 'same' });
      assert.deepEqual(await sent(), ['same']);
      await reset(value);
    }
    await reset('first');
    await type('!');
    await reset('');
    await fill({ '#field': 'first' });
    assert.deepEqual(await sent(), ['first']);
  });

  test('is told of a value that was only typed', async () => {
    await type('same');
    await fill({ '#field': 'same' });
    assert.deepEqual(await sent(), ['same']);
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is told once, and again of what a person types after that', async () => {
    const FIELDS = '<input id="a"><textarea id="b"></textarea><input id="c" type="number"><input id="d">';
    const pages = {
      page: `${FIELDS}<script>const root = document;</script>`,
      'closed shadow tree': `<div id="host"></div><script>
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '${FIELDS}';</script>`,
    };
    for (const [what, html] of Object.entries(pages)) {
      await hands.show(`${html}<input id="next"><script>
        window.sent = [];
        window.fields = root.querySelectorAll('#a, #b, #c, #d');
        for (const field of fields) field.addEventListener('change', () => sent.push(field.value));</script>`);
      const values = { '#a': '1', '#b': '2', '#c': '3', '#d': '4' };
      await fill(values);
      await page.focus('#next');
      assert.deepEqual(await sent(), ['1', '2', '3', '4'], what);
      await fill(values);
      await fill({ '#a': '5', '#d': '4' });
      await fill({ '#a': '5' });
      await page.focus('#next');
      assert.deepEqual(await sent(), ['5'], what);
      await fill({ '#a': '6' });
      await page.keyboard.type('7');
      await page.focus('#next');
      assert.deepEqual(await sent(), ['6', '67'], what);
      await page.evaluate(() => { window.fields[1].onchange = () => window.fields[2].focus(); });
      await fill({ '#b': '8' });
      await hands.perform({ action: 'press', selector: '#a', key: 'Backspace Enter' });
      await page.focus('#next');
      assert.deepEqual(await sent(), ['8', '6'], what);
    }
  });

  test('is not told of a field that holds the value already', async () => {
    await hands.show(`<input id="name" value="x"><textarea id="about">x</textarea><input id="age" type="number" value="5">
      <input id="day" type="date" value="2026-01-01"><input id="volume" type="range" value="30"><input id="colour" type="color" value="#102030">
      <input id="next"><script>window.sent = []; addEventListener('change', ({ target }) => sent.push(target.id));</script>`);
    const fields = { '#name': 'x', '#about': 'x', '#age': 5, '#day': '2026-01-01', '#volume': 30, '#colour': '#102030' };
    await fill(fields);
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
    await page.evaluate(() => { for (const field of document.querySelectorAll('input, textarea')) field.value = ''; });
    await fill(fields);
    await page.focus('#next');
    assert.deepEqual(await sent(), ['name', 'about', 'age', 'day', 'volume', 'colour']);
  });

  test('is not told of what a field refused, once that is given what it holds', async () => {
    await hands.show(`<input id="field" value="old"><input id="next"><script>
      window.sent = [];
      field.onchange = () => sent.push(field.value);
      field.oninput = () => { field.value = 'old'; };</script>`);
    await hands.refused({ action: 'fill', fields: { '#field': 'zzz' } }, 'value_refused');
    await fill({ '#field': 'old' });
    await hands.perform({ action: 'press', selector: '#field', key: 'Enter' });
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is not told where the field shows the value in another form without the focus', async () => {
    await hands.show(`<input id="field" value="1,000.00"><input id="next"><script>
      window.sent = [];
      field.onchange = () => sent.push(field.value);
      field.onfocus = () => { field.value = field.value.replace(/,|\\.00/g, ''); };
      field.onblur = () => { field.value = Number(field.value).toLocaleString('en', { minimumFractionDigits: 2 }); };</script>`);
    for (const [value, told] of [['1000', []], ['1000', []], ['1500', ['1500']], ['1500', []]]) {
      await fill({ '#field': value });
      await page.focus('#next');
      assert.deepEqual(await sent(), told, value);
    }
    assert.equal(await page.inputValue('#field'), '1,500.00');
  });

  test('is told where the page resets the field as it gets the focus, or is written into', async () => {
    await hands.show(`${COUNTED}<script>field.onfocus = () => { field.value = ''; };</script>`);
    for (let time = 0; time < 2; time += 1) {
      await fill({ '#field': 'same' });
      assert.ok((await sent()).includes('same'));
      await page.focus('#next');
      await sent();
    }
    await hands.show(`${COUNTED}<script>field.oninput = () => {
      const { value } = field;
      field.value = '';
      setTimeout(() => { field.value = value; }, 100);
    };</script>`);
    await fill({ '#field': 'same' });
    assert.deepEqual(await sent(), ['same']);
  });

  test('is told where the page does the writing itself, or keeps that to itself', async () => {
    for (const script of [
      'field.onbeforeinput = (event) => { event.preventDefault(); field.value = event.data; };',
      'addEventListener("input", (event) => event.stopImmediatePropagation(), { capture: true });',
      'addEventListener("beforeinput", (event) => event.preventDefault());',
    ]) {
      await hands.show(`${COUNTED}<script>${script}</script>`);
      await fill({ '#field': 'same' });
      assert.deepEqual(await sent(), ['same'], script);
    }
  });

  test('is told by Enter each time, also where a script has reset it', async () => {
    for (let time = 0; time < 2; time += 1) {
      await type('same\n');
      assert.deepEqual(await sent(), ['same']);
      await reset();
    }
    await type('same');
    await hands.perform({ action: 'press', selector: '#field', key: 'Backspace Enter' });
    assert.deepEqual(await sent(), ['sam']);
  });

  test('is not told where nothing was written', async () => {
    await fill({ '#field': '' });
    await hands.perform({ action: 'press', selector: '#field', key: 'Backspace Enter' });
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('that a person makes after that is told by the browser', async () => {
    await fill({ '#field': 'same' });
    await reset();
    await sent();
    await page.focus('#field');
    await page.keyboard.type('same');
    await page.focus('#next');
    assert.deepEqual(await sent(), ['same']);
  });

  test('is told in a shadow tree and in a frame, and once where the page moves on itself', async () => {
    await hands.show(`<div id="host"></div><input id="next"><iframe srcdoc="<input id=inner onchange='parent.sent.push(this.value)'>"></iframe><script>
      window.sent = [];
      const root = document.querySelector('#host').attachShadow({ mode: 'open' });
      root.innerHTML = '<input id="deep"><input id="moving">';
      for (const field of root.children) field.onchange = () => sent.push(field.value);
      root.querySelector('#moving').oninput = () => next.focus();</script>`);
    for (let time = 0; time < 2; time += 1) {
      await fill({ '#deep': 'deep' });
      assert.deepEqual(await sent(), ['deep']);
      await page.evaluate(() => { document.querySelector('#host').shadowRoot.querySelector('#deep').value = ''; });
    }
    await fill({ '#inner': 'frame' });
    assert.ok((await sent()).includes('frame'));
    await page.focus('#next');
    await sent();
    await fill({ '#moving': 'moved' });
    assert.deepEqual(await sent(), ['moved']);
  });

  test('is told in a tab that is not in front', async () => {
    const tabId = await hands.setting.browser.tabIdOf(page);
    const other = await hands.setting.open('/');
    const devtools = await page.context().newCDPSession(page);
    try {
      // The browser tells of no focus there, unless it is made to.
      await devtools.send('Emulation.setFocusEmulationEnabled', { enabled: false });
      assert.equal(await page.evaluate(() => document.hasFocus()), false);
      for (let time = 0; time < 2; time += 1) {
        await hands.perform({ action: 'fill', fields: { '#field': 'same', '#next': 'x' }, tab_id: tabId });
        assert.ok((await sent()).includes('same'));
        await hands.perform({ action: 'type', selector: '#field', text: '!', tab_id: tabId });
        await hands.perform({ action: 'click', selector: '#next', tab_id: tabId });
        assert.deepEqual(await sent(), ['same!']);
        await reset();
      }
    } finally {
      await devtools.send('Emulation.setFocusEmulationEnabled', { enabled: true });
      await other.page.close();
    }
  });

  const TRUSTING = `<input id="field" value="old"><input id="next"><script>
    window.sent = [];
    window.heard = [];
    for (const type of ['blur', 'focus', 'focusout', 'focusin']) addEventListener(type, () => heard.push(type));
    for (const type of ['blur', 'focus']) field.addEventListener(type, () => heard.push(type));
    field.addEventListener('change', (event) => { if (event.isTrusted) sent.push(field.value); });</script>`;

  test('reaches a page that trusts the browser alone, which hears nothing of a lost focus', async () => {
    await hands.show(TRUSTING);
    await page.focus('#field');
    await heard();
    await fill({ '#field': 'new' });
    assert.deepEqual(await sent(), ['new']);
    await page.keyboard.type('er');
    await hands.perform({ action: 'press', key: 'Home x Enter' });
    assert.deepEqual(await sent(), ['xnewer']);
    assert.deepEqual(await heard(), []);
    await page.keyboard.type('y');
    await page.focus('#next');
    assert.deepEqual(await sent(), ['xynewer']);
    assert.ok((await heard()).includes('blur'));
  });

  test('goes with the focus where the page moves that by it', async () => {
    const moves = {
      elsewhere: ['next.focus()', 'next', ['blur field', 'focus next']],
      'to the field itself': ['field.focus()', 'field', []],
      'to nothing': ['field.disabled = true', '', ['blur field']],
    };
    for (const [where, [move, active, events]] of Object.entries(moves)) {
      await hands.show(`<input id="field"><input id="next"><script>
        field.focus();
        window.heard = [];
        for (const type of ['blur', 'focus']) document.addEventListener(type, ({ target }) => heard.push(type + ' ' + target.id), true);
        field.onchange = () => { ${move}; };</script>`);
      await fill({ '#field': 'x' });
      assert.deepEqual(await page.evaluate(() => [document.activeElement.id, window.heard.sort()]), [active, events], where);
    }
  });

  test('is told of what a person adds, also where the page keeps the input to itself', async () => {
    await hands.show(`<script>addEventListener('input', (event) => event.stopImmediatePropagation(), { capture: true });</script>${COUNTED}`);
    await fill({ '#field': 'x' });
    await page.keyboard.type('y');
    await page.focus('#next');
    assert.deepEqual(await sent(), ['x', 'xy']);
  });

  test('is told of the old value, too, once the page knows another', async () => {
    for (const write of [
      () => page.keyboard.type('old'),
      () => hands.perform({ action: 'type', selector: '#field', text: 'old', clear: true }),
    ]) {
      await hands.show(COUNTED);
      await reset('old');
      await fill({ '#field': 'new' });
      await page.keyboard.press('Control+A');
      await write();
      await page.focus('#next');
      assert.deepEqual(await sent(), ['new', 'old']);
    }
  });

  test('is told in a tab that is not in front, where the browser does so later', async () => {
    const tabId = await hands.setting.browser.tabIdOf(page);
    const other = await hands.setting.open('/');
    const devtools = await page.context().newCDPSession(page);
    const inFront = (enabled) => devtools.send('Emulation.setFocusEmulationEnabled', { enabled });
    const fillBehind = async (fields) => {
      await inFront(false);
      await hands.perform({ action: 'fill', fields, tab_id: tabId });
      await inFront(true);
    };
    try {
      await hands.show(TRUSTING);
      await fillBehind({ '#field': 'new' });
      await page.focus('#next');
      assert.deepEqual(await sent(), ['new']);
      await hands.show(COUNTED);
      await reset('old');
      await fillBehind({ '#field': 'new' });
      await page.focus('#field');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('old');
      await page.focus('#next');
      assert.deepEqual(await sent(), ['new', 'old']);
    } finally {
      await inFront(true);
      await other.page.close();
    }
  });

  test('of a field that is taken away as it is written into is no error', async () => {
    for (const html of ['<input id="field" oninput="this.remove()">', '<input id="field" oninput="this.outerHTML = this.outerHTML">',
      '<div id="field" contenteditable oninput="this.remove()"></div>']) {
      await hands.show(html);
      await fill({ '#field': 'same' });
    }
  });

  test('goes with a field that the page disables as it gets the focus: nothing is written', async () => {
    await hands.show('<input id="field" type="date" value="2026-01-01" onfocus="this.disabled = true">');
    await hands.refused({ action: 'fill', fields: { '#field': '2026-11-24' } }, 'element_disabled');
    assert.equal(await page.inputValue('#field'), '2026-01-01');
  });
});

test('what is filled in may lead to another page once it has changed', async () => {
  await hands.show(`<input id="field"><script>field.onchange = () => {
    location.href = '/next';
    for (const from = performance.now(); performance.now() - from < 200;);
  };</script>`);
  await fill({ '#field': 'a' });
  await page.waitForURL('**/next', { timeout: stretched(10_000) });
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
      test(`may lead to another page: ${params.action} in ${selector}`, async () => {
        await hands.show(LEAVES);
        await hands.perform({ ...params, selector });
        await page.waitForURL('**/next', { timeout: stretched(10_000) });
      });
    }
  }
});

describe('typing that takes its time', () => {
  /** Each key keeps the page busy for 50 ms. */
  const BUSY = `<input id="field"><script>
    document.querySelector('#field').onkeydown = () => {
      for (const from = performance.now(); performance.now() - from < 50;);
    };</script>`;

  for (const [action, params] of [['type', { text: 'a'.repeat(900) }], ['press', { key: 'a*400' }]]) {
    test(`stops before the time of the command is over, and says how far it came: ${action}`, async () => {
      await hands.show(BUSY);
      const report = await hands.setting.gateway.run({ action, selector: '#field', ...params }, { timeout_ms: stretched(2_000) });
      assert.deepEqual([report.status, report.error.code], ['timeout', 'execution_timeout'], JSON.stringify(report));
      const [, done, all] = /when (\d+) of (900|400) (characters|keys)/.exec(report.error.message) ?? [];
      assert.ok(Number(done) > 0 && Number(done) < Number(all), report.error.message);
      assert.equal((await page.inputValue('#field')).length, Number(done));
    });
  }

  test('is ended by the end of its command', async () => {
    await hands.show(BUSY);
    const { gateway } = hands.setting;
    const command = gateway.send({ action: 'type', selector: '#field', text: 'a'.repeat(900) }, { timeout_ms: stretched(60_000) });
    await page.waitForFunction(() => document.querySelector('#field').value.length > 2, undefined, { timeout: stretched(10_000) });
    gateway.cancel(command);
    await hands.perform({ action: 'type', selector: '#field', text: 'new', clear: true });
    assert.equal(await page.inputValue('#field'), 'new');
  });
});

describe('an editor that keeps a text and a selection of its own', () => {
  /** As some do: it hears of the selection by selectionchange, and writes its text after the event. */
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

  test('has what is typed, added and typed anew', async () => {
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

  test('has what is filled in, put in at once, and sent by Enter', async () => {
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

  test('is served in a page that has taken the names of what we use', async () => {
    const names = ['addEventListener', 'getSelection', 'performance', 'MessageChannel', 'setTimeout', 'callslip', 'writing'];
    const takers = names.map((name) => `<form id="${name}"></form><img name="${name}">`).join('');
    await hands.show(`${EDITOR}<input id="digits">${takers}<script>
      document.querySelector('#digits').oninput = ({ target }) => { target.value = target.value.replace(/\\D/g, ''); };
      for (const name of ['MessageChannel', 'performance', 'Event', 'InputEvent']) Object.defineProperty(window, name, { value: null });</script>`);
    await type('kept');
    assert.equal(await model(), 'kept');
    assert.deepEqual((await fill({ '#digits': '1a' })).value, { '#digits': '1' });
  });

  test('hears in a tab that is not in front, too', async () => {
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

  test('may be in a shadow tree', async () => {
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

  test('may be emptied by the key alone', async () => {
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

  test('that is empty after that may have taken it', async () => {
    await hands.show(`<div id="editor" contenteditable></div><script>
      addEventListener('input', (event) => { event.stopImmediatePropagation(); editor.textContent = ''; }, { capture: true });</script>`);
    assert.deepEqual((await fill({ '#editor': 'new' })).value, { '#editor': '' });
  });

  test('is not waited for long where the page keeps that to itself', async () => {
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

  test('is told what it refuses as a whole', async () => {
    await hands.show(`<div id="editor" contenteditable>old</div><script>
      const editor = document.querySelector('#editor');
      editor.addEventListener('input', () => queueMicrotask(() => { editor.textContent = 'old'; }));</script>`);
    const error = await hands.refused({ action: 'fill', fields: { '#editor': 'new' } }, 'value_refused');
    assert.match(error.message, /It holds "old"\./);
  });
});
