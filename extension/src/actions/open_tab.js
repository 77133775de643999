import { firstPageLoaded } from '../page_loaded.js';
import { optionalBoolean, requirePageUrl } from '../params.js';
import { arrival } from '../travel.js';

/** Opens a tab in the window that was focused last, and answers once its page has loaded. */
export const openTab = {
  reported: true,
  leavesPage: true,

  check(params) {
    requirePageUrl(params, 'url');
    optionalBoolean(params, 'background');
  },

  async openTab({ params, tools: { browser, guard, tabs } }) {
    const { url, background = false } = params;
    await guard(url);
    return browser.tabs.create({ url, active: !background, windowId: await tabs.lastWindowId() });
  },

  async run({ tab, tools: { browser, isOff }, signal, progress }) {
    progress('The page is loading.');
    await firstPageLoaded(browser, tab.id, signal);
    const { url, data } = await arrival(browser, tab.id, isOff);
    return { url, data: { tab_id: tab.id, ...data } };
  },
};
