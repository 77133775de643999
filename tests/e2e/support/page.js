import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { stretched } from '../../support/patience.js';
import { RunnerProcess, scriptedAgent } from './runner.js';
import { Services } from './services.js';

const EXECUTABLE = process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium';
/** The patience of waits at the page, as in `until()`. */
const PATIENCE_MS = stretched(60_000);
/** The folder of pictures of the page, for people to look at. */
const SCREENS = process.env.CALLSLIP_SCREENS
  ?? fileURLToPath(new URL('../../../build/dev/screens/', import.meta.url));
/** The folder of a page in place of the gateway's own, for its development. */
const WEB_ROOT = process.env.CALLSLIP_WEB_ROOT;
const AXE = new URL('../../../web/node_modules/axe-core/axe.min.js', import.meta.url);

/** Tracker, gateway and a runner with the scripted agent, and a browser for people. */
export class PageSetting {
  people = [];

  static async open({ guarded = false, agents = {}, workspace = {}, runner = true } = {}) {
    const setting = new this();
    setting.services = await Services.open({ guarded,
      gatewayOptions: WEB_ROOT ? ['--web-root', WEB_ROOT] : [] });
    setting.services.onClose(() => setting.browser?.close());
    if (runner) {
      setting.runner = await RunnerProcess.open(setting.services, {
        agents: { scripted: { command: scriptedAgent({ modes: true }), title: 'Scripted agent' }, ...agents },
        workspace: { max_running: 100, ...workspace },
        limits: { running_agents: 32 },
        more: guarded ? { token_file: setting.services.tokenFile } : {},
      });
    }
    setting.browser = await chromium.launch({ executablePath: EXECUTABLE,
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'] });
    return setting;
  }

  url(path = '') {
    return `${this.services.gatewayUrl}/ui/${path}`;
  }

  /** A person's browser, which records errors. */
  async person({ width = 1280, height = 800, colours = 'light' } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: colours,
      reducedMotion: 'reduce' });
    context.setDefaultTimeout(PATIENCE_MS);
    const person = new Person(this, context);
    this.people.push(person);
    return person;
  }

  /** The page in a new person's browser. */
  async visit(path, options) {
    return (await this.person(options)).open(path);
  }

  /** The errors of all browsers, except those of lost connections to a gateway. */
  complaints(lost = /net::ERR|WebSocket connection|Failed to load resource/) {
    return this.people.flatMap(({ complaints }) => complaints).filter((each) => !lost.test(each));
  }

  close() {
    return this.services.close();
  }
}

/** A person with a browser context. */
export class Person {
  complaints = [];

  constructor(setting, context) {
    this.setting = setting;
    this.context = context;
  }

  async open(path = '') {
    const page = await this.context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    await page.goto(this.setting.url(path));
    return page;
  }

  close() {
    return this.context.close();
  }
}

export async function screen(page, name) {
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: `${SCREENS}/${name}.png` });
}

/** Checks the page's accessibility with axe. */
export async function checkAccess(page, where) {
  const axe = await readFile(AXE, 'utf8');
  const { violations } = await page.evaluate(
    `${axe}; axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] })`);
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => String(target)).slice(0, 3)]), [], where);
}
