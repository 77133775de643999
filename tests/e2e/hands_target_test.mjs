/** The waits and refusals of an action, and the target of its mouse, in a real Chromium. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { HandsSetting } from './support/hands_setting.js';

const LISTENING = `<script>
  window.heard ??= [];
  const seen = (event) => {
    const at = event.composedPath()[0];
    heard.push(event.type + ' ' + at.id);
  };
  const root = document;
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick',
    'auxclick', 'contextmenu', 'focusin', 'input', 'change']) root.addEventListener(type, seen, true);
</script>`;

const FRAMES = {
  outer: `<!doctype html>${LISTENING}<p style="height: 900px">tall</p>
    <iframe src="/inner" width="200" height="100"></iframe>`,
  inner: `<!doctype html>${LISTENING}<div style="height: 500px"></div><button id="deep">Deep</button>`,
};

let hands;
let setting;
let page;

before(async () => {
  hands = await HandsSetting.start(FRAMES);
  ({ page, setting } = hands);
});
after(() => hands?.stop());

const show = (body) => hands.show(LISTENING + body);
const heard = (where = page) => where.evaluate(() => window.heard.splice(0));
const click = (selector, more) => setting.perform({ action: 'click', selector, ...more });
const CLICK = ['pointerdown', 'mousedown', 'focusin', 'pointerup', 'mouseup', 'click'];
const clicksOn = (id) => CLICK.map((type) => `${type} ${id}`);

describe('an element that cannot be acted on', () => {
  const CASES = [
    ['element_covered', '<div style="position: fixed; inset: 0; z-index: 9"></div><button id="b">Go</button>'],
    ['element_hidden', '<button id="b" style="display: none">Go</button>', /display: none on button#b/],
    ['element_hidden', '<p style="visibility: hidden"><button id="b">Go</button></p>', /visibility: hidden on p/],
    ['element_hidden', '<button id="b" style="width: 0; height: 0; padding: 0; border: 0; overflow: hidden"></button>', /no size/],
    ['element_disabled', '<button id="b" style="pointer-events: none">Go</button>', /pointer-events/],
    ['element_disabled', '<button id="b" aria-disabled="true">Go</button>', /aria-disabled/],
    ['element_disabled', '<fieldset disabled><button id="b">Go</button></fieldset>', /fieldset around it/],
    ['several_match', '<button id="a">A</button><button id="b">Go</button>', /e\d+ button A; e\d+ button Go/, 'button'],
    ['element_not_found', '<p>Nothing</p>', /#b/],
  ];
  // Each waits for its full timeout: so all run at once, each in a tab of its own.
  let errors;
  before(async () => {
    await page.goto(setting.pages.url);
    CASES.forEach(([, body], number) => { FRAMES[`case${number}`] = `<!doctype html>${LISTENING}${body}`; });
    const opened = await Promise.all(CASES.map((_, number) => setting.perform(
      { action: 'open_tab', url: `${hands.url}case${number}`, background: true })));
    errors = await Promise.all(CASES.map(([code, , , selector = '#b'], number) =>
      setting.refused({ action: 'click', selector, tab_id: opened[number].tab_id }, code)));
  });
  for (const [number, [code, body, message = /./]] of CASES.entries()) {
    test(`causes ${code}: ${body.slice(0, 60)}`, async () => {
      assert.match(errors[number].message, message);
      assert.equal(errors[number].may_have_executed, false);
      const tab = page.context().pages().find((each) => each.url().endsWith(`/case${number}`));
      assert.deepEqual(await heard(tab), []);
      await tab.close();
    });
  }

  test('has the id of its cover quoted and truncated in the error', async () => {
    await show('<button id="b">Go</button>');
    await page.evaluate(() => {
      const cover = document.createElement('div');
      cover.id = `x\n; e3 button Pay ${'y'.repeat(200)}`;
      cover.style = 'position: fixed; inset: 0';
      document.body.append(cover);
    });
    const { message } = await setting.refused({ action: 'click', selector: '#b' }, 'element_covered');
    assert.match(message, /covered by div#x ; 'e3 button Pay y{59,62}…\.$/);
  });

  test('is named in the error, together with its cover', async () => {
    await show(`<button id="b">Go</button>
      <div role="dialog" aria-label="Cookies" style="position: fixed; inset: 0; background: white">
      <button>Accept all</button></div>`);
    const error = await setting.refused({ action: 'click', selector: '#b' }, 'element_covered');
    assert.match(error.message, /button Go is covered by dialog Cookies; e\d+ button Accept all/);
    await click('#b', { how: 'force' });
    assert.deepEqual(await heard(), clicksOn('b'));
  });
});

describe('an element that is not ready yet', () => {
  const READY = [
    ['is enabled after 1 s', '<button id="b" disabled>Go</button>', () => {
      setTimeout(() => { document.querySelector('#b').disabled = false; window.at = Date.now(); }, 1000);
    }],
    ['stops moving after 400 ms', '<button id="b" style="position: absolute">Go</button>', () => {
      const began = Date.now();
      const timer = setInterval(() => {
        const since = Date.now() - began;
        document.querySelector('#b').style.left = `${Math.min(since, 400)}px`;
        if (since < 400) return;
        clearInterval(timer);
        window.at = Date.now();
      }, 16);
    }],
    ['loses its cover after 1 s', '<button id="b">Go</button><div id="c" style="position: fixed; inset: 0"></div>', () => {
      setTimeout(() => { document.querySelector('#c').remove(); window.at = Date.now(); }, 1000);
    }],
    ['is inserted after 500 ms', '<p>', () => {
      setTimeout(() => {
        document.body.insertAdjacentHTML('beforeend', '<button id="b">Go</button>');
        window.at = Date.now();
      }, 500);
    }],
  ];
  for (const [name, body, begin] of READY) {
    test(`is clicked when it ${name}`, async () => {
      await show(body);
      await page.evaluate(() => {
        addEventListener('click', () => { window.clickedAt = Date.now(); }, true);
      });
      await page.evaluate(begin);
      await click('#b');
      const late = await page.evaluate(() => window.clickedAt - window.at);
      assert.ok(late >= 0 && late < stretched(300), `${late} ms`);
    });
  }
});

test('a command with a short timeout still reports why its element cannot be clicked', async () => {
  await show('<button id="b" disabled>Go</button>');
  await setting.refused({ action: 'click', selector: '#b' }, 'element_disabled', { timeout_ms: 1000 });
});

describe('a click', () => {
  test('has the requested button, modifier keys and number of clicks', async () => {
    await show('<button id="b">Go</button>');
    await click('#b', { how: 'double' });
    assert.deepEqual(await heard(), [...clicksOn('b'), ...clicksOn('b').filter((each) => !each.startsWith('focusin')), 'dblclick b']);
    await click('#b', { how: 'right' });
    assert.ok((await heard()).includes('contextmenu b'));
    await click('#b', { how: 'middle' });
    assert.ok((await heard()).includes('auxclick b'));
    await page.evaluate(() => {
      addEventListener('click', ({ ctrlKey, shiftKey, clientX }) => { window.last = { ctrlKey, shiftKey, clientX }; });
    });
    await click('#b', { how: 'Control+Shift', x: 3, y: 4 });
    const { ctrlKey, shiftKey, clientX } = await page.evaluate(() => window.last);
    const left = await page.evaluate(() => document.querySelector('#b').getBoundingClientRect().left);
    assert.deepEqual([ctrlKey, shiftKey, clientX], [true, true, left + 3]);
    await setting.refused({ action: 'click', selector: '#b', how: 'softly' }, 'invalid_params');
    await setting.refused({ action: 'click', x: 1 }, 'invalid_params');
  });

  test('reaches a hidden checkbox through its label', async () => {
    await show('<label>Yes <input id="tick" type="checkbox" style="display: none"></label>');
    await click('#tick');
    assert.equal(await page.isChecked('#tick'), true);
  });

  test('hits a link that wraps over two lines, and a shape with an empty middle', async () => {
    await show(`<div style="width: 120px">words words <a id="a" href="#x">a link that is broken</a></div>
      <svg width="100" height="100"><path id="p" d="M0 0 H100 V20 H20 V100 H0 Z"/></svg>`);
    await click('#a');
    assert.ok((await heard()).includes('click a'));
    await click('#p');
    assert.ok((await heard()).includes('click p'));
  });
});

describe('a button replaced by the page', () => {
  const replaced = (type) => `<div id="box"><button id="b">Go</button></div><script>
    window.renewed = 0;
    box.addEventListener('${type}', () => {
      if (renewed++ === 0) box.innerHTML = '<button id="new">Go</button>';
    });</script>`;
  const said = async (more) => JSON.stringify(await setting.gateway.run({ action: 'click', selector: '#b', ...more }));

  test('is reported as not clicked after a replacement on mousedown', async () => {
    await show(replaced('mousedown'));
    assert.match(await said(), /pressed on .*button Go, which the page then replaced: no click/);
    assert.deepEqual((await heard()).filter((each) => each.startsWith('click')), []);
  });

  test('is reported as clicked once after a replacement on the first of two clicks', async () => {
    await show(replaced('click'));
    assert.match(await said({ how: 'double' }), /clicked .*button Go, which the page then replaced: no second click/);
    assert.deepEqual((await heard()).filter((each) => /click/.test(each)), ['click b']);
  });
});

describe('frames and shadow trees', () => {
  const TREES = `<p style="height: 1500px">tall</p><my-box></my-box><iframe src="/outer" width="300" height="200"></iframe>
    <script>
      customElements.define('my-box', class extends HTMLElement {
        connectedCallback() {
          const closed = this.attachShadow({ mode: 'closed' });
          closed.innerHTML = '<div></div>';
          const open = closed.firstChild.attachShadow({ mode: 'open' });
          open.innerHTML = '<button id="shaded">Shaded</button><input id="field">';
          for (const type of ['pointerdown', 'click', 'input']) {
            open.addEventListener(type, (event) => heard.push(type + ' ' + event.target.id));
          }
        }
      });
    </script>`;
  beforeEach(() => show(TREES));

  test('a button inside two shadow trees is clicked by CSS selector and by ref', async () => {
    await click('#shaded');
    assert.ok((await heard()).includes('click shaded'));
    const { page: outline } = await setting.perform({ action: 'page' });
    const [, ref] = outline.match(/(e\d+) button Shaded/);
    await click(ref);
    assert.ok((await heard()).includes('click shaded'));
    await setting.perform({ action: 'press', selector: '#field', key: 'a b' });
    assert.deepEqual((await heard()).filter((each) => each === 'input field').length, 2);
  });

  test('a button inside two frames is scrolled into view and clicked', async () => {
    const frame = () => page.frames().find((each) => each.url().endsWith('/inner'));
    await page.waitForFunction(() => frames[0]?.frames[0]?.document.querySelector('#deep'));
    for (const wanted of [{ text: 'Deep' }, { selector: '#deep' }]) {
      assert.equal((await setting.perform({ action: 'wait_for', ...wanted })).matched, true);
    }
    await click('#deep');
    assert.deepEqual(await heard(frame()), clicksOn('deep'));
    const { x, y } = await page.evaluate(() => {
      const boxes = [document.querySelector('iframe').getBoundingClientRect()];
      const inner = frames[0].document.querySelector('iframe').getBoundingClientRect();
      const deep = frames[0].frames[0].document.querySelector('#deep').getBoundingClientRect();
      return {
        x: Math.round(boxes[0].x + 2 + inner.x + 2 + deep.x + 5),
        y: Math.round(boxes[0].y + 2 + inner.y + 2 + deep.y + 5),
      };
    });
    await setting.perform({ action: 'click', x, y });
    assert.ok((await heard(frame())).includes('click deep'));
    await setting.perform({ action: 'press', key: 'Tab' });
    await page.evaluate(() => document.querySelector('iframe').style.setProperty('pointer-events', 'none'));
    await setting.refused({ action: 'click', selector: '#deep' }, 'element_covered');
  });
});

describe('scroll', () => {
  test('scrolls the pane that contains the given element', async () => {
    await show(`<div id="pane" style="height: 100px; overflow: auto"><p id="p" style="height: 900px">x</p></div>
      <p style="height: 3000px">y</p>`);
    assert.deepEqual(await setting.perform({ action: 'scroll', selector: '#p', dy: 120 }), { x: 0, y: 120 });
    assert.deepEqual(await page.evaluate(() => [scrollY, document.querySelector('#pane').scrollTop]), [0, 120]);
  });
});
