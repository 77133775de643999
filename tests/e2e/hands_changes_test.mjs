/** The events of a page when text is written into its fields, in a real Chromium. */
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

  test('is told before the form is sent, where the field takes its value later', async () => {
    await hands.show(`<form><input id="field"><button>Send</button></form><script>
      window.sent = [];
      for (const type of ['change', 'submit']) {
        addEventListener(type, (event) => {
          event.preventDefault();
          sent.push([type, field.value, event.isTrusted]);
        });
      }
      field.oninput = () => {
        const { value } = field;
        field.value = '';
        setTimeout(() => { field.value = value; }, 600);
      };</script>`);
    await fill({ '#field': 'x' });
    assert.deepEqual(await sent(), []);
    await page.waitForFunction(() => document.querySelector('#field').value === 'x', undefined, { timeout: stretched(10_000) });
    await hands.perform({ action: 'press', selector: '#field', key: 'Enter' });
    assert.deepEqual(await sent(), [['change', 'x', true], ['submit', 'x', true]]);
  });

  test('is not told where the field shows what it did in the end', async () => {
    await hands.show(`${COUNTED}<script>field.oninput = () => { field.value = '2:30 PM'; };</script>`);
    await reset('2:30 PM');
    for (let time = 0; time < 2; time += 1) await fill({ '#field': '14:30' });
    await hands.perform({ action: 'press', selector: '#field', key: 'Enter' });
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is told of what was typed, and not of what was refused after it', async () => {
    for (const [mask, told] of [["field.value = 'old'", []], ["if (field.value !== 'oldq') field.value = 'oldq'", ['oldq']]]) {
      await hands.show(`${COUNTED}<script>field.value = 'old'; field.oninput = () => { ${mask}; };</script>`);
      await type('q');
      await hands.refused({ action: 'fill', fields: { '#field': 'zzz' } }, 'value_refused');
      await page.focus('#next');
      assert.deepEqual(await sent(), told);
    }
  });

  test('is told where the page does the writing itself, or keeps that to itself', async () => {
    for (const script of [
      'field.onbeforeinput = (event) => { event.preventDefault(); field.value = event.data; };',
      'addEventListener("input", (event) => event.stopImmediatePropagation(), { capture: true });',
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
      // The browser reports no focus there unless focus is emulated.
      await devtools.send('Emulation.setFocusEmulationEnabled', { enabled: false });
      assert.equal(await page.evaluate(() => document.hasFocus()), false);
      for (let time = 0; time < 2; time += 1) {
        await hands.perform({ action: 'fill', fields: { '#field': 'same', '#next': 'x' }, tab_id: tabId });
        assert.deepEqual(await sent(), ['same']);
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

  /** A page's reaction to a change; `field` and `next` are its fields in `root`. */
  const BY_CHANGE = {
    'does nothing': '',
    'takes the focus away': 'field.blur()',
    'takes it from whatever has it': '(root.activeElement ?? document.body).blur()',
    'moves it on': 'next.focus()',
    'moves it on, and takes it away': 'next.focus(); next.blur()',
    'moves it on and back': 'next.focus(); field.focus()',
    'gives it once more': 'field.focus()',
    'asks for it': "log.push(root.activeElement === field, field.matches(':focus'), box.matches(':focus-within'))",
    'takes the field away': 'field.remove()',
    'takes what is around it away': 'box.remove()',
    'makes the field anew': 'field.outerHTML = field.outerHTML',
    'makes it anew, and gives the focus back by name': `const { id } = root.activeElement ?? {};
      field.outerHTML = field.outerHTML;
      if (id) root.querySelector('#' + id).focus()`,
  };

  /**
   * Shows a page with this reaction, and records its events; the field has the focus, and a typed
   * text.
   */
  async function showMoving(act, mode) {
    await hands.show(`<div id="host"></div><script>
      const root = ${mode ? `host.attachShadow({ mode: '${mode}' })` : 'document'};
      ${mode ? 'root' : 'host'}.innerHTML = '<div id="box"><input id="field" onblur="log.push(\\'saved\\')"></div><input id="next">';
      const [box, field, next] = ['#box', '#field', '#next'].map((each) => root.querySelector(each));
      window.log = [];
      window.state = () => {
        const at = root.activeElement;
        const within = [document.documentElement, box, field, next].map((each) => each.matches(':focus-within'));
        return [at?.id, within, at?.selectionStart, at?.selectionEnd];
      };
      for (const type of ['focus', 'blur', 'focusin', 'focusout', 'select', 'change']) {
        root.addEventListener(type, (event) => log.push(type + ' ' + event.target.id + ' ' + event.isTrusted), true);
      }
      field.addEventListener('change', () => { ${act}; }, { once: true });
      window.giveFocus = () => field.focus();</script>`);
    await page.evaluate(() => giveFocus());
    await hands.perform({ action: 'type', text: 'xyz' });
    await page.keyboard.press('Shift+ArrowLeft');
    await page.waitForTimeout(50);
    await page.evaluate(() => log.splice(0));
  }
  const moved = async () => {
    await page.waitForTimeout(50);
    return page.evaluate(() => [log.splice(0), state()]);
  };

  for (const mode of ['', 'closed']) {
    for (const [what, act] of Object.entries(BY_CHANGE)) {
      test(`goes with the focus where the page ${what} by it${mode && `, in a ${mode} shadow tree`}`, async () => {
        await showMoving(act, mode);
        await page.keyboard.press('Enter');
        const natively = await moved();
        await showMoving(act, mode);
        await hands.perform({ action: 'press', key: 'Enter' });
        assert.deepEqual(await moved(), natively);
      });
    }
  }

  const SHOWN_WITH_THE_FOCUS = [
    '.panel { display: none !important } .menu:focus-within .panel { display: block !important }',
    '.panel { visibility: hidden } .menu:focus-within .panel { visibility: visible }',
    '.menu:not(:focus-within) .panel { display: none }',
  ];

  for (const mode of ['', 'closed']) {
    for (const css of SHOWN_WITH_THE_FOCUS) {
      test(`leaves the focus where a field shows only with it: ${css}${mode && `, in a ${mode} shadow tree`}`, async () => {
        await hands.show(`<style>${css}</style>
          <div class="menu"><button id="open">Open</button><div class="panel" id="host" style="color:red"></div></div><script>
          const root = ${mode ? `host.attachShadow({ mode: '${mode}' })` : 'host'};
          root.innerHTML = '<form><input id="a" style=""><input id="b"><button>Send</button></form>';
          window.log = [];
          for (const type of ['blur', 'change', 'submit']) {
            root.addEventListener(type, (event) => {
              event.preventDefault();
              log.push([type, event.target.id || event.target.localName, event.isTrusted]);
            }, true);
          }
          const all = [...document.querySelectorAll('*'), ...root.querySelectorAll('*')];
          window.styles = () => all.map((each) => each.getAttribute('style'));
          window.state = () => [root.getRootNode().activeElement?.id, host.checkVisibility({ visibilityProperty: true })];</script>`);
        const styles = await page.evaluate(() => window.styles());
        await page.focus('#open');
        await fill({ '#a': '1', '#b': '2' });
        assert.deepEqual(await moved(), [[['change', 'a', true], ['blur', 'a', true], ['change', 'b', true]], ['b', true]]);
        await hands.perform({ action: 'press', selector: '#b', key: 'Enter' });
        assert.deepEqual(await moved(), [[['submit', 'form', true]], ['b', true]]);
        await hands.perform({ action: 'type', selector: '#b', text: '3\n' });
        assert.deepEqual(await moved(), [[['change', 'b', true], ['submit', 'form', true]], ['b', true]]);
        assert.deepEqual(await page.evaluate(() => window.styles()), styles);
      });
    }
  }

  test('of which the page writes into the field, is told once more where the field is left, and no sooner', async () => {
    for (const how of ['fill', 'Enter']) {
      await hands.show(`<input id="field"><input id="next"><script>
        window.sent = [];
        field.onchange = ({ isTrusted }) => {
          sent.push([field.value, isTrusted]);
          if (field.value === 'XY') return;
          field.select();
          document.execCommand('insertText', false, 'XY');
        };</script>`);
      if (how === 'fill') await fill({ '#field': 'x' });
      else await hands.perform({ action: 'type', selector: '#field', text: 'x\n' });
      assert.deepEqual(await sent(), [['x', true]], how);
      await page.focus('#next');
      assert.deepEqual(await sent(), [['XY', true]], how);
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

  test('is told once for each field in a tab that is not in front, by the browser', async () => {
    const tabId = await hands.setting.browser.tabIdOf(page);
    const other = await hands.setting.open('/');
    const devtools = await page.context().newCDPSession(page);
    const inFront = (enabled) => devtools.send('Emulation.setFocusEmulationEnabled', { enabled });
    try {
      await hands.show(`<input id="a" value="old"><textarea id="b"></textarea><input id="c" type="number"><div id="host"></div><script>
        host.attachShadow({ mode: 'closed' }).innerHTML = '<input id="d">';
        window.sent = [];
        for (const at of [a, b, c]) at.onchange = ({ isTrusted }) => sent.push([at.id, at.value, isTrusted]);</script>`);
      await inFront(false);
      await hands.perform({ action: 'fill', fields: { '#a': '1', '#b': '2', '#c': '3', '#d': '4' }, tab_id: tabId });
      assert.deepEqual(await sent(), [['a', '1', true], ['b', '2', true], ['c', '3', true]]);
      await page.evaluate(() => document.activeElement.blur());
      await inFront(true);
      for (const selector of ['#a', '#b', '#c']) await page.focus(selector);
      await page.keyboard.press('Tab');
      assert.deepEqual(await sent(), []);
    } finally {
      await inFront(true);
      await other.page.close();
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
