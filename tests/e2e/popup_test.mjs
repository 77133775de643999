/** The popup and the options page in a real Chromium, against a fake gateway. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { artifact } from './support/artifacts.js';
import { ExtensionSetting, UNTIL_RELEASED } from './support/extension_setting.js';
import { Overlay } from './support/overlay.js';

let setting;
let gateway;
let pages;
let browser;
let page;
let popup;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway, pages, browser } = setting);
  page = await browser.open(`${pages.url}/shop`);
});

after(() => setting?.stop());

afterEach(async () => {
  await popup?.close();
  popup = null;
});

/** Opens the popup in a window of its own, so that the page stays in front of its window. */
async function openPopup() {
  const opened = browser.context.waitForEvent('page');
  const create = () => chrome.windows.create({ url: 'popup.html', type: 'popup' });
  await browser.currentWorker().evaluate(create);
  popup = await opened;
  await popup.setViewportSize({ width: 380, height: 520 });
  return popup;
}

async function openOptions() {
  popup = await browser.openExtensionPage('/options.html');
  await popup.setViewportSize({ width: 520, height: 620 });
  await popup.waitForFunction(() => document.querySelector('[name=target]').placeholder);
  return popup;
}

async function keepPictures(name) {
  for (const colorScheme of ['light', 'dark']) {
    await popup.emulateMedia({ colorScheme });
    await popup.screenshot({ path: artifact(`${name}_${colorScheme}.png`) });
  }
}

const says = (selector, text) => popup.locator(selector, { hasText: text }).waitFor();

const badge = () => browser.currentWorker().evaluate(() => chrome.action.getBadgeText({}));

async function untilBadge(text) {
  // The badge is set when the popup shows the state, or with the next look.
  while (await badge() !== text);
}

describe('the popup', () => {
  test('shows the gateway, and the running and recent commands', async () => {
    await gateway.run({ action: 'click', selector: '#nowhere' });
    const running = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await openPopup();
    await says('#state', 'Connected');
    assert.equal(await popup.textContent('#gateway'), gateway.url);
    assert.equal(await popup.textContent('#target'), 'browser');
    // The page's policy forbids scripts from text, so both commands have ended.
    await gateway.finalOf(running);
    await says('#recent', 'element not found');
    await says('#recent', 'script blocked');
    await says('#running', 'No commands');
    await untilBadge('on');
    await keepPictures('popup');
  });

  test('shows a command while it runs', async () => {
    const free = await browser.open(`${pages.url}/`);
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await free.waitForFunction(() => 'release' in window);
    await openPopup();
    await says('#running', 'execute_js on 127.0.0.1');
    await free.evaluate(() => window.release(1));
    await gateway.finalOf(command);
    await says('#running', 'No commands');
    await says('#recent', 'complete');
    await free.close();
  });

  test('pauses the extension: it takes no new command but finishes the running one', async () => {
    const free = await browser.open(`${pages.url}/`);
    const running = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await free.waitForFunction(() => 'release' in window);
    await openPopup();
    await says('#state', 'Connected');
    await popup.getByRole('switch', { name: 'Pause' }).check();
    await says('#state', 'Paused');
    await gateway.pollDropped();
    await untilBadge('II');
    await keepPictures('popup_paused');
    const waiting = gateway.send({ action: 'get_page' });
    await free.evaluate(() => window.release('went on'));
    assert.equal((await gateway.finalOf(running)).body.result.data, 'went on');
    assert.equal(gateway.postsOf(waiting).length, 0);
    await popup.getByRole('switch', { name: 'Pause' }).uncheck();
    assert.equal((await gateway.finalOf(waiting)).body.status, 'complete');
    await says('#state', 'Connected');
    await free.close();
  });

  test('shows when the gateway is down and when it is back', async () => {
    await openPopup();
    await gateway.down();
    await says('#state', 'Not connected');
    await says('#error', 'No response.');
    await untilBadge('!');
    await keepPictures('popup_away');
    await gateway.up();
    await says('#state', 'Connected');
    await untilBadge('on');
  });

  test('switches draw mode on in the active tab', async () => {
    await page.bringToFront();
    const overlay = await Overlay.of(page);
    const closed = (await openPopup()).waitForEvent('close');
    await popup.getByRole('button', { name: 'Draw on this page' }).click();
    await closed;
    await overlay.shown();
    await page.keyboard.press('Escape');
    await overlay.gone();
  });

  test('enables no controls before its script can answer a click', async () => {
    popup = await browser.context.newPage();
    const asked = new Promise((resolve) => { popup.route('**/popup_view.js', resolve); });
    await popup.goto(new URL('/popup.html', browser.worker.url()).href, { waitUntil: 'commit' });
    const script = await asked;
    await says('#state', 'Starting');
    const draw = popup.getByRole('button', { name: 'Draw on this page' });
    assert.equal(await draw.isVisible(), false);
    assert.equal(await popup.getByRole('switch', { name: 'Pause' }).isEnabled(), false);
    await script.continue();
    await draw.click();
    await says('[role=alert]', 'extensions cannot act on this page');
    assert.equal(await popup.getByRole('switch', { name: 'Pause' }).isEnabled(), true);
  });

  test('shows why it cannot draw', async () => {
    const own = await browser.open('chrome://version/');
    await openPopup();
    await popup.getByRole('button', { name: 'Draw on this page' }).click();
    await says('[role=alert]', 'extensions cannot act on this page');
    await own.close();
  });

  for (const [decision, count] of [['Send', 1], ['Discard', 0]]) {
    test(`offers ${decision} for a drawing that was left unsent`, async () => {
      const before = gateway.drawings.length;
      const left = await browser.open(`${pages.url}/shop`);
      const overlay = await Overlay.of(left);
      await gateway.run({ action: 'draw_mode', correlation_ids: ['ann_1_a'] });
      await overlay.shown();
      await overlay.drag({ x: 12, y: 150 }, { x: 364, y: 270 });
      await overlay.note('kept');
      await left.goto(`${pages.url}/second`);
      await openPopup();
      await says('#drawings', 'Shop: 1 mark');
      await keepPictures('popup_drawing');
      await popup.getByRole('button', { name: decision }).click();
      await popup.locator('#drawings').waitFor({ state: 'hidden' });
      if (count > 0) {
        const { body } = await gateway.drawing(before);
        assert.equal(body.annotations[0].note, 'kept');
        assert.deepEqual(body.correlation_ids, ['ann_1_a']);
        assert.equal(body.crops_left_out, true);
      }
      assert.equal(gateway.drawings.length, before + count);
      await left.close();
    });
  }

  test('links to the options', async () => {
    await openPopup();
    // Without its script, the link opens the page in the popup itself.
    await popup.locator('#paused:enabled').waitFor();
    const opened = browser.context.waitForEvent('page');
    await popup.getByRole('link', { name: 'options' }).click();
    const options = await opened;
    assert.match(options.url(), /options|extensions/);
    await options.close();
  });
});

describe('the keyboard command', () => {
  test('switches draw mode on', async () => {
    await page.bringToFront();
    const overlay = await Overlay.of(page);
    await browser.currentWorker().evaluate(async () => {
      const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
      chrome.commands.onCommand.dispatch('draw_mode', tab);
    });
    await overlay.shown();
    await page.keyboard.press('Escape');
    await overlay.gone();
  });
});

describe('the options page', () => {
  const stored = () => browser.currentWorker().evaluate(() => chrome.storage.local.get(null));

  test('accepts, tests and saves a pairing text, with the token in no URL or header', async () => {
    gateway.token = 'sesame';
    await openOptions();
    await keepPictures('options');
    await popup.focus('[name=serverUrl]');
    await popup.evaluate((text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', text);
      const paste = { clipboardData, bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', paste));
    }, `callslip:${gateway.url}#sesame`);
    assert.equal(await popup.inputValue('[name=serverUrl]'), gateway.url);
    assert.equal(await popup.inputValue('[name=token]'), 'sesame');
    await popup.fill('[name=target]', 'laptop');
    await popup.fill('[name=name]', 'Work laptop');
    await popup.getByRole('button', { name: 'Test connection' }).click();
    await says('output', 'Connected: the gateway accepts this browser.');
    const poll = gateway.nextPoll();
    await popup.getByRole('button', { name: 'Save' }).click();
    await says('output', 'Saved.');
    const { target } = await poll;
    assert.equal(target, 'laptop');
    assert.match(gateway.pollHeaders.at(-1).authorization, /^Callslip-HMAC /);
    for (const told of [gateway.urls, gateway.pollHeaders]) {
      assert.ok(!JSON.stringify(told).includes('sesame'));
    }
    assert.equal((await stored()).name, 'Work laptop');
    await openPopup();
    await says('#target', 'laptop, as “Work laptop”');
  });

  const problems = [
    ['serverUrl', '127.0.0.1:7890', 'must start with http'],
    ['token', 'two words', 'must not contain spaces'],
    ['target', 'my browser', 'letters, digits'],
  ];
  for (const [field, text, sentence] of problems) {
    test(`does not save ${field} "${text}"`, async () => {
      const before = await stored();
      await openOptions();
      await popup.fill(`[name=${field}]`, text);
      await popup.getByRole('button', { name: 'Save' }).click();
      await says('output', sentence);
      assert.equal(await popup.getAttribute(`[name=${field}]`, 'aria-invalid'), 'true');
      assert.deepEqual(await stored(), before);
    });
  }

  test('warns about an address without encryption', async () => {
    await openOptions();
    assert.equal(await popup.isVisible('#urlWarning'), false);
    await popup.fill('[name=serverUrl]', 'http://gate.example:7890');
    await says('#urlWarning', 'Use https://');
    await popup.fill('[name=serverUrl]', 'https://gate.example:7890');
    await popup.locator('#urlWarning').waitFor({ state: 'hidden' });
  });

  test('shows that the gateway does not respond', async () => {
    await openOptions();
    await popup.fill('[name=serverUrl]', 'http://127.0.0.1:9');
    await popup.getByRole('button', { name: 'Test connection' }).click();
    await says('output', 'No response from http://127.0.0.1:9.');
    await keepPictures('options_problem');
  });
});
