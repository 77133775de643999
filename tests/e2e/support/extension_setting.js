import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { artifact } from './artifacts.js';
import { startBrowser } from './chromium.js';
import { FakeGateway } from './fake_gateway.js';
import { startPageServer } from './page_server.js';

/** Occupies its tab until the test calls `release` in the page. */
export const UNTIL_RELEASED = 'new Promise((resolve) => { window.release = resolve; })';

/** A Chromium with the extension, the gateway double that it polls, and pages to act on. */
export class ExtensionSetting {
  /** `own` are pages of the test: see page_server.js. */
  static async start(own) {
    const setting = new ExtensionSetting();
    try {
      setting.gateway = await FakeGateway.start();
      setting.pages = await startPageServer(own);
      setting.browser = await startBrowser({ serverUrl: setting.gateway.url });
      await setting.gateway.nextPoll();
    } catch (error) {
      await setting.stop();
      throw error;
    }
    return setting;
  }

  async stop() {
    await this.browser?.stop();
    await this.gateway?.down();
    await this.pages?.stop();
  }

  /** Opens one of the pages in a new tab, in front of the others. */
  async open(path) {
    const page = await this.browser.open(this.pages.url + path);
    return { page, tabId: await this.browser.tabIdOf(page) };
  }

  /**
   * Carries out a command; returns the data of its result, which must be a success, without the
   * sentence about the action.
   */
  async perform(params, fields) {
    const data = assertComplete(await this.gateway.run(params, fields));
    if (typeof data !== 'object' || data === null || !('done' in data)) return data;
    const { done, ...rest } = data;
    return rest;
  }

  /** Carries out a command that must fail with this code; returns the error. */
  async refused(params, code, fields) {
    return assertError(await this.gateway.run(params, fields), code);
  }
}

/** Lets the waiting script of the page continue, once it has begun. */
export async function release(page, value) {
  await page.waitForFunction(() => 'release' in window);
  await page.evaluate((given) => {
    window.release(given);
    delete window.release;
  }, value);
}

/** The data of a success, without the report of changes: see `changesIn`. */
export function assertComplete(report) {
  assert.equal(report.status, 'complete', JSON.stringify(report).slice(0, 1000));
  assert.equal(report.result.success, true);
  const { data } = report.result;
  if (data === null || typeof data !== 'object' || !('page' in data)) return data;
  const { page, ...rest } = data;
  return Object.keys(rest).length === 0 ? data : rest;
}

/** The lines of a success about its effects, without the ms in the first line. */
export function changesIn(report) {
  assert.equal(report.status, 'complete', JSON.stringify(report).slice(0, 1000));
  const page = report.result.data?.page ?? report.result.page;
  return page?.replace(/, \d+ ms/, '').split('\n');
}

export function assertError(report, code) {
  assert.equal(report.status, 'error', JSON.stringify(report).slice(0, 1000));
  assert.equal(report.error.code, code, report.error.message);
  return report.error;
}

/** Keeps a picture for people to look at after the test. */
export async function keepPicture(name, { mime_type: type, base64 }) {
  await writeFile(artifact(`${name}.${type.split('/')[1]}`), Buffer.from(base64, 'base64'));
}
