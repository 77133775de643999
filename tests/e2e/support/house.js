import { startBrowser } from './chromium.js';
import { startPageServer } from './page_server.js';
import { Services } from './services.js';

/**
 * Everything between an agent and a page: tracker, gateway, browser with the extension, and a page
 * server, each fresh.
 */
export class House extends Services {
  async build() {
    await super.build();
    this.pages = await startPageServer();
    this.onClose(() => this.pages.stop());
    const token = await this.tokenOf('extension');
    this.browser = await startBrowser({ serverUrl: this.gatewayUrl, token });
    this.onClose(() => this.browser.stop());
  }
}
