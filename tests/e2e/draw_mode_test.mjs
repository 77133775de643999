/** Draw mode in a real Chromium, with real mouse and keys, against a fake gateway. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { artifact } from './support/artifacts.js';
import { ExtensionSetting, keepPicture } from './support/extension_setting.js';
import { Overlay } from './support/overlay.js';

const SELECTORS = new URL('../../extension/src/page/selectors.js', import.meta.url);

/** The area of /shop that the tests draw around: the card with the button. */
const CARD = { from: { x: 12, y: 150 }, to: { x: 364, y: 270 } };

let setting;
let gateway;
let pages;
let browser;
let page;
let tabId;
let overlay;
let posted;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway, pages, browser } = setting);
});

after(() => setting?.stop());

beforeEach(() => { posted = gateway.drawings.filter(({ code }) => code === 200).length; });
afterEach(async () => { await page?.close(); });

async function open(path) {
  page = await browser.open(pages.url + path);
  tabId = await browser.tabIdOf(page);
  overlay = await Overlay.of(page);
}

async function switchOn(fields = {}) {
  const report = await gateway.run({ action: 'draw_mode', tab_id: tabId, ...fields });
  assert.equal(report.status, 'complete', JSON.stringify(report));
  await overlay.shown();
  return report.result.data;
}

async function openAndDraw(path, fields) {
  await open(path);
  return switchOn(fields);
}

/** Leaves with Done; resolves to the gateway's request. */
async function done() {
  await overlay.press(/^Done/);
  return nextDrawing();
}

async function nextDrawing() {
  return (await gateway.drawing(posted)).body;
}

/** Keeps a screenshot for people to look at; no check depends on it. */
async function keepPage(name) {
  await page.screenshot({ path: artifact(`${name}.png`) });
}

/** The colour of one pixel of a PNG, and its size. */
async function pixel({ base64 }, x, y) {
  return page.evaluate(async ([text, left, top]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const [...colour] = context.getImageData(left, top, 1, 1).data;
    return { colour, width: bitmap.width, height: bitmap.height };
  }, [base64, x, y]);
}

describe('a drawing', () => {
  test('contains its annotations with their elements and crops, and a screenshot', async () => {
    const data = await openAndDraw('/shop', {
      message: 'An agent asks you to mark <b>what is wrong</b>.',
      session: 'review',
      correlation_ids: ['ann_1_a'],
    });
    assert.deepEqual(data, { started: true, tab_id: tabId, url: `${pages.url}/shop` });
    const texts = await overlay.texts();
    assert.ok(texts.includes('An agent asks you to mark <b>what is wrong</b>.'), String(texts));

    await overlay.drag(CARD.from, CARD.to);
    await keepPage('note');
    await overlay.note('Make this wider');
    await page.keyboard.press('a');
    await overlay.drag({ x: 600, y: 400 }, { x: 80, y: 240 });
    await overlay.note('');
    await overlay.press(/^Text/);
    await page.mouse.click(700, 300);
    await overlay.note('Too empty here');
    await keepPage('drawing');
    const body = await done();
    await overlay.gone();
    await keepPicture('crop', body.annotations[0].crop);

    const { drawing_id: drawingId, annotations, screenshot, viewport, worker, ...rest } = body;
    assert.deepEqual(rest, {
      tab_id: tabId,
      url: `${pages.url}/shop`,
      title: 'Shop',
      session: 'review',
      correlation_ids: ['ann_1_a'],
      target: 'browser',
    });
    assert.match(drawingId, /^[0-9a-f-]{36}$/);
    assert.match(worker, /^[0-9a-f-]{36}$/);
    assert.deepEqual(viewport, {
      width: 1280, height: 720, scroll_x: 0, scroll_y: 0, device_pixel_ratio: 1,
    });
    const [box, arrow, text] = annotations;
    assert.equal(annotations.length, 3);

    const { element, crop, ...drawn } = box;
    const rect = { x: 12, y: 150, width: 352, height: 120 };
    assert.deepEqual(drawn, { id: 'a1', kind: 'rectangle', note: 'Make this wider', rect });
    assert.equal(element.selector, 'div.card > h2');
    assert.equal(element.tag, 'h2');
    assert.equal(element.text, 'Chair');
    assert.equal(element.computed_style['font-weight'], '700');
    assert.equal(element.computed_style.width, '300px');
    const bounds = await page.evaluate((selector) => {
      const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
      return { x, y, width, height };
    }, element.selector);
    for (const side of ['x', 'y', 'width', 'height']) {
      assert.ok(Math.abs(bounds[side] - element.bounds[side]) < 0.01, side);
    }
    const cut = await pixel(crop, 0, 0);
    assert.deepEqual([cut.width, cut.height], [364 + 24, 120 + 2 * 24]);

    assert.deepEqual([arrow.from, arrow.to], [{ x: 600, y: 400 }, { x: 80, y: 240 }]);
    assert.deepEqual(arrow.rect, { x: 80, y: 240, width: 520, height: 160 });
    assert.equal(arrow.element.selector, 'button[data-testid="buy"]');
    assert.deepEqual([arrow.note, text.note], ['', 'Too empty here']);
    assert.deepEqual(text.rect, { x: 700, y: 300, width: 0, height: 0 });
    assert.ok(arrow.crop && text.crop);

    // Where the box was drawn, the screenshot shows the page.
    const seen = await pixel(screenshot, 200, 150);
    assert.deepEqual(seen, { colour: [255, 255, 255, 255], width: 1280, height: 720 });
  });

  test('can be empty', async () => {
    await openAndDraw('/shop');
    await page.keyboard.press('Enter');
    const { annotations, crops_left_out: left } = await nextDrawing();
    assert.deepEqual(annotations, []);
    assert.equal(left, undefined);
  });

  test('answers all requests that arrive while it is made', async () => {
    await openAndDraw('/shop', { correlation_ids: ['ann_1_a'] });
    await overlay.drag(CARD.from, CARD.to);
    await overlay.note('');
    const data = await switchOn({ correlation_ids: ['ann_1_a', 'ann_2_b'], message: 'Once more' });
    const url = `${pages.url}/shop`;
    assert.deepEqual(data, { started: true, already: true, tab_id: tabId, url });
    assert.ok((await overlay.texts()).includes('Once more'));
    const body = await done();
    assert.deepEqual(body.correlation_ids, ['ann_1_a', 'ann_2_b']);
    assert.equal(body.annotations.length, 1);
  });

  test('supports undo, and ignores tiny drags and cancelled notes', async () => {
    await openAndDraw('/shop');
    await overlay.drag(CARD.from, CARD.to);
    await overlay.note('first');
    await overlay.drag({ x: 500, y: 300 }, { x: 600, y: 400 });
    await overlay.note('second');
    await page.keyboard.press('Control+z');
    await overlay.drag({ x: 500, y: 300 }, { x: 502, y: 301 });
    await page.keyboard.press('t');
    await page.mouse.click(500, 300);
    await page.keyboard.press('Escape');
    const { annotations } = await done();
    assert.deepEqual(annotations.map(({ note }) => note), ['first']);
  });

  test('can be made by keyboard, with the toolbar moved out of the way', async () => {
    await openAndDraw('/shop');
    const before = await overlay.place('button', /^Done/);
    const grip = await overlay.place('status', /^/);
    await overlay.drag(grip, { x: grip.x + 100, y: grip.y + 400 });
    const after = await overlay.place('button', /^Done/);
    const moved = [after.x - before.x, after.y - before.y].map(Math.round);
    assert.deepEqual(moved, [100, 400]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await overlay.drag({ x: 600, y: 100 }, { x: 80, y: 240 });
    await page.keyboard.type('one line');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('another');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    const { annotations: [mark] } = await nextDrawing();
    assert.equal(mark.kind, 'arrow');
    assert.equal(mark.note, 'one line\nanother');
  });

  test('is discarded and not sent when it is cancelled', async () => {
    await openAndDraw('/shop');
    await overlay.drag(CARD.from, CARD.to);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await overlay.gone();
    assert.equal(await page.evaluate(() => document.querySelector('callslip-draw-mode')), null);
    const kept = await browser.worker.evaluate(() => chrome.storage.session.get(null));
    assert.deepEqual(Object.keys(kept).filter((key) => key.startsWith('drawing:')), []);
    assert.equal(gateway.drawings.filter(({ code }) => code === 200).length, posted);
  });

  test('has at most 100 marks, with notes of at most 2,000 characters', async () => {
    await openAndDraw('/shop');
    await page.keyboard.press('t');
    await page.mouse.click(500, 300);
    await page.keyboard.insertText('x'.repeat(2_500));
    await page.keyboard.press('Enter');
    for (let count = 1; count < 102; count += 1) {
      await page.mouse.click(450 + (count % 50) * 10, 350 + Math.floor(count / 50) * 100);
      await page.keyboard.insertText(String(count));
      await page.keyboard.press('Enter');
      // After the hundredth mark there is no other note, so Enter ends draw mode.
      if (count === 100) break;
    }
    const { annotations } = await nextDrawing();
    assert.equal(annotations.length, 100);
    assert.equal(annotations[0].note.length, 2_000);
  });
});

describe('draw mode', () => {
  test('hides mouse and key events from the page, which keeps its focus', async () => {
    await open('/app');
    await page.click('#field');
    await switchOn();
    await page.evaluate(() => { window.heard = []; });
    await overlay.drag({ x: 200, y: 400 }, { x: 300, y: 500 });
    await overlay.note('typed with keys');
    await page.keyboard.type('xyz');
    await page.mouse.wheel(0, 50);
    await overlay.press(/^Arrow/);
    await page.mouse.click(100, 310, { button: 'right' });
    assert.deepEqual(await page.evaluate(() => window.heard), []);
    assert.equal(await page.inputValue('#field'), '');
    await page.keyboard.press('Escape');
    await overlay.gone();
    await page.click('#go');
    assert.ok(await page.evaluate(() => window.heard.includes('click')));
  });

  test('scrolls the page and the drawing with the wheel', async () => {
    await openAndDraw('/shop');
    await overlay.drag({ x: 300, y: 400 }, { x: 400, y: 500 });
    await overlay.note('up here');
    await page.mouse.wheel(0, 2_200);
    await page.waitForFunction(() => scrollY === 2_200);
    await overlay.drag({ x: 10, y: 290 }, { x: 100, y: 350 });
    await overlay.note('down here');
    await keepPage('scrolled');
    const body = await done();
    const [up, down] = body.annotations;
    assert.deepEqual(up.rect, { x: 300, y: 400, width: 100, height: 100 });
    assert.deepEqual(down.rect, { x: 10, y: 2_490, width: 90, height: 60 });
    assert.equal(down.element.text, 'Far below');
    assert.equal(body.viewport.scroll_y, 2_200);
    assert.ok(up.crop && down.crop, 'the page was scrolled for the picture out of sight');
    assert.equal(await page.evaluate(() => scrollY), 2_200);
  });

  test('keeps a mark on its element when an inner pane scrolls', async () => {
    await openAndDraw('/app');
    await overlay.drag({ x: 10, y: 330 }, { x: 300, y: 352 });
    await overlay.note('the list');
    const top = () => page.evaluate(() => document.querySelector('li').getBoundingClientRect().top);
    const before = await top();
    await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => document.querySelector('#pane').scrollTop === 120);
    assert.equal(await top(), before - 120);
    const [mark] = (await done()).annotations;
    assert.equal(mark.rect.y, 330 - 120);
  });

  test('works on a modal dialog', async () => {
    await open('/app');
    await page.evaluate(() => document.querySelector('dialog').showModal());
    await switchOn();
    const box = await page.locator('#asked').boundingBox();
    await overlay.drag({ x: box.x - 5, y: box.y - 5 },
      { x: box.x + box.width + 5, y: box.y + box.height + 5 });
    await keepPage('dialog');
    await overlay.note('rude');
    const [mark] = (await done()).annotations;
    assert.equal(mark.element.selector, '#asked');
  });

  test('restores its overlay when the page opens a dialog or removes the overlay', async () => {
    await openAndDraw('/app');
    await page.evaluate(() => document.querySelector('dialog').showModal());
    const box = await page.locator('#asked').boundingBox();
    await page.waitForFunction(() => document.querySelector('dialog > callslip-draw-mode'));
    await page.evaluate(() => document.querySelector('dialog').close());
    await page.waitForFunction(() => document.querySelector('html > callslip-draw-mode'));
    await page.evaluate(() => document.querySelector('callslip-draw-mode').remove());
    await page.waitForFunction(() => document.querySelector('html > callslip-draw-mode'));
    await overlay.drag({ x: box.x, y: box.y }, { x: box.x + 50, y: box.y + 50 });
    await overlay.note('still here');
    const { annotations } = await done();
    assert.deepEqual(annotations.map(({ note }) => note), ['still here']);
  });

  test('uses CSS pixels when the page is zoomed', async () => {
    await open('/shop');
    const zoom = (factor) => browser.worker.evaluate(
      ([id, value]) => chrome.tabs.setZoom(id, value), [tabId, factor]);
    await zoom(1.5);
    await page.waitForFunction(() => devicePixelRatio === 1.5);
    try {
      await switchOn();
      await overlay.drag(CARD.from, CARD.to);
      await keepPage('zoomed');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      const { annotations: [mark], viewport } = await nextDrawing();
      assert.deepEqual(mark.rect, { x: 12, y: 150, width: 352, height: 120 });
      assert.equal(mark.element.tag, 'h2');
      assert.equal(viewport.device_pixel_ratio, 1.5);
      const { width: wide } = await pixel(mark.crop, 0, 0);
      // The browser reports widths of the window in whole CSS pixels.
      assert.ok(Math.abs(wide - (364 + 24) * 1.5) <= 2, `${wide} pixels`);
    } finally {
      await zoom(1);
    }
  });

  test('keeps the drawing across a same-document navigation', async () => {
    await openAndDraw('/app');
    await overlay.drag({ x: 200, y: 400 }, { x: 300, y: 500 });
    await overlay.note('before');
    await page.evaluate(() => {
      history.pushState({}, '', '/app?view=2');
      document.body.replaceChildren(document.createElement('main'));
    });
    await overlay.drag({ x: 400, y: 400 }, { x: 500, y: 500 });
    await overlay.note('after');
    const body = await done();
    assert.equal(body.url, `${pages.url}/app?view=2`);
    assert.deepEqual(body.annotations.map(({ note }) => note), ['before', 'after']);
  });

  test('finds a unique selector for each element', async () => {
    const text = await readFile(SELECTORS, 'utf8');
    for (const path of ['/', '/app', '/shop']) {
      await page?.close();
      await open(path);
      await page.evaluate(text);
      const wrong = await page.evaluate(() => [...document.querySelectorAll('*')].filter((each) => {
        const found = document.querySelectorAll(callslipSelectors.selectorOf(each));
        return found.length !== 1 || found[0] !== each;
      }).map(({ outerHTML }) => outerHTML.slice(0, 80)));
      assert.deepEqual(wrong, []);
    }
  });

  test('is refused on a page that the browser restricts', async () => {
    page = await browser.open('chrome://version/');
    const report = await gateway.run({ action: 'draw_mode' });
    assert.equal(report.status, 'error');
    assert.equal(report.error.code, 'restricted_page');
    const kept = await browser.worker.evaluate(() => chrome.storage.session.get(null));
    assert.deepEqual(Object.keys(kept).filter((key) => key.startsWith('drawing:')), []);
  });

  const refusals = [
    [{ message: 7 }, /^message:/],
    [{ message: 'x'.repeat(501) }, /^message:/],
    [{ correlation_ids: 'ann_1' }, /^correlation_ids:/],
    [{ correlation_ids: [1] }, /^correlation_ids:/],
  ];
  for (const [fields, message] of refusals) {
    test(`rejects ${JSON.stringify(fields).slice(0, 40)}`, async () => {
      await open('/shop');
      const { error } = await gateway.run({ action: 'draw_mode', tab_id: tabId, ...fields });
      assert.equal(error.code, 'invalid_params');
      assert.match(error.message, message);
    });
  }
});

describe('a drawing in progress', () => {
  test('is restored after a reload and after a return to its page', async () => {
    await openAndDraw('/shop', { message: 'Mark it', correlation_ids: ['ann_1_a'] });
    await overlay.drag(CARD.from, CARD.to);
    await page.keyboard.type('kept');
    await browser.untilDrawn('kept');
    await page.reload();
    await overlay.shown();
    assert.ok((await overlay.texts()).includes('kept'));
    await page.goto(`${pages.url}/second`);
    await browser.untilLeft();
    await page.goBack();
    await overlay.shown();
    await overlay.drag({ x: 500, y: 300 }, { x: 600, y: 400 });
    await overlay.note('added');
    const body = await done();
    assert.deepEqual(body.annotations.map(({ id, note }) => [id, note]),
      [['a1', 'kept'], ['a2', 'added']]);
    assert.deepEqual(body.correlation_ids, ['ann_1_a']);
  });

  test('moves to the next page if it has no marks', async () => {
    await openAndDraw('/shop', { correlation_ids: ['ann_1_a'] });
    await page.goto(`${pages.url}/second`);
    await overlay.shown();
    const body = await done();
    assert.equal(body.url, `${pages.url}/second`);
    assert.deepEqual(body.correlation_ids, ['ann_1_a']);
  });

  test('survives the suspension of the service worker', async () => {
    await openAndDraw('/shop', { correlation_ids: ['ann_1_a'] });
    await overlay.drag(CARD.from, CARD.to);
    await overlay.note('kept');
    await browser.suspendWorker();
    await gateway.pollDropped();
    const body = await done();
    assert.equal(body.annotations[0].note, 'kept');
    assert.deepEqual(body.correlation_ids, ['ann_1_a']);
    assert.ok(body.screenshot);
  });
});

describe('a finished drawing', () => {
  test('reaches a gateway that was down, even if the service worker was suspended', async () => {
    await openAndDraw('/shop', { correlation_ids: ['ann_1_a'] });
    await overlay.drag(CARD.from, CARD.to);
    await overlay.note('kept');
    await gateway.down();
    await overlay.press(/^Done/);
    await overlay.gone();
    await browser.suspendWorker();
    await gateway.up();
    // Any event that the worker listens to starts it; a page that has been loaded is one.
    await page.goto(`${pages.url}/second`);
    const body = await nextDrawing();
    assert.equal(body.annotations[0].note, 'kept');
    assert.ok(body.annotations[0].crop && body.screenshot);
  });

  test('is sent again after a 503 response', async () => {
    gateway.answerDrawings({ code: 503, body: {} }, { code: 503, body: {} });
    await openAndDraw('/shop');
    const body = await done();
    assert.deepEqual(gateway.drawings.slice(-3).map(({ code }) => code), [503, 503, 200]);
    assert.deepEqual(gateway.drawings.at(-2).body, body);
    assert.equal(new Set(gateway.drawings.slice(-3).map((each) => each.body.drawing_id)).size, 1);
  });
});
