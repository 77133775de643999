import { travel } from '../travel.js';

/** Loads the page of the tab again. */
export const reload = {
  check() {},

  run(setting) {
    return travel(setting, (browser) => browser.tabs.reload(setting.tab.id));
  },
};
