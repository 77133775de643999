import { historyAction } from '../travel.js';

/** Goes one page forward in the history of the tab. */
export const forward = historyAction('forward', (browser, tabId) => browser.tabs.goForward(tabId));
