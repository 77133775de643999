import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The extension's origin, which follows from the key in its manifest; a browser also has workers of
 * its own.
 */
const WORKER = 'chrome-extension://fkcobmieoejemhgkfajpliikanmfnppi/';

/** Chromium over its debugging pipe: Debian 12's Node is too old for Playwright. */
class Browser {
  #nextId = 1;
  #waiting = new Map();

  constructor(folder, args) {
    this.folder = folder;
    this.child = spawn('/usr/bin/chromium', args,
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'exit');
    let rest = '';
    this.child.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop();
      for (const message of messages.map((text) => JSON.parse(text))) this.#answer(message);
    });
    // Pending requests to a browser that has exited get no answer.
    this.child.stdio[3].on('error', () => {});
    this.child.once('exit', () => {
      for (const id of this.#waiting.keys()) this.#answer({ id, error: { message: 'it has ended' } });
    });
  }

  #answer({ id, result, error }) {
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error) reject?.(new Error(`chromium: ${error.message}`));
    else resolve?.(result);
  }

  ask(method, params = {}, sessionId = undefined) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** The value of an expression in the extension's service worker. */
  async evaluateInExtension(expression) {
    let worker;
    while (!worker) {
      const { targetInfos } = await this.ask('Target.getTargets');
      worker = targetInfos.find(({ type, url }) =>
        type === 'service_worker' && url.startsWith(WORKER));
      if (!worker) await pause(50);
    }
    const { sessionId } = await this.ask('Target.attachToTarget',
      { targetId: worker.targetId, flatten: true });
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  /** Opens a page in a new tab, in front, and waits until it has its title. */
  async open(url) {
    const { targetId } = await this.ask('Target.createTarget', { url });
    for (;;) {
      const { targetInfo } = await this.ask('Target.getTargetInfo', { targetId });
      if (targetInfo.title && !url.includes(targetInfo.title)) return;
      await pause(50);
    }
  }

  async stop() {
    await this.ask('Browser.close').catch(() => {});
    await this.ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/**
 * A Chromium with the extension, paired with a gateway that requires no token, and a page in front.
 */
export async function startBrowser({ extension, serverUrl, page }) {
  const folder = await mkdtemp(join(tmpdir(), 'callslip-chromium-'));
  const browser = new Browser(folder, [
    '--headless=new', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${folder}`,
    `--disable-extensions-except=${extension}`, `--load-extension=${extension}`,
    '--disable-background-networking', '--disable-component-update', '--no-first-run', 'about:blank',
  ]);
  try {
    // The worker is listed a moment before its API exists.
    while (!await browser.evaluateInExtension('Boolean(globalThis.chrome?.storage)')) await pause(50);
    const settings = JSON.stringify({ serverUrl, token: '', openGateway: true });
    await browser.evaluateInExtension(`chrome.storage.local.set(${settings})`);
    await browser.open(page);
    return browser;
  } catch (error) {
    await browser.stop();
    throw error;
  }
}
