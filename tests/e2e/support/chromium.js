import { cp, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const EXTENSION = fileURLToPath(new URL('../../../extension', import.meta.url));
export const EXECUTABLE = process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium';

/** A name that an attacker's DNS server has bound to this machine. */
export const REBOUND_NAME = 'rebound.test';

/** Only loopback exists for the test browser. */
const RESOLVER_RULES = `MAP ${REBOUND_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`;

/** Chromium's arguments in all tests, with the folder of the extension. */
export function chromiumArguments(extension) {
  return [
    '--no-sandbox',
    `--disable-extensions-except=${extension}`,
    `--load-extension=${extension}`,
    '--disable-background-networking',
    '--disable-component-update',
    `--host-resolver-rules=${RESOLVER_RULES}`,
  ];
}

/** The address that an unpaired extension polls, and an address without a listener. */
const DEFAULT_GATEWAY = 'http://127.0.0.1:7890';
const NO_GATEWAY = 'http://127.0.0.1:9';

/**
 * Starts a fresh Chromium with the extension, paired with a gateway: with a `token`, or else with a
 * gateway that requires none. Without `serverUrl` it is unpaired, like a new one; `defaultUrl` is
 * then its gateway's address. `source` is the extension's folder. The profile and the copy of the
 * extension are in a temporary folder, which `stop` removes.
 */
export async function startBrowser({
  serverUrl, token = '', defaultUrl = NO_GATEWAY, source = EXTENSION,
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'callslip-chromium-'));
  const profile = join(folder, 'profile');
  let context;
  try {
    const extension = await copyExtension(source, folder, defaultUrl);
    context = await chromium.launchPersistentContext(profile, {
      executablePath: EXECUTABLE,
      headless: true,
      args: chromiumArguments(extension),
    });
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    if (serverUrl) {
      const settings = { serverUrl, token, openGateway: !token };
      await worker.evaluate((values) => chrome.storage.local.set(values), settings);
    }
    return new TestBrowser({ folder, context, worker, pid: await browserPid(profile) });
  } catch (error) {
    await context?.close();
    await removeFolder(folder);
    throw error;
  }
}

class TestBrowser {
  #folder;

  constructor({ folder, context, worker, pid }) {
    this.#folder = folder;
    this.context = context;
    this.worker = worker;
    this.pid = pid;
  }

  /** Opens a page in a new tab, in front of the others. */
  async open(url) {
    const page = await this.context.newPage();
    await page.goto(url);
    await page.bringToFront();
    return page;
  }

  /** The extension's id of the tab that is in front. */
  async tabIdOf(page) {
    return this.worker.evaluate(async (url) => {
      const [tab] = await chrome.tabs.query({ active: true });
      if (tab.url !== url) throw new Error(`${tab.url} is in front, not ${url}`);
      return tab.id;
    }, page.url());
  }

  /** Opens a page of the extension itself. */
  async openExtensionPage(path) {
    return this.open(new URL(path, this.worker.url()).href);
  }

  /** The current service worker; the browser may have replaced the first one. */
  currentWorker() {
    return this.context.serviceWorkers().at(-1);
  }

  /** Waits until the extension has recorded that a drawing's page is gone. */
  untilLeft() {
    return this.#untilStored('"left":true');
  }

  /** Waits until the extension has stored a drawing with this note. */
  untilDrawn(note) {
    return this.#untilStored(`"note":${JSON.stringify(note)}`);
  }

  /** Waits until the extension stores no drawing: the gateway has accepted them all. */
  untilDelivered() {
    return this.#untilStored('"drawing:', false);
  }

  #untilStored(part, present = true) {
    return this.currentWorker().evaluate((wanted) => new Promise((resolve) => {
      const { session } = chrome.storage;
      const look = async () => {
        const stored = JSON.stringify(await session.get(null));
        if (stored.includes(wanted.part) === wanted.present) resolve();
      };
      session.onChanged.addListener(look);
      look();
    }), { part, present });
  }

  /** Ends the service worker of the extension, as the browser does when it is idle. */
  async suspendWorker() {
    const [page] = this.context.pages();
    const session = await this.context.newCDPSession(page);
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.stopAllWorkers');
    await session.detach();
  }

  /**
   * Ends the service worker, and has an event of the browser start it again: a request of a page,
   * since the extension listens to requests. Resolves once it has been started.
   */
  async restartWorker(page) {
    const session = await this.context.newCDPSession(page);
    let stopped = false;
    let restarted = false;
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      for (const { scriptURL, runningStatus } of versions) {
        if (!scriptURL.startsWith('chrome-extension:')) continue;
        stopped ||= runningStatus === 'stopped';
        restarted ||= stopped && runningStatus === 'running';
      }
    });
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.stopAllWorkers');
    // The first requests may still reach the old worker.
    while (!restarted) {
      await page.evaluate(() => fetch('/second').then(({ status }) => status));
    }
    await session.detach();
  }

  /** Ends the browser without any warning, as a crash does. */
  async kill() {
    const closed = new Promise((resolve) => this.context.once('close', resolve));
    process.kill(this.pid, 'SIGKILL');
    await closed;
  }

  async stop() {
    await this.context.close();
    await removeFolder(this.#folder);
  }
}

/**
 * Copies the extension and changes one thing: the copy's default gateway has no listener, so that a
 * test browser never takes work from another gateway on this machine.
 */
async function copyExtension(source, folder, defaultUrl) {
  const copy = join(folder, 'extension');
  await cp(source, copy, { recursive: true });
  const settings = join(copy, 'src/settings.js');
  const text = await readFile(settings, 'utf8');
  if (!text.includes(DEFAULT_GATEWAY)) throw new Error('The default gateway was not found.');
  await writeFile(settings, text.replace(DEFAULT_GATEWAY, defaultUrl));
  return copy;
}

/**
 * Chromium puts the pid of a profile's owner into the target of the profile's lock link:
 * `host-pid`.
 */
async function browserPid(profile) {
  const lock = await readlink(join(profile, 'SingletonLock'));
  return Number(lock.slice(lock.lastIndexOf('-') + 1));
}

/** Renderers of a killed browser may still write for a moment, hence the retries. */
function removeFolder(folder) {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
