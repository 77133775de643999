import { travel } from '../travel.js';

/** Reloads the page of the tab. */
export const reload = {
  reported: true,
  leavesPage: true,

  check() {},

  run(setting) {
    return travel(setting, (browser) => browser.tabs.reload(setting.tab.id));
  },
};
