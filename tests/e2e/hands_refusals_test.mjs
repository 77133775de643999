/** The texts that fields accept, refuse and change, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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

describe('field values', () => {
  /** By type: a valid value, refused values, and a word of the error's advice. */
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

  /** Users don't type into these. */
  const NOT_TYPED = ['color', 'range'];

  for (const [type, [good, bad, wish]] of Object.entries(TYPES)) {
    test(`a ${type} field refuses invalid values with advice and keeps its own`, async () => {
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

  test('a field can be emptied, and a date-time is accepted with a space', async () => {
    await hands.show('<input id="day" type="date" value="2026-01-01"><input id="age" type="number" value="3"><input id="at" type="datetime-local">');
    await fill({ '#day': '', '#age': '', '#at': '2026-11-24 09:30' });
    for (const [id, value] of [['day', ''], ['age', ''], ['at', '2026-11-24T09:30']]) assert.equal(await page.inputValue(`#${id}`), value);
  });

  test('type without a selector also refuses an invalid value', async () => {
    await hands.show('<input id="day" type="date" value="2026-01-01">');
    await page.focus('#day');
    const error = await hands.refused({ action: 'type', text: 'soon' }, 'invalid_params');
    assert.match(error.message, /such as 2026-11-24, not "soon"\. It holds "2026-01-01"\./);
    await hands.perform({ action: 'type', text: '2026-01-02' });
    assert.equal(await page.inputValue('#day'), '2026-01-02');
    await hands.perform({ action: 'press', key: '5' });
    assert.equal(await page.inputValue('#day'), '2026-01-02');
  });

  test('type enters only as many characters as maxlength allows', async () => {
    await hands.show('<input id="short" maxlength="5" value="ab"><input id="signs" maxlength="3">');
    for (const [selector, text, value] of [['#short', 'cde', 'abcde'], ['#short', 'f', 'abcde'], ['#signs', '!!!!', '!!!']]) {
      assert.equal((await hands.perform({ action: 'type', selector, text })).value, value);
    }
  });

  test('fill drops a line break in an input, and counts it as one in a textarea', async () => {
    await hands.show('<input id="name" maxlength="3"><textarea id="note" maxlength="3"></textarea>');
    assert.deepEqual((await fill({ '#name': 'Ada\n', '#note': 'a\r\nb' })).value, { '#name': 'Ada' });
    assert.equal(await page.inputValue('#note'), 'a\nb');
  });

  test('a number field accepts the same input as from a user', async () => {
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

  test('a value filtered by an input mask is accepted and reported', async () => {
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
    test(`fill reports value_refused if the page restores its own value: ${text}`, async () => {
      await hands.show(MASK);
      const error = await hands.refused({ action: 'fill', fields: { '#reverted': text } }, 'value_refused');
      assert.match(error.message, /It holds "old"\./);
      assert.equal(error.may_have_executed, true);
      assert.equal(await page.inputValue('#reverted'), 'old');
      const typed = await hands.perform({ action: 'type', selector: '#reverted', text, clear: true });
      assert.equal(typed.value, 'old');
    });
  }

  for (const [before, text] of [['7', '42'], ['30 days', '45 weeks'], ['€ 1,234.00', '56'], ['12.50', '-20.00'], ['2', '９'], ['202 555 0100', '+1 303 444 9999']]) {
    test(`fill reports value_refused if the page keeps ${before} instead of ${text}`, async () => {
      await hands.show(`<input id="field" value="${before}"><script>field.oninput = () => { field.value = '${before}'; };</script>`);
      const error = await hands.refused({ action: 'fill', fields: { '#field': text } }, 'value_refused');
      assert.ok(error.message.includes(`It holds ${JSON.stringify(before)}.`), error.message);
    });
  }

  test('fill accepts an unchanged value that can result from the given text', async () => {
    /**
     * By name: the field's value, the page's formatter, and the given text, which leaves the value
     * unchanged.
     */
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
      'day with points': ['24.11.2026', '"24.11.2026"', '11/24/2026'],
      quarter: ['0.75', '"0.75"', '3/4'],
      'quarter as a sign': ['0.75', '"0.75"', '¾'],
      hours: ['90 min', '"90 min"', '1:30'],
      'Arabic digits': ['30', '"30"', '٣٠'],
      percent: ['50 %', '"50 %"', '0.5'],
      grouped: ['1 234,50', '"1 234,50"', '1234.5'],
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

  test('fill continues with the other fields after a refused value', async () => {
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
    test(`fill limits its total wait for many fields: ${mask}`, async () => {
      await hands.show(MANY(mask));
      const from = performance.now();
      assert.equal(Object.keys((await fill(manyFields)).value).length, 90);
      const waited = performance.now() - from;
      assert.ok(waited < stretched(9_000), `${waited} ms`);
    });
  }

  test('a timeout of fill reports how many fields were filled in', async () => {
    // The page is never busy for long: between two fields it can answer how far it has come.
    await hands.show(MANY('for (const from = performance.now(); performance.now() - from < 100;)'));
    const report = await hands.setting.gateway.run({ action: 'fill', fields: manyFields }, { timeout_ms: 4_000 });
    assert.deepEqual([report.status, report.error.code], ['timeout', 'execution_timeout'], JSON.stringify(report));
    const [, done] = /when (\d+) of 90 fields had been filled in; the next is #i\1\./.exec(report.error.message) ?? [];
    assert.ok(Number(done) > 0, report.error.message);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('input')].filter(({ value }) => value).length), Number(done));
  });

  test('fill reports at most 200 characters of a value', async () => {
    await hands.show('<textarea id="field"></textarea><script>field.oninput = () => { field.value = field.value.toUpperCase(); };</script>');
    assert.deepEqual((await fill({ '#field': 'a'.repeat(300) })).value, { '#field': `${'A'.repeat(199)}…` });
  });

  test('fill reports a value that the page changes on a change event', async () => {
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
    for (const [when, reset] of [['at once', 'reset()'], ['later', 'setTimeout(reset, 0)']]) {
      test(`fill succeeds if the page takes the value and resets the ${type} field ${when}`, async () => {
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

  test('fill accepts a value that the field already holds in another form', async () => {
    await hands.show('<input id="at" type="datetime-local" value="2026-11-24T09:30"><input id="mail" type="email" value="a@page.test">');
    assert.deepEqual((await fill({ '#at': '2026-11-24 09:30', '#mail': ' a@page.test ' })).value, { '#at': '2026-11-24T09:30', '#mail': 'a@page.test' });
  });

  test('fill accepts the same text again after the page has reformatted it', async () => {
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

  test('fill reports a value that the page extends', async () => {
    await hands.show(`<input id="ten"><script>ten.oninput = () => { ten.value = '10'; };</script>`);
    assert.deepEqual((await fill({ '#ten': '1' })).value, { '#ten': '10' });
  });

  test('fill and type work in any editable element, with placeholder text', async () => {
    await hands.show(`<ul><li id="item" contenteditable>old</li></ul><button id="button" contenteditable>old</button>
      <div id="empty" contenteditable>Write here</div><script>empty.oninput = () => { empty.textContent = 'Write here'; };</script>`);
    for (const selector of ['#item', '#button']) {
      await fill({ [selector]: 'new' });
      assert.equal(await page.textContent(selector), 'new');
      assert.equal((await hands.perform({ action: 'type', selector, text: 'er' })).value, 'newer');
    }
    assert.deepEqual((await fill({ '#empty': '' })).value, { '#empty': 'Write here' });
  });

  test('fill and type report a value that the page reformats, at once or soon after', async () => {
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

  test('fill and type succeed if the page takes the value and empties the field', async () => {
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

  test('type distributes text over fields that take one character each', async () => {
    await hands.show(`${'<input maxlength="1">'.repeat(4)}<script>
      for (const field of document.querySelectorAll('input')) {
        field.oninput = () => field.nextElementSibling.focus?.();
      }</script>`);
    await hands.perform({ action: 'type', selector: 'input:first-of-type', text: '1234' });
    const values = await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value));
    assert.deepEqual(values, ['1', '2', '3', '4']);
  });

  test('type reports no refusal if the field is read-only or the page handles keys', async () => {
    await hands.show(`<input id="ready" readonly value="ready"><input id="sum" value="0"><script>
      sum.onkeydown = (event) => { event.preventDefault(); sum.value = String(Number(sum.value) + Number(event.key)); };</script>`);
    await page.focus('#ready');
    assert.equal((await hands.perform({ action: 'type', text: 'x', clear: true })).value, 'ready');
    assert.equal((await hands.perform({ action: 'type', text: 'x'.repeat(1_100), clear: true })).value, 'ready');
    assert.equal((await hands.perform({ action: 'type', selector: '#sum', text: '123', clear: true })).value, '6');
  });
});
