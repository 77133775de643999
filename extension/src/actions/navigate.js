import { requirePageUrl } from '../params.js';
import { travel } from '../travel.js';

/** Takes the tab to an address and answers once the page has loaded. */
export const navigate = {
  check(params) {
    requirePageUrl(params, 'url');
  },

  run(setting) {
    const { url } = setting.params;
    return travel(setting, (browser) => browser.tabs.update(setting.tab.id, { url }));
  },
};
