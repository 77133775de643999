import { executionFailed, notAPage } from './errors.js';
import { LOADING_TOLD } from './limits.js';
import { watchLoad } from './load.js';
import { toldAddress, toldTitle } from './told_page.js';

/**
 * Runs `depart`, which takes a tab to another page, and returns `{url, title}` once that page has loaded,
 * or as much of it as the time of the command permits.
 */
export async function travel({ tab, tools, signal, progress, endsAt }, depart) {
  const { browser } = tools;
  const load = watchLoad({ ...tools, tabId: tab.id, signal, endsAt });
  try {
    await depart(browser);
  } catch (error) {
    load.forget();
    throw error;
  }
  progress('The page is loading.');
  const end = await load.end();
  const { url } = await browser.tabs.get(tab.id);
  if (end.request) throw notAPage(end.request, { url, where: `the tab is where it was, at ${toldAddress(url)}` });
  return arrival(tab.id, tools, end);
}

/**
 * The answer to an action that opened a page, once the tab has loaded. Of a page that is off limits it has
 * only the address.
 */
export async function arrival(tabId, { browser, isOff }, { unfinished } = {}) {
  const { url, title } = await browser.tabs.get(tabId);
  if (await isOff(url)) return { url, data: { url: toldAddress(url) } };
  await refuseErrorPage(browser, tabId, url);
  const data = { url: toldAddress(url), title: toldTitle(title) };
  if (!unfinished) return { url, data };
  return { url, isUnfinished: true, data: { ...data, still_loading: stillLoading(unfinished) } };
}

/** Lines such as `image http://page.test/large.png`. */
function stillLoading(requests) {
  // A page that a script writes loads nothing, and may never end.
  if (requests.length === 0) return ['the page itself'];
  const lines = requests.slice(0, LOADING_TOLD).map(({ type, url }) => `${type} ${url}`);
  return requests.length > LOADING_TOLD ? [...lines, `${requests.length - LOADING_TOLD} more`] : lines;
}

/** A tab whose load failed shows the requested address; only scripting reveals the error page. */
async function refuseErrorPage(browser, tabId, url) {
  try {
    await browser.scripting.executeScript({
      target: { tabId },
      func: () => true,
      injectImmediately: true,
    });
  } catch (error) {
    if (/error page/i.test(error.message)) {
      const message = 'The page could not be loaded; the tab shows an error page.';
      throw executionFailed(message, { mayHaveExecuted: true, url });
    }
  }
}
