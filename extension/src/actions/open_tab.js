import { notAPage } from '../errors.js';
import { watchLoad } from '../load.js';
import { optionalBoolean, requirePageUrl } from '../params.js';
import { arrival } from '../travel.js';

/** Opens a tab in the window that was focused last, and answers once its page has loaded. */
export const openTab = {
  reported: true,
  leavesPage: true,
  outlivesTab: true,

  check(params) {
    requirePageUrl(params, 'url');
    optionalBoolean(params, 'background');
  },

  async openTab({ params, tools: { browser, guard, tabs } }) {
    const { url, background = false } = params;
    await guard(url);
    return browser.tabs.create({ url, active: !background, windowId: await tabs.lastWindowId() });
  },

  async run({ tab, params, tools, signal, progress, endsAt }) {
    progress('The page is loading.');
    const load = watchLoad({ ...tools, tabId: tab.id, isNew: true, signal, endsAt });
    const end = await unlessClosed(tab.id, load, tools.tabs, signal);
    const none = { url: params.url, where: `the new tab ${tab.id} is empty` };
    if (end.request) throw notAPage(end.request, none);
    const { data, ...arrived } = await arrival(tab.id, tools, end);
    return { ...arrived, data: { tab_id: tab.id, ...data } };
  },
};

/** How a load ends. The browser closes a new tab in which nothing is to be shown but a download. */
async function unlessClosed(tabId, load, tabs, signal) {
  const over = new AbortController();
  try {
    const closed = tabs.closed(tabId, AbortSignal.any([signal, over.signal])).then(() => new Promise(() => {}));
    return await Promise.race([load.end(), closed]);
  } catch (error) {
    const request = load.fruitless();
    if (!request) throw error;
    throw notAPage(request, { where: 'the browser has closed the new tab' });
  } finally {
    over.abort();
  }
}
