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

describe('the change event of a field', () => {
  const COUNTED = `<input id="field"><input id="next"><script>
    window.sent = [];
    field.addEventListener('change', () => sent.push(field.value));</script>`;
  const sent = () => page.evaluate(() => window.sent.splice(0));
  const reset = (value = '') => page.evaluate((text) => { document.querySelector('#field').value = text; }, value);
  const type = (text) => hands.perform({ action: 'type', selector: '#field', text });

  beforeEach(() => hands.show(COUNTED));

  test('is fired on each fill, also after a script has reset the field', async () => {
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

  test('is fired once by a fill with the value that was just typed', async () => {
    await type('same');
    await fill({ '#field': 'same' });
    assert.deepEqual(await sent(), ['same']);
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is fired once per value, and again for later typing by a person', async () => {
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

  test('is not fired if the field already holds the value', async () => {
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

  test('is not fired for a refused value or a later fill with the current one', async () => {
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

  test('is not fired if the field only formats the value differently without focus', async () => {
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

  test('is fired if the page resets the field on focus or on input', async () => {
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

  test('is fired before the submit event if the field takes its value later', async () => {
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

  test('is not fired if the page changes the input to the earlier value', async () => {
    await hands.show(`${COUNTED}<script>field.oninput = () => { field.value = '2:30 PM'; };</script>`);
    await reset('2:30 PM');
    for (let time = 0; time < 2; time += 1) await fill({ '#field': '14:30' });
    await hands.perform({ action: 'press', selector: '#field', key: 'Enter' });
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is fired for typed text, but not for a refused fill after it', async () => {
    for (const [mask, told] of [["field.value = 'old'", []], ["if (field.value !== 'oldq') field.value = 'oldq'", ['oldq']]]) {
      await hands.show(`${COUNTED}<script>field.value = 'old'; field.oninput = () => { ${mask}; };</script>`);
      await type('q');
      await hands.refused({ action: 'fill', fields: { '#field': 'zzz' } }, 'value_refused');
      await page.focus('#next');
      assert.deepEqual(await sent(), told);
    }
  });

  test('is fired if the page writes the value itself or stops the input event', async () => {
    for (const script of [
      'field.onbeforeinput = (event) => { event.preventDefault(); field.value = event.data; };',
      'addEventListener("input", (event) => event.stopImmediatePropagation(), { capture: true });',
    ]) {
      await hands.show(`${COUNTED}<script>${script}</script>`);
      await fill({ '#field': 'same' });
      assert.deepEqual(await sent(), ['same'], script);
    }
  });

  test('is fired by each Enter, also after a script has reset the field', async () => {
    for (let time = 0; time < 2; time += 1) {
      await type('same\n');
      assert.deepEqual(await sent(), ['same']);
      await reset();
    }
    await type('same');
    await hands.perform({ action: 'press', selector: '#field', key: 'Backspace Enter' });
    assert.deepEqual(await sent(), ['sam']);
  });

  test('is not fired if nothing was written', async () => {
    await fill({ '#field': '' });
    await hands.perform({ action: 'press', selector: '#field', key: 'Backspace Enter' });
    await page.focus('#next');
    assert.deepEqual(await sent(), []);
  });

  test('is fired for a change that a person makes after a fill', async () => {
    await fill({ '#field': 'same' });
    await reset();
    await sent();
    await page.focus('#field');
    await page.keyboard.type('same');
    await page.focus('#next');
    assert.deepEqual(await sent(), ['same']);
  });

  test('is fired in shadow trees and frames, and once if the page moves the focus', async () => {
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

  test('is fired in a background tab', async () => {
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

  test('is trusted, and comes without focus events', async () => {
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

  test('leaves the focus where its handler moves it', async () => {
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
    'blurs the field': 'field.blur()',
    'blurs the focused element': '(root.activeElement ?? document.body).blur()',
    'focuses the next field': 'next.focus()',
    'focuses the next field, and blurs it': 'next.focus(); next.blur()',
    'moves the focus on and back': 'next.focus(); field.focus()',
    'focuses the field again': 'field.focus()',
    'queries the focus': "log.push(root.activeElement === field, field.matches(':focus'), box.matches(':focus-within'))",
    'removes the field': 'field.remove()',
    'removes the container of the field': 'box.remove()',
    'replaces the field': 'field.outerHTML = field.outerHTML',
    'replaces the field, and focuses the new one by id': `const { id } = root.activeElement ?? {};
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
      test(`has the same effects as a native one if its handler ${what}${mode && `, in a ${mode} shadow tree`}`, async () => {
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
      test(`keeps the focus in a field that is visible only with it: ${css}${mode && `, in a ${mode} shadow tree`}`, async () => {
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

  test('is fired again only on blur if its handler writes into the field', async () => {
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

  test('is fired for text that a person adds, even if the page stops the input event', async () => {
    await hands.show(`<script>addEventListener('input', (event) => event.stopImmediatePropagation(), { capture: true });</script>${COUNTED}`);
    await fill({ '#field': 'x' });
    await page.keyboard.type('y');
    await page.focus('#next');
    assert.deepEqual(await sent(), ['x', 'xy']);
  });

  test('is fired for the old value after the page was notified of a new one', async () => {
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

  test('is trusted and fired once for each field in a background tab', async () => {
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

  test('is fired once for a fill in a background tab, and again for later typing', async () => {
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

  test('causes no error if the field is removed while it is written into', async () => {
    for (const html of ['<input id="field" oninput="this.remove()">', '<input id="field" oninput="this.outerHTML = this.outerHTML">',
      '<div id="field" contenteditable oninput="this.remove()"></div>']) {
      await hands.show(html);
      await fill({ '#field': 'same' });
    }
  });

  test('fill gets element_disabled if the page disables the field on focus', async () => {
    await hands.show('<input id="field" type="date" value="2026-01-01" onfocus="this.disabled = true">');
    await hands.refused({ action: 'fill', fields: { '#field': '2026-11-24' } }, 'element_disabled');
    assert.equal(await page.inputValue('#field'), '2026-01-01');
  });
});

test('a change handler can navigate to another page during a fill', async () => {
  await hands.show(`<input id="field"><script>field.onchange = () => {
    location.href = '/next';
    for (const from = performance.now(); performance.now() - from < 200;);
  };</script>`);
  await fill({ '#field': 'a' });
  await page.waitForURL('**/next', { timeout: stretched(10_000) });
});
