/**
 * Draws icon.svg in all sizes: for the extension, whose small icons omit the margin that the store
 * requires, and for the bundle. Run it after a change of the picture:
 *   node deploy/store/draw_icons.mjs
 * Needs Chromium and the packages of tests/e2e.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { chromium } = createRequire(`${root}/tests/e2e/package.json`)('playwright-core');

const MARGIN = 16;  // Of 128, as the picture has it.
const ICONS = [
  ...[16, 32, 48].map((size) => ({ file: `extension/icons/${size}.png`, size, margin: 0 })),
  { file: 'extension/icons/128.png', size: 128, margin: MARGIN },
  { file: 'deploy/mcpb/icon.png', size: 512, margin: 0 },
];

const svg = readFileSync(`${root}/deploy/store/icon.svg`, 'utf8');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  for (const { file, size, margin } of ICONS) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const cut = MARGIN - margin;
    const box = `viewBox="${cut} ${cut} ${128 - 2 * cut} ${128 - 2 * cut}"`;
    await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>
      ${svg.replace(/viewBox="[^"]*"/, `${box} width="${size}" height="${size}"`)}`);
    writeFileSync(`${root}/${file}`, await page.screenshot({ omitBackground: true }));
    await page.close();
  }
} finally {
  await browser.close();
}
