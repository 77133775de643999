import { invalidParams } from '../errors.js';
import { isGiven } from '../params.js';
import { tabRemoved } from '../tabs.js';

/** Closes a tab, which must be named: no tab is closed merely because it is in front. */
export const closeTab = {
  closesTab: true,

  check(params) {
    if (!isGiven(params, 'tab_id')) throw invalidParams('tab_id', 'must be the number of a tab');
  },

  async run({ tab, tools: { browser }, signal }) {
    // A page may ask the user whether to leave, so the call alone does not close the tab.
    const removed = tabRemoved(browser, tab.id, signal);
    await browser.tabs.remove(tab.id);
    await removed;
    return { url: tab.url, data: { tab_id: tab.id, closed: true } };
  },
};
