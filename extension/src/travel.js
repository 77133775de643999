import { executionFailed, noHistory } from './errors.js';
import { pageLoaded } from './page_loaded.js';
import { toldAddress, toldTitle } from './told_page.js';

/**
 * Does what takes a tab to another page (`depart`), and answers `{url, title}` once that page has
 * loaded.
 */
export async function travel({ tab, tools: { browser, isOff }, signal, progress }, depart) {
  const loaded = pageLoaded(browser, tab.id, signal);
  await depart(browser);
  progress('The page is loading.');
  await loaded;
  return arrival(browser, tab.id, isOff);
}

/**
 * What is there once a tab has loaded: the answer to an action that went there. Of a page that is off
 * it is the address alone.
 */
export async function arrival(browser, tabId, isOff) {
  const { url, title } = await browser.tabs.get(tabId);
  if (await isOff(url)) return { url, data: { url: toldAddress(url) } };
  await refuseErrorPage(browser, tabId, url);
  return { url, data: { url: toldAddress(url), title: toldTitle(title) } };
}

/** An action that goes a step through the history of the tab, `back` or `forward`. */
export function historyAction(direction, step) {
  return {
    reported: true,
    leavesPage: true,

    check() {},

    run(setting) {
      return travel(setting, async (browser) => {
        try {
          await step(browser, setting.tab.id);
        } catch (error) {
          throw /history/i.test(error.message) ? noHistory(direction) : error;
        }
      });
    },
  };
}

/** A tab in which loading failed shows the wanted address; only scripting tells it apart. */
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
