import { LISTED_TABS } from '../limits.js';
import { describeTab } from '../tabs.js';

/** Returns the open tabs of this browser. */
export const listTabs = {
  readsOnly: true,
  tabless: true,

  check() {},

  async run({ tools: { browser } }) {
    const open = await browser.tabs.query({});
    const data = { tabs: open.slice(0, LISTED_TABS).map(describeTab) };
    if (open.length > LISTED_TABS) data.truncated = true;
    return { data };
  },
};
