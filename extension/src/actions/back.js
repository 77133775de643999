import { historyAction } from '../travel.js';

/** Goes one page back in the history of the tab. */
export const back = historyAction('back', (browser, tabId) => browser.tabs.goBack(tabId));
