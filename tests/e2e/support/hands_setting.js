import { once } from 'node:events';
import { createServer } from 'node:http';
import { ExtensionSetting } from './extension_setting.js';

/** A browser with the extension, and a server whose one page has the latest HTML of a test. */
export class HandsSetting {
  static async start(paths = {}) {
    const hands = new HandsSetting();
    hands.paths = paths;
    hands.setting = await ExtensionSetting.start();
    hands.server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      const path = request.url.slice(1);
      response.end(path === '' ? hands.html : hands.paths[path] ?? '');
    }).listen(0, '127.0.0.1');
    await once(hands.server, 'listening');
    hands.url = `http://127.0.0.1:${hands.server.address().port}/`;
    ({ page: hands.page } = await hands.setting.open('/'));
    return hands;
  }

  async stop() {
    await this.setting?.stop();
    this.server?.closeAllConnections();
    this.server?.close();
  }

  async show(html) {
    this.html = `<!doctype html><title>T</title>${html}`;
    await this.page.goto(this.url);
  }

  perform(params, fields) {
    return this.setting.perform(params, fields);
  }

  refused(params, code) {
    return this.setting.refused(params, code);
  }
}
