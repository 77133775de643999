/** Values that no answer and no other field may reveal, in a real Chromium. */
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

test('the chosen option of a card field is not revealed', async () => {
  await hands.show('<select id="until" aria-label="Month" autocomplete="cc-exp-month"><option value="1">January<option value="5">May</select>');
  for (const choice of [{ value: '5' }, { label: 'January' }, { values: ['5'] }]) {
    const report = await hands.setting.gateway.run({ action: 'select', selector: '#until', ...choice });
    assert.equal(report.result.data.value_left_out, true, JSON.stringify(report));
    assert.doesNotMatch(JSON.stringify(report), /"values"|(chose|=) (January|May)/);
    assert.match(report.result.data.page, /^chose in /);
  }
  assert.equal(await page.evaluate(() => document.querySelector('#until').value), '5');
});

describe('the value of a field', () => {
  const SECRETS = `<input id="secret" type="password" value="hush-hush"><input id="card" autocomplete="cc-number" value="hush-hush">
    <input id="open" value="for all"><script>secret.onfocus = card.onfocus = () => document.body.append('!');</script>`;
  beforeEach(() => hands.show(SECRETS));

  for (const selector of ['#secret', '#card']) {
    test(`is not revealed when the secret field ${selector} is selected and clicked`, async () => {
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
      // Otherwise the answer would reveal whether a guess is in the secret.
      for (const text of ['hush', 'guess']) {
        const error = await hands.refused({ action: 'select_text', selector, text }, 'invalid_params');
        assert.match(error.message, /^text: /);
      }
    });
  }

  test('is shown when text of a public field is selected', async () => {
    const report = await hands.setting.gateway.run({ action: 'select_text', selector: '#open', text: 'all' });
    assert.match(JSON.stringify(report), /selected \\"all/);
  });
});

describe('a secret', () => {
  const SECRETS = ['type="password"', 'autocomplete="cc-number"', 'autocomplete="cc-csc"', 'autocomplete="one-time-code"'];
  for (const kind of SECRETS) {
    test(`is not revealed when a field refuses it: ${kind}`, async () => {
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

    test(`is not revealed when the page shows it: ${kind}`, async () => {
      for (const params of [{ action: 'fill', fields: { '#pin': 'xhush' } }, { action: 'type', selector: '#pin', text: 'xhush' }]) {
        await hands.show(`<input id="pin" ${kind}><script>
          pin.oninput = () => { pin.type = 'text'; pin.autocomplete = ''; pin.value = pin.value.replaceAll('x', ''); };</script>`);
        const report = await hands.setting.gateway.run({ ...params, view: 'none' });
        assert.equal(report.status, 'complete');
        assert.equal(JSON.stringify(report).includes('hush'), false, JSON.stringify(report));
      }
    });
  }

  test('is not both shown and marked as omitted when its field becomes a password', async () => {
    await hands.show(`<input id="field"><script>field.oninput = () => {
      if (field.value === 'hush') setTimeout(() => { field.type = 'password'; }, 0);
    };</script>`);
    for (let time = 0; time < 5; time += 1) {
      await page.evaluate(() => { field.type = 'text'; });
      const answer = await hands.perform({ action: 'type', selector: '#field', text: 'hush', clear: true });
      assert.equal('value' in answer && 'value_left_out' in answer, false, JSON.stringify(answer));
    }
  });
});

describe('entering text into an element that loses the focus', () => {
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
      test(`is refused and writes nothing elsewhere: ${kind}, ${way}`, async () => {
        await hands.show(html);
        const error = await hands.refused(params, 'not_editable');
        assert.match(error.message, /does not keep the focus/);
        assert.equal(await page.inputValue('#b'), '');
        assert.equal(await page.evaluate(() => a.textContent + (a.value ?? '')), '');
      });
    }
  }

  for (const [type, when] of [['input', 'value.length === 3'], ['keydown', 'value.length === 3'], ['keypress', 'value.length === 3']]) {
    test(`stops in a secret field: ${type}`, async () => {
      await hands.show(`<input id="a" type="password"><input id="b"><script>a.on${type} = () => { if (a.${when}) b.focus(); };</script>`);
      const error = await hands.refused({ action: 'type', selector: '#a', text: 'private' }, 'not_editable');
      assert.match(error.message, /had it when 3 of 7 characters had been typed/);
      assert.equal(error.message.includes('private'), false);
      assert.deepEqual([await page.inputValue('#a'), await page.inputValue('#b')], ['pri', '']);
    });
  }

  test('stops in a secret field that the page has unmasked', async () => {
    await hands.show(`<input id="a" type="password"><input id="b"><script>a.oninput = () => {
      a.type = 'text';
      if (a.value.length === 3) b.focus();
    };</script>`);
    await hands.refused({ action: 'type', selector: '#a', text: 'private' }, 'not_editable');
    assert.deepEqual([await page.inputValue('#a'), await page.inputValue('#b')], ['pri', '']);
  });

  const ENTER = { 'moves the focus': 'b.focus()', 'hides the form': 'login.hidden = true', 'removes the field': 'a.remove()' };
  for (const [what, act] of Object.entries(ENTER)) {
    for (const event of ['keydown', 'keypress', 'keyup']) {
      test(`succeeds in a secret field when the ${event} of Enter ${what}`, async () => {
        await hands.show(`<form id="login" onsubmit="return false"><input id="a" type="password"></form><input id="b"><script>
          window.sent = [];
          a.on${event} = ({ key }) => { if (key === 'Enter') { sent.push(a.value); ${act}; } };</script>`);
        await hands.perform({ action: 'type', selector: '#a', text: 'hush\n' });
        assert.deepEqual(await page.evaluate(() => window.sent), ['hush']);
      });
    }
  }

  test('succeeds in a secret field once the whole secret has been typed', async () => {
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
    'a number whose last digits are visible': ['<input type="password" maxlength="3"><input type="password" maxlength="2"><input maxlength="4">', '123456789', ['123', '45', '6789']],
  };
  for (const [what, [html, text, values]] of Object.entries(PASSING)) {
    test(`continues in the next field when the page moves the focus there: ${what}`, async () => {
      await hands.show(`${html}<script>for (const field of document.querySelectorAll('input')) field.oninput = () => {
        const full = field.dataset.full ?? (field.maxLength > 0 ? field.maxLength : 1);
        if (field.value.length >= full) field.nextElementSibling.focus?.();
      };</script>`);
      await hands.perform({ action: 'type', selector: 'input:first-of-type', text });
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value)), values);
    });
  }

  for (const attributes of ['autocomplete="one-time-code" maxlength="1"', 'type="password"']) {
    test(`continues in other secret fields of the same kind: ${attributes}`, async () => {
      await hands.show(`${`<input ${attributes}>`.repeat(3)}<script>
        for (const field of document.querySelectorAll('input')) field.oninput = () => field.nextElementSibling.focus?.();</script>`);
      await hands.perform({ action: 'type', selector: 'input:first-of-type', text: '123' });
      const values = await page.evaluate(() => [...document.querySelectorAll('input')].map(({ value }) => value));
      assert.deepEqual(values, ['1', '2', '3']);
    });
  }
});
