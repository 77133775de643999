import { createServer } from 'node:http';
import { once } from 'node:events';
import { REBOUND_NAME, startBrowser } from './chromium.js';

/**
 * A Chromium with the extension and without a gateway: one of the extension's own pages makes the
 * calls of the service worker. `serve(path, host)` returns HTML, or undefined.
 */
export class EyesSetting {
  static async start(serve) {
    const setting = new EyesSetting();
    setting.server = createServer((request, response) => {
      const body = serve(request.url, request.headers.host);
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(body);
    });
    setting.server.listen(0, '127.0.0.1');
    await once(setting.server, 'listening');
    setting.port = setting.server.address().port;
    setting.url = `http://127.0.0.1:${setting.port}`;
    setting.otherUrl = `http://${REBOUND_NAME}:${setting.port}`;
    try {
      setting.browser = await startBrowser();
      setting.extension = await setting.browser.openExtensionPage('popup.html');
      await setting.wire();
    } catch (error) {
      await setting.stop();
      throw error;
    }
    return setting;
  }

  /** Wires the parts together as background.js does. */
  async wire() {
    await this.extension.evaluate(async () => {
      const { createOutline } = await import('/src/outline.js');
      const { createPageParts } = await import('/src/page_parts.js');
      const { createRefBook } = await import('/src/ref_book.js');
      const { createFrames } = await import('/src/frames.js');
      const { createRefs } = await import('/src/refs.js');
      const newId = () => crypto.randomUUID();
      const refBook = createRefBook({ storage: chrome.storage.session, lasting: chrome.storage.local, newId });
      const pageParts = createPageParts(chrome, () => refBook.session());
      const outline = createOutline({ pageParts, refBook });
      const frames = createFrames({ pageParts });
      const refs = createRefs({ pageParts, refBook, outline });
      window.tools = { browser: chrome, outline, pageParts, refBook, frames, refs };
    });
  }

  async open(path = '/') {
    const page = await this.browser.open(path.startsWith('http') ? path : this.url + path);
    return { page, tabId: await this.browser.tabIdOf(page) };
  }

  /** The outline of a tab: `{title, url, lines, text}`. */
  outline(tabId, options = {}) {
    return this.attempt(([id, given]) => window.tools.outline({ id }, given), [tabId, options]);
  }

  /** Carries out an action of the extension, as its executor does. */
  act(name, tabId, params = {}) {
    return this.attempt(async ([action, id, given]) => {
      const { actions } = await import('/src/actions/index.js');
      actions[action].check(given);
      return actions[action].run({ tab: { id }, params: given, tools: window.tools });
    }, [name, tabId, params]);
  }

  /** Runs a function in the extension's page; its CommandErrors keep their members. */
  async attempt(work, argument) {
    const answer = await this.extension.evaluate(async ([source, given]) => {
      try {
        // The page's policy forbids the evaluation of texts; functions are added as scripts of
        // Playwright.
        return { value: await window.works[source](given) };
      } catch (error) {
        const { code, message, hint, mayHaveExecuted } = error;
        return { error: { code, message, hint, mayHaveExecuted } };
      }
    }, [await this.#named(work), argument]);
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.value;
  }

  #works = new Map();

  /** Adds a function to the extension's page, once; returns its name there. */
  async #named(work) {
    const text = String(work);
    if (!this.#works.has(text)) {
      const name = `work${this.#works.size}`;
      this.#works.set(text, name);
      await this.extension.evaluate(`window.works ??= {}; window.works[${JSON.stringify(name)}] = ${text}; 0`);
    }
    return this.#works.get(text);
  }

  async stop() {
    await this.browser?.stop();
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
