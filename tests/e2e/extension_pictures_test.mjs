/** The pictures that the extension takes in a real Chromium; they are kept in `artifacts/`. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { assertComplete, ExtensionSetting, keepPicture } from './support/extension_setting.js';

const RED = [200, 0, 0];
const GREEN = [0, 200, 0];
const BLUE = [0, 0, 200];
const YELLOW = [200, 200, 0];
const CYAN = [0, 200, 200];
const BLACK = [0, 0, 0];

let setting;
let gateway;
let page;
let tabId;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway } = setting);
  ({ page, tabId } = await setting.open('/'));
});
after(() => setting?.stop());

/** Takes a picture, keeps it, and returns its description. */
async function take(name, params = {}, fields = {}) {
  const picture = await setting.perform({ action: 'screenshot', ...params }, fields);
  await keepPicture(name, picture);
  return picture;
}

/** The colours of some points of a picture, decoded by the browser. */
function coloursAt({ mime_type: type, base64 }, points) {
  return page.evaluate(async ([source, wanted]) => {
    const image = await createImageBitmap(await (await fetch(source)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    return wanted.map(([x, y]) => [...canvas.getImageData(x, y, 1, 1).data].slice(0, 3));
  }, [`data:${type};base64,${base64}`, points]);
}

describe('a screenshot of the visible part', () => {
  before(() => page.goto(`${setting.pages.url}/`));

  test('is a PNG with the size of the viewport', async () => {
    const picture = await take('viewport');
    const size = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }));
    assert.equal(picture.mime_type, 'image/png');
    assert.equal(Buffer.from(picture.base64, 'base64').subarray(1, 4).toString(), 'PNG');
    assert.deepEqual({ width: picture.width, height: picture.height }, size);
  });

  test('leaves the front tab active when it is taken of a background tab', async () => {
    const second = await setting.open('/second');
    try {
      const behind = { action: 'screenshot', tab_id: tabId };
      const front = { action: 'screenshot', tab_id: second.tabId };
      const commands = [behind, front, behind].map((params) => gateway.send(params));
      const reports = await Promise.all(commands.map((command) => gateway.finalOf(command)));
      const images = reports.map(({ body }) => assertComplete(body).base64);
      assert.notEqual(images[0], images[1]);
      assert.equal(images[0], images[2]);
      assert.equal(reports[0].body.url, page.url());
      const read = await setting.perform({ action: 'get_page' });
      assert.equal(read.title, 'Second page');
    } finally {
      await second.page.close();
    }
  });

  test('is compressed to a smaller JPEG when a PNG would be too large', async () => {
    await page.goto(`${setting.pages.url}/second`);
    await page.setViewportSize({ width: 2000, height: 1500 });
    try {
      await page.evaluate(() => {
        const canvas = document.createElement('canvas');
        Object.assign(canvas, { width: 2000, height: 1500 });
        const context = canvas.getContext('2d');
        const noise = context.createImageData(2000, 1500);
        for (let at = 0; at < noise.data.length; at += 65_536) {
          crypto.getRandomValues(noise.data.subarray(at, at + 65_536));
        }
        context.putImageData(noise, 0, 0);
        document.body.replaceChildren(canvas);
      });
      const picture = await take('noise');
      assert.equal(picture.mime_type, 'image/jpeg');
      assert.equal(picture.width, 1568);
      assert.equal(picture.height, 1176);
      assert.equal(picture.scale, 0.784);
      assert.ok(picture.base64.length < 4 * 1024 * 1024);
    } finally {
      await page.setViewportSize({ width: 1280, height: 720 });
    }
  });
});

describe('a screenshot of the whole page', () => {
  before(() => page.goto(`${setting.pages.url}/tall`));
  afterEach(async () => {
    const style = await page.evaluate(() =>
      [...document.querySelectorAll('[style]')].filter(({ style: { position, visibility } }) =>
        position || visibility).length);
    assert.equal(style, 0, 'The page got its looks back.');
  });

  test('is assembled from parts, with fixed elements shown only once', async () => {
    await page.evaluate(() => scrollTo(0, 333));
    const picture = await take('full_page', { full_page: true });
    assert.equal(picture.height, 2520);
    assert.equal(picture.width, await page.evaluate(() => document.documentElement.clientWidth));
    assert.equal('truncated' in picture, false);
    const points = [20, 100, 510, 700, 730, 1_200, 1_440, 1_800, 2_100, 2_510];
    const colours = await coloursAt(picture, points.map((y) => [10, y]));
    assert.deepEqual(colours, [
      BLACK, RED, [0, 0, 255], GREEN, GREEN, BLUE, BLUE, YELLOW, CYAN, CYAN,
    ]);
    assert.equal(await page.evaluate(() => scrollY), 333);
  });

  test('is truncated at the maximum height, and reports its progress', async () => {
    await page.goto(`${setting.pages.url}/endless`);
    const command = gateway.send({ action: 'screenshot', full_page: true }, { timeout_ms: 60_000 });
    const { body } = await gateway.post(command, 'pending');
    assert.match(body.progress.message, /^\d+ of 23 parts of the picture are taken\.$/);
    assert.ok(body.progress.fraction >= 0 && body.progress.fraction < 1);
    const picture = assertComplete((await gateway.finalOf(command)).body);
    await keepPicture('endless', picture);
    assert.equal(picture.height, 16_384);
    assert.equal(picture.truncated, true);
  });

  test('is abandoned when it is cancelled, and the page is restored', async () => {
    await page.goto(`${setting.pages.url}/endless`);
    await page.evaluate(() => scrollTo(0, 1_000));
    const command = gateway.send({ action: 'screenshot', full_page: true }, { timeout_ms: 60_000 });
    await gateway.post(command, 'pending');
    gateway.cancel(command);
    await page.waitForFunction(() => scrollY === 1_000);
    await setting.perform({ action: 'get_page' });
    assert.equal(gateway.postsOf(command).at(-1).body.status, 'pending');
  });
});

describe('a screenshot of an element', () => {
  before(() => page.goto(`${setting.pages.url}/tall`));

  test('contains only the element', async () => {
    const picture = await take('element', { selector: '#third' });
    assert.equal(picture.width, 300);
    assert.equal(picture.height, 500);
    const colours = await coloursAt(picture, [[0, 0], [299, 0], [0, 499], [299, 499]]);
    assert.deepEqual(colours, [BLUE, BLUE, BLUE, BLUE]);
  });

  test('can be taller than the window', async () => {
    const picture = await take('tall_element', { selector: 'body' });
    assert.equal(picture.height, 2520);
    const colours = await coloursAt(picture, [[5, 100], [5, 2_400]]);
    assert.deepEqual(colours, [RED, CYAN]);
  });

  test('is rejected when the element is hidden', async () => {
    await page.evaluate(() => document.querySelector('#sticky').toggleAttribute('hidden'));
    const params = { action: 'screenshot', selector: '#sticky' };
    const error = await setting.refused(params, 'element_hidden');
    assert.match(error.message, /cannot be seen: display: none/);
  });
});

describe('coordinates in a screenshot', () => {
  test('match the viewport: elements with refs are marked at their positions', async () => {
    await page.goto(`${setting.pages.url}/framed`);
    const plain = await take('unmarked');
    const marked = await take('marked', { marks: true });
    const box = await page.locator('button').first().boundingBox();
    const corner = [[Math.round(box.x), Math.round(box.y + box.height)]];
    assert.notDeepEqual(await coloursAt(marked, corner), await coloursAt(plain, corner));
    const { width, height } = marked;
    assert.deepEqual({ width, height }, { width: plain.width, height: plain.height });
    const left = await page.evaluate(() => document.documentElement.outerHTML.includes('mark'));
    assert.equal(left, false);
    const error = await setting.refused({ action: 'screenshot', marks: 'yes' }, 'invalid_params');
    assert.match(error.message, /^marks/);
  });

  test('are the same on a high-density screen', async () => {
    await page.goto(`${setting.pages.url}/tall`);
    const session = await page.context().newCDPSession(page);
    const metrics = { width: 1280, height: 720, deviceScaleFactor: 2, mobile: false };
    await session.send('Emulation.setDeviceMetricsOverride', metrics);
    try {
      const [width, height] = await page.evaluate(() => [innerWidth, innerHeight]);
      const visible = await take('fine_pixels');
      assert.deepEqual([visible.width, visible.height], [width, height]);
      const element = await take('fine_element', { selector: '#third' });
      assert.deepEqual([element.width, element.height], [300, 500]);
      const colours = await coloursAt(element, [[1, 1], [298, 498]]);
      assert.deepEqual(colours, [BLUE, BLUE]);
    } finally {
      await session.send('Emulation.clearDeviceMetricsOverride');
      await page.goto(`${setting.pages.url}/framed`);
    }
  });

  test('cover exactly an element in a frame, which is scrolled into view', async () => {
    const picture = await take('element_in_frame', { selector: '#green' });
    assert.deepEqual([picture.width, picture.height], [100, 60]);
    const points = [[1, 1], [98, 1], [1, 58], [98, 58]];
    assert.deepEqual(await coloursAt(picture, points), [GREEN, GREEN, GREEN, GREEN]);
  });
});
