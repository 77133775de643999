import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumArguments, EXECUTABLE, EXTENSION } from './chromium.js';
import { assertComplete, assertError, changesIn } from './extension_setting.js';
import { FakeGateway } from './fake_gateway.js';
import { startPageServer } from './page_server.js';

/**
 * A Chromium with the extension and without an attached debugger, like a user's: nothing emulates
 * focus, gives clicks a user's activation or answers dialogs. Only commands of the gateway double
 * reach it.
 */
export class UnattachedSetting {
  /** `pages` are pages of the test: see page_server.js. */
  static async start(pages) {
    const setting = new UnattachedSetting();
    try {
      setting.gateway = await FakeGateway.start();
      setting.pages = await startPageServer(pages);
      await setting.#launch();
      await setting.gateway.nextPoll();
    } catch (error) {
      await setting.stop();
      throw error;
    }
    return setting;
  }

  async #launch() {
    this.folder = await mkdtemp(join(tmpdir(), 'callslip-unattached-'));
    const extension = join(this.folder, 'extension');
    await cp(EXTENSION, extension, { recursive: true });
    await pairAtStart(join(extension, 'background.js'), this.gateway.url);
    const profile = join(this.folder, 'profile');
    this.process = spawn(EXECUTABLE, [
      '--headless=new', `--user-data-dir=${profile}`, '--no-first-run', '--window-size=1280,800',
      '--password-store=basic', '--disable-sync', ...chromiumArguments(extension), 'about:blank',
    ], { stdio: 'ignore' });
  }

  async stop() {
    if (this.process && this.process.exitCode === null) {
      const ended = once(this.process, 'exit');
      this.process.kill('SIGKILL');
      await ended;
    }
    await this.gateway?.down();
    await this.pages?.stop();
    if (this.folder) {
      await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
  }

  /** Opens one of the pages in a new tab; returns the id of the tab. */
  async open(path, { background = false } = {}) {
    const url = path.includes(':') ? path : this.pages.url + path;
    return (await this.perform({ action: 'open_tab', url, background })).tab_id;
  }

  /** Carries out a command; returns the data of its result, which must be a success. */
  async perform(params, fields) {
    return assertComplete(await this.gateway.run(params, fields));
  }

  /** The lines of a command's report about its effects. */
  async changes(params, fields) {
    return changesIn(await this.gateway.run(params, fields));
  }

  async refused(params, code, fields) {
    return assertError(await this.gateway.run(params, fields), code);
  }
}

/** Pairs the copy with the gateway double at its start, since no user does it. */
async function pairAtStart(file, serverUrl) {
  const settings = JSON.stringify({ serverUrl, openGateway: true });
  await writeFile(file, `${await readFile(file, 'utf8')}\nchrome.storage.local.set(${settings});\n`);
}
