/** Drags with pages' common libraries, in a real Chromium. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { REBOUND_NAME } from './support/chromium.js';
import { HandsSetting } from './support/hands_setting.js';

const file = (path) => readFileSync(new URL(`node_modules/${path}`, import.meta.url), 'utf8');
const SCRIPTS = {
  jquery: file('jquery/dist/jquery.min.js'),
  ui: file('jquery-ui/dist/jquery-ui.min.js'),
  d3v3: file('d3v3/d3.min.js'),
  d3v4: file('d3v4/build/d3.min.js'),
  sortable: file('sortablejs/Sortable.min.js'),
  react: file('react/umd/react.production.min.js'),
  dom: file('react-dom/umd/react-dom.production.min.js'),
  dnd: file('react-dnd/dist/umd/ReactDnD.min.js'),
  html5: file('react-dnd-html5-backend/dist/umd/ReactDnDHTML5Backend.min.js'),
};

/** Elements to drag and a drop target, each in a document that records its events. */
const HEARING = `<style>body { margin: 0 } iframe { border: 3px solid; display: block } div { width: 100px; height: 50px; background: gold }</style>
  <script>
    window.heard = [];
    const types = ['dragstart', 'dragenter', 'dragover', 'dragleave', 'drop', 'dragend', 'mousedown', 'mousemove', 'mouseup', 'click'];
    for (const type of types) {
      addEventListener(type, ({ target, buttons, dataTransfer: carried, clientX, clientY }) => {
        // Of an event by a script, effects are none, and at the end the texts can still be read.
        const texts = carried && [[...carried.types].join(), type === 'dragend' ? '' : carried.getData('text/plain')];
        const at = ['mouseup', 'drop', 'mousedown'].includes(type) ? [Math.round(clientX), Math.round(clientY)] : [];
        heard.push([type, target.id || target.localName, ...carried ? texts : [buttons], ...at]);
      }, true);
    }
  </script>`;
const SOURCE = `<div id="html" draggable="true">html</div><div id="mouse">mouse</div><script>
  document.querySelector('#html').addEventListener('dragstart', ({ dataTransfer }) => {
    dataTransfer.setData('text/plain', 'Ace');
    dataTransfer.setData('application/x-card', '{}');
  });</script>`;
const GOAL = `<div id="goal">goal</div><script>
  for (const type of ['dragenter', 'dragover', 'drop']) {
    document.querySelector('#goal').addEventListener(type, (event) => {
      event.preventDefault();
    });
  }</script>`;
Object.assign(SCRIPTS, {
  source: HEARING + SOURCE, goal: HEARING + GOAL, deep: `${HEARING}<p style="height: 400px">tall</p><iframe src="/goal" width="150" height="80"></iframe>`,
});

let hands;
let page;

before(async () => {
  hands = await HandsSetting.start(SCRIPTS);
  ({ page } = hands);
});
after(() => hands?.stop());

const load = (...names) => names.map((name) => `<script src="/${name}"></script>`).join('');
const drag = (selector, to, more) => hands.perform({ action: 'drag', selector, to, ...more });
const box = (selector) => page.evaluate((text) => {
  const { left, top, width, height } = document.querySelector(text).getBoundingClientRect();
  return [left, top, width, height].map(Math.round);
}, selector);
const texts = (selector) => page.locator(selector).allTextContents();

const STYLE = `<style>body { margin: 0; font: 16px monospace } li { height: 30px; margin: 0 }
  .box { position: absolute; left: 20px; top: 20px; width: 60px; height: 40px; background: gold }
  .ui-resizable-handle { position: absolute; right: 0; bottom: 0; width: 12px; height: 12px }</style>`;
const LIST = `<ul id="list">${['One', 'Two', 'Three', 'Four'].map((each) => `<li id="${each}">${each}</li>`).join('')}</ul>`;

describe('the drag action', () => {
  test('moves a jQuery UI draggable', async () => {
    await hands.show(`${STYLE}${load('jquery', 'ui')}<div id="a" class="box"></div><script>$('#a').draggable()</script>`);
    await drag('#a', '+70,+45');
    assert.deepEqual((await box('#a')).slice(0, 2), [90, 65]);
    await drag('#a', '200,150');
    assert.deepEqual((await box('#a')).slice(0, 2), [170, 130]);
  });

  test('reorders a jQuery UI sortable', async () => {
    await hands.show(`${STYLE}${load('jquery', 'ui')}${LIST}<script>$('#list').sortable()</script>`);
    await drag('#One', '#Three');
    assert.deepEqual(await texts('li'), ['Two', 'Three', 'One', 'Four']);
    await drag('#Four', '#Two');
    assert.deepEqual(await texts('li'), ['Four', 'Two', 'Three', 'One']);
  });

  test('resizes a jQuery UI resizable', async () => {
    await hands.show(`${STYLE}${load('jquery', 'ui')}<div id="a" class="box"></div><script>$('#a').resizable()</script>`);
    await drag('.ui-resizable-se', '+50,+30');
    assert.deepEqual((await box('#a')).slice(2), [110, 70]);
  });

  test('moves an element with the drag behaviour of d3 version 3', async () => {
    await hands.show(`${load('d3v3')}<svg width="400" height="300"><circle r="20" cx="50" cy="50"/></svg><script>
      d3.select('circle').call(d3.behavior.drag().on('drag', function () {
        d3.select(this).attr('cx', d3.event.x).attr('cy', d3.event.y);
      }));</script>`);
    await drag('circle', '+100,+50');
    assert.deepEqual(await page.evaluate(() => ['cx', 'cy'].map((name) =>
      Math.round(document.querySelector('circle').getAttribute(name)))), [150, 100]);
  });

  test('moves an element with the drag behaviour of d3 version 4', async () => {
    await hands.show(`${load('d3v4')}<svg width="400" height="300"><circle r="20" cx="50" cy="50"/></svg><script>
      d3.select('circle').datum({ x: 50, y: 50 }).call(d3.drag().on('drag', function (datum) {
        d3.select(this).attr('cx', datum.x = d3.event.x).attr('cy', datum.y = d3.event.y);
      }));</script>`);
    await drag('circle', '+100,+50');
    assert.deepEqual(await page.evaluate(() => ['cx', 'cy'].map((name) =>
      Math.round(document.querySelector('circle').getAttribute(name)))), [150, 100]);
  });

  test('reorders a SortableJS list with HTML drag and drop', async () => {
    await hands.show(`${STYLE}${load('sortable')}${LIST}<script>new Sortable(list)</script>`);
    await drag('#One', '#Three');
    assert.deepEqual(await texts('li'), ['Two', 'Three', 'One', 'Four']);
  });

  test('reorders a SortableJS list with pointer events', async () => {
    await hands.show(`${STYLE}${load('sortable')}${LIST}<script>new Sortable(list, { forceFallback: true })</script>`);
    await drag('#Four', '#Two');
    assert.deepEqual(await texts('li'), ['One', 'Four', 'Two', 'Three']);
  });

  test('drops a react-dnd item with HTML drag and drop', async () => {
    await hands.show(`${load('react', 'dom', 'dnd', 'html5')}<div id="root"></div><script>
      const { createElement: h, useState } = React;
      const Card = () => {
        const [, ref] = ReactDnD.useDrag({ item: { type: 'card', name: 'Ace' } });
        return h('div', { ref, id: 'card', style: { width: 80, height: 40 } }, 'Ace');
      };
      const Bin = () => {
        const [got, setGot] = useState('nothing');
        const [, ref] = ReactDnD.useDrop({ accept: 'card', drop: ({ name }) => setGot(name) });
        return h('div', { ref, id: 'bin', style: { width: 200, height: 100, marginTop: 80 } }, got);
      };
      const backend = ReactDnDHTML5Backend.HTML5Backend ?? ReactDnDHTML5Backend.default;
      ReactDOM.createRoot(root).render(h(ReactDnD.DndProvider, { backend }, h(Card), h(Bin)));
    </script>`);
    await page.waitForSelector('#bin');
    await drag('#card', '#bin');
    assert.equal(await page.textContent('#bin'), 'Ace');
  });

  for (const [what, script] of [
    ['', ''],
    [' on a page that has replaced built-in functions', `Object.assign = Array.prototype.forEach = () => { throw new Error('no'); };
      addEventListener('pointerdown', () => { window.Event = document.dispatchEvent = undefined; });`],
  ]) test(`moves a slider that captures the pointer${what}`, async () => {
    await hands.show(`${STYLE}<div id="rail" style="width: 300px; height: 40px"><div id="knob" class="box"></div></div><script>
      ${script}
      window.heard = [];
      const knob = document.querySelector('#knob');
      knob.addEventListener('pointerdown', (event) => knob.setPointerCapture(event.pointerId));
      knob.addEventListener('pointermove', (event) => {
        if (knob.hasPointerCapture(event.pointerId)) knob.style.left = event.clientX - 30 + 'px';
      });
      knob.addEventListener('lostpointercapture', () => heard.push('lost'));
    </script>`);
    const before = await page.evaluate(() => Element.prototype.setPointerCapture);
    await drag('#knob', '+150,+200');
    assert.equal((await box('#knob'))[0], 170);
    assert.deepEqual(await page.evaluate(() => window.heard), ['lost']);
    assert.deepEqual(await page.evaluate(() => String(Element.prototype.setPointerCapture).includes('[native code]')), true);
    assert.deepEqual(before, await page.evaluate(() => Element.prototype.setPointerCapture));
  });

  test('starts at a given point of a canvas', async () => {
    await hands.show(`<body style="margin: 0"><canvas id="c" width="300" height="200"></canvas><script>
      window.path = [];
      for (const type of ['mousedown', 'mousemove', 'mouseup']) {
        c.addEventListener(type, ({ offsetX, offsetY, buttons }) => path.push([type, Math.round(offsetX), Math.round(offsetY), buttons]));
      }</script>`);
    await hands.perform({ action: 'drag', selector: '#c', x: 20, y: 30, to: '+100,+50' });
    const path = await page.evaluate(() => window.path);
    assert.deepEqual(path.find(([type]) => type === 'mousedown'), ['mousedown', 20, 30, 1]);
    assert.deepEqual(path.at(-1), ['mouseup', 120, 80, 0]);
    assert.ok(path.filter(([type, , , buttons]) => type === 'mousemove' && buttons === 1).length >= 10);
  });

  test('reports that nothing accepted the drop, and requires a start and an end', async () => {
    await hands.show('<p id="p" draggable="true">drag me</p><p id="q" style="margin-top: 100px">here</p>');
    const report = await hands.setting.gateway.run({ action: 'drag', selector: '#p', to: '#q' });
    assert.match(JSON.stringify(report.result), /dragged p#p.* to p#q.*; nothing there took it/);
    await hands.refused({ action: 'drag', selector: '#p' }, 'invalid_params');
    await hands.refused({ action: 'drag', to: '#p' }, 'invalid_params');
  });

  test('releases the pointer and restores pointer capture when it times out', async () => {
    await hands.show(`${STYLE}<div id="a" class="box"></div><script>
      window.heard = [];
      for (const type of ['pointerup', 'mouseup', 'lostpointercapture', 'click']) a.addEventListener(type, () => heard.push(type));
      a.addEventListener('pointerdown', (event) => a.setPointerCapture(event.pointerId));
      // The page is busy for longer than the command may take.
      a.addEventListener('pointermove', ({ buttons }) => {
        if (buttons !== 1 || window.busy) return;
        window.busy = true;
        for (const end = performance.now() + 1500; performance.now() < end;);
      });
    </script>`);
    await hands.setting.gateway.run({ action: 'drag', selector: '#a', to: '+100,+0' }, { timeout_ms: 1000 });
    await page.waitForFunction(() => String(Element.prototype.setPointerCapture).includes('[native code]'));
    assert.deepEqual(await page.evaluate(() => window.heard), ['pointerup', 'mouseup', 'lostpointercapture']);
  });
});

describe('a drag between frames', () => {
  const frame = (path, host = '') => `<iframe src="${host}/${path}" width="200" height="110"></iframe>`;
  const elsewhere = () => `http://${REBOUND_NAME}:${new URL(hands.url).port}`;
  const PLACES = {
    'from frame to frame': (host) => frame('source', host) + frame('goal', host),
    'from a frame to the page': (host) => frame('source', host) + GOAL,
    'from the page to a frame': (host) => SOURCE + frame('goal', host),
  };

  const frameWith = async (selector) => {
    for (const each of page.frames()) if (await each.$(selector)) return each;
    throw new Error(`${selector} is nowhere`);
  };

  /**
   * The events of each frame: of repeated events only the first, and all events that end a drag.
   */
  async function heard() {
    const all = await Promise.all(page.frames().map((each) => each.evaluate(() => window.heard.splice(0))));
    return all.map((list) => {
      const isFirst = ([type, at], place) => list.findIndex((each) => each[0] === type && each[1] === at) === place;
      return list.filter((each, place) => isFirst(each, place));
    });
  }

  async function dragReal(selector) {
    const middle = async (name) => {
      const { x, y, width, height } = await (await (await frameWith(name)).$(name)).boundingBox();
      return [x + width / 2, y + height / 2];
    };
    const [from, to] = [await middle(selector), await middle('#goal')];
    await page.mouse.move(...from);
    await page.mouse.down();
    // The action drags slightly beyond the middle of its goal.
    const end = to.map((at, axis) => at + 3 * Math.sign(Math.round(at - from[axis])));
    await page.mouse.move(...end, { steps: 11 });
    await page.mouse.move(...end);
    await page.mouse.up();
  }

  async function show(html) {
    await hands.show(HEARING + html);
    await (await frameWith('#goal')).waitForSelector('#goal');
    await (await frameWith('#html')).waitForSelector('#html');
    await page.mouse.move(250, 5);
    await heard();
  }

  const ENDS = ['dragstart', 'drop', 'dragend', 'mousedown', 'mouseup', 'click'];
  const ends = (lists) => lists.map((list) => list.filter(([type]) => ENDS.includes(type)));

  for (const [name, html] of Object.entries(PLACES)) {
    for (const selector of ['#html', '#mouse']) {
      test(`fires the same events as real input ${name}: ${selector}`, async () => {
        await show(html());
        await dragReal(selector);
        const real = ends(await heard());
        // A test's real input does not cross from one site to another; the pages' events have to be
        // the same.
        await show(html(elsewhere()));
        await drag(selector, '#goal');
        assert.deepEqual(ends(await heard()), real);
      });
    }
  }

  test('hides the dragged text from the page of its target until the drop', async () => {
    await show(PLACES['from frame to frame'](elsewhere()));
    await drag('#html', '#goal');
    const types = 'text/plain,application/x-card';
    const [, , goal] = await heard();
    assert.deepEqual(goal.map(([type, , ...texts]) => [type, ...texts.slice(0, 2)]), [
      ['dragenter', types, ''], ['dragover', types, ''], ['drop', types, 'Ace'],
    ]);
  });

  test('passes each frame on its way, and drops nothing where no element accepts it', async () => {
    await show(frame('source') + frame('goal'));
    const report = await hands.setting.gateway.run({ action: 'drag', selector: '#html', to: '150,190' });
    assert.match(report.result.data.page, /nothing there took it/);
    const [top, source, goal] = await heard();
    assert.deepEqual(source.at(-1), ['dragend', 'html', 'text/plain,application/x-card', '']);
    assert.deepEqual(goal.map(([type]) => type).at(-1), 'dragleave');
    assert.deepEqual(top.filter(([type]) => type === 'drop'), []);
  });

  test('scrolls nested frames to reach its target', async () => {
    await hands.show(`${HEARING}<p style="height: 600px">tall</p>${SOURCE}<iframe src="${elsewhere()}/deep" width="300" height="200"></iframe><p style="height: 900px">tall</p>`);
    await page.frameLocator('iframe').frameLocator('iframe').locator('#goal').waitFor({ state: 'attached' });
    await drag('#html', '#goal');
    const lists = await heard();
    assert.ok(lists.flat().some(([type, , , text]) => type === 'drop' && text === 'Ace'), JSON.stringify(lists));
  });

  test('ends at the right position in a scaled frame', async () => {
    await hands.show(`${HEARING}${SOURCE}<iframe src="/goal" width="200" height="110" style="transform: scale(0.5); transform-origin: 0 0"></iframe>`);
    await (await frameWith('#goal')).waitForSelector('#goal');
    await drag('#mouse', '#goal');
    const [, goal] = await heard();
    assert.deepEqual(goal.at(-1).slice(0, 2), ['mouseup', 'goal']);
    const [, , , x, y] = goal.at(-1);
    assert.ok(Math.abs(x - 50) <= 4 && Math.abs(y - 25) <= 4, `${x},${y}`);
  });

  test('ends in all frames when the command times out first', async () => {
    await show(frame('source') + frame('goal'));
    await (await frameWith('#goal')).evaluate(() => {
      document.querySelector('#goal').addEventListener('dragenter', () => {
        for (const end = performance.now() + 1500; performance.now() < end;);
      });
    });
    await hands.setting.gateway.run({ action: 'drag', selector: '#html', to: '#goal' }, { timeout_ms: 1000 });
    await (await frameWith('#html')).waitForFunction(() => window.heard.some(([type]) => type === 'dragend'));
    const [, , goal] = await heard();
    assert.deepEqual(goal.filter(([type]) => type === 'drop'), []);
    assert.equal(goal.at(-1)[0], 'dragleave');
  });
});
