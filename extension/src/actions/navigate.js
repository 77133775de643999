import { executionFailed } from '../errors.js';
import { pageLoaded } from '../page_loaded.js';
import { requirePageUrl } from '../params.js';

/** Takes the tab to an address and answers once the page has loaded. */
export const navigate = {
  check(params) {
    requirePageUrl(params, 'url');
  },

  async run({ tab, params, tools: { browser }, signal }) {
    const loaded = pageLoaded(browser, tab.id, signal);
    await browser.tabs.update(tab.id, { url: params.url });
    await loaded;
    const { url, title } = await browser.tabs.get(tab.id);
    await refuseErrorPage(browser, tab.id, url);
    return { url, data: { url, title } };
  },
};

/** A tab in which loading failed shows the wanted address; only scripting tells it apart. */
async function refuseErrorPage(browser, tabId, url) {
  try {
    await browser.scripting.executeScript({
      target: { tabId },
      func: () => true,
      injectImmediately: true,
    });
  } catch (error) {
    if (/error page/i.test(error.message)) {
      const message = 'The page could not be loaded; the tab shows an error page.';
      throw executionFailed(message, { mayHaveExecuted: true, url });
    }
  }
}
