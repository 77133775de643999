import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { PARTS } from '../../../extension/src/page_parts.js';

const EXECUTABLE = process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium';

/**
 * A page of a plain Chromium in which the extension's hands are installed as a script of the page:
 * the browser's real keys and mouse can do the same in it, for comparison.
 */
export class HandsPage {
  static async start() {
    const hands = new HandsPage();
    hands.browser = await chromium.launch({
      executablePath: EXECUTABLE,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    hands.page = await hands.browser.newPage();
    const read = (file) => readFile(new URL(`../../../extension/${file}`, import.meta.url), 'utf8');
    hands.scripts = await Promise.all(PARTS.map(read));
    return hands;
  }

  /** Shows a document, and installs the hands in it. */
  async show(html) {
    await this.page.goto('about:blank');
    await this.page.setContent(html);
    await this.page.evaluate(this.scripts.join('\n'));
  }

  stop() {
    return this.browser?.close();
  }
}
