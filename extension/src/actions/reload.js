import { travel } from '../travel.js';

/** Loads the page of the tab again. */
export const reload = {
  reported: true,
  leavesPage: true,

  check() {},

  run(setting) {
    return travel(setting, (browser) => browser.tabs.reload(setting.tab.id));
  },
};
