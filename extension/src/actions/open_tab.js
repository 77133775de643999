import { notAPage } from '../errors.js';
import { watchLoad, watchNewTab } from '../load.js';
import { optionalBoolean, requirePageUrl } from '../params.js';
import { arrival } from '../travel.js';

/** Opens a tab in the window that was focused last, and returns once its page has loaded. */
export const openTab = {
  reported: true,
  leavesPage: true,

  check(params) {
    requirePageUrl(params, 'url');
    optionalBoolean(params, 'background');
  },

  async openTab({ params, tools }) {
    const { browser, guard, tabs } = tools;
    const { url, background = false } = params;
    await guard(url);
    const windowId = await tabs.lastWindowId();
    const { id } = await browser.tabs.create({ url, active: !background, windowId });
    const watch = watchNewTab({ ...tools, tabId: id });
    return {
      id,
      url,
      explain(error) {
        // The browser closes a new tab whose address is only a download.
        const request = error.code === 'tab_gone' && watch.fruitless();
        return request ? notAPage(request, { where: 'the browser has closed the new tab' }) : error;
      },
      end: watch.end,
    };
  },

  async run({ tab, params, tools, signal, progress, endsAt }) {
    progress('The page is loading.');
    const load = watchLoad({ ...tools, tabId: tab.id, isNew: true, signal, endsAt });
    const end = await load.end();
    const none = { url: params.url, where: `the new tab ${tab.id} is empty` };
    if (end.request) throw notAPage(end.request, none);
    const { data, ...arrived } = await arrival(tab.id, tools, end);
    return { ...arrived, data: { tab_id: tab.id, ...data } };
  },
};
