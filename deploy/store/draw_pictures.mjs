/**
 * Draws the listing's pictures, and the README's picture of draw mode: the extension in a real
 * Chromium, with a made-up page and gateway. Run it after a change of their subject:
 *   node deploy/store/draw_pictures.mjs
 * Needs Chromium and the packages of tests/e2e.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ExtensionSetting } from '../../tests/e2e/support/extension_setting.js';
import { Overlay } from '../../tests/e2e/support/overlay.js';

const FOLDER = fileURLToPath(new URL('pictures/', import.meta.url));
const SIZE = { width: 1280, height: 800 };
/** The part of the screenshot that the README shows. */
const PART = { x: 0, y: 0, width: 1280, height: 660 };
const POPUP = { width: 380, height: 520 };

const PAGE = `<!doctype html><meta charset="utf-8"><title>Lighthouse Coffee</title><style>
  body { margin: 0; font: 18px/1.5 sans-serif; color: #222 }
  header { padding: 24px 64px; background: #23392f; color: #fff; font-size: 24px }
  main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 32px; padding: 48px 64px }
  h1 { grid-column: 1 / -1; margin: 0 }
  section { padding: 24px; border: 1px solid #ccc; border-radius: 12px }
  @media (prefers-color-scheme: dark) {
    body { background: #151a18; color: #e6ebe8 } section { border-color: #444 } button { background: #3d6a55 }
  }
  .beans { height: 140px; border-radius: 8px; background: linear-gradient(135deg, #6b4b3a, #c9a27e) }
  button { padding: 10px 24px; border: 0; border-radius: 6px; background: #23392f; color: #fff; font: inherit }
  </style><header>Lighthouse Coffee</header><main><h1>Fresh this week</h1>
  ${['Harbor roast', 'Night watch', 'Low tide'].map((name) => `<section><div class="beans"></div>
    <h2>${name}</h2><p>250 g, whole beans</p><button>Add to basket</button></section>`).join('')}</main>`;

const write = (name, bytes) => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FOLDER + name, bytes);
};

const setting = await ExtensionSetting.start();
try {
  const { browser, gateway, pages } = setting;
  const address = `${pages.url}/coffee`;
  await browser.context.route(address, (route) =>
    route.fulfill({ contentType: 'text/html', body: PAGE }));

  const page = await browser.context.newPage();
  await page.bringToFront();
  const overlay = await Overlay.of(page);
  const draw = async (colorScheme) => {
    await page.setViewportSize(SIZE);
    await page.emulateMedia({ colorScheme });
    await page.goto(address);
    await gateway.run({ action: 'get_page' });
    await gateway.run({
      action: 'draw_mode', tab_id: await browser.tabIdOf(page),
      message: 'Which of these should I change?',
    });
    await overlay.shown();
    const box = await page.locator('section').nth(1).boundingBox();
    await overlay.drag({ x: box.x - 10, y: box.y - 10 },
      { x: box.x + box.width + 10, y: box.y + box.height + 10 });
    await overlay.note('Put this one first');
    const button = await page.locator('button').nth(2).boundingBox();
    await overlay.press(/^Arrow/);
    await overlay.drag({ x: button.x + 230, y: button.y + 110 },
      { x: button.x + button.width - 20, y: button.y + button.height });
    await overlay.note('Larger');
    await page.mouse.move(640, 780);
  };
  await draw('dark');
  write('../../../docs/pictures/draw-dark.png', await page.screenshot({ clip: PART }));
  // Otherwise the reloaded page would show these marks again.
  await overlay.press(/^Cancel/);
  await draw('light');
  write('../../../docs/pictures/draw-light.png', await page.screenshot({ clip: PART }));
  write('draw.png', await page.screenshot());
  await page.keyboard.press('Escape');

  const opened = browser.context.waitForEvent('page');
  await browser.worker.evaluate(() => chrome.windows.create({ url: 'popup.html', type: 'popup' }));
  const popup = await opened;
  await popup.setViewportSize(POPUP);
  await popup.locator('#gateway', { hasText: gateway.url }).waitFor();
  const shot = (await popup.screenshot()).toString('base64');
  await page.goto('about:blank');
  await page.setContent(`<style>
    body { display: grid; place-items: center; height: 100vh; margin: 0; background: #1f4e79 }
    img { border-radius: 12px; zoom: 1.4 }</style>
    <img src="data:image/png;base64,${shot}" width="${POPUP.width}" height="${POPUP.height}">`);
  write('popup.png', await page.screenshot());
} finally {
  await setting.stop();
}
