import { requirePageUrl } from '../params.js';
import { travel } from '../travel.js';

/** Takes the tab to an address and returns once the page has loaded. */
export const navigate = {
  reported: true,
  leavesPage: true,

  check(params) {
    requirePageUrl(params, 'url');
  },

  async run(setting) {
    const { url } = setting.params;
    await setting.tools.guard(url);
    return travel(setting, (browser) => browser.tabs.update(setting.tab.id, { url }));
  },
};
