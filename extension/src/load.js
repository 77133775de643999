import { LOAD_LOOK_MS, LOAD_RESERVE_MS } from './limits.js';
import { firstPageLoaded, pageLoaded } from './page_loaded.js';
import { aborted, pause } from './waiting.js';

/**
 * Watches a load of a tab: the next one or, in a tab that `isNew`, the first. `network` is from
 * network_log.js; `endsAt` is the time of `now` at which the command is over.
 */
export function watchLoad({ browser, network, now, tabId, isNew, signal, endsAt = Infinity }) {
  const lastRequest = network.pageRequest(tabId);
  const before = isNew ? undefined : lastRequest();
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  let isThere = false;
  const wait = isNew ? firstPageLoaded : pageLoaded;
  const loaded = wait(browser, tabId, stop, () => { isThere = true; });
  // Of a short time, half is left for the page.
  const lateAt = Math.max(endsAt - LOAD_RESERVE_MS, (now() + endsAt) / 2);

  /** The request that produced no page although it was answered or has failed. */
  function fruitless() {
    const request = lastRequest();
    return !isThere && request !== before && request?.answered ? request : undefined;
  }

  /** The tab shows that it is loading until a page is there, or none will come. */
  async function endsWithoutPage() {
    let seen;
    while (!stop.aborted) {
      await pause(LOAD_LOOK_MS, stop);
      const request = fruitless();
      const { status, pendingUrl } = request ? await browser.tabs.get(tabId) : {};
      const isOver = status === 'complete' && !pendingUrl && fruitless() === request;
      // The browser's event for a page that has just arrived may still be on its way.
      if (isOver && seen === request) return { request };
      seen = isOver ? request : undefined;
    }
    return {};
  }

  async function isUnfinished() {
    if (lateAt < Infinity) await pause(Math.max(0, lateAt - now()), stop);
    while (lateAt < Infinity && !stop.aborted) {
      if (isThere && await canBeUsed(browser, tabId)) return { unfinished: network.underWay(tabId) };
      await pause(LOAD_LOOK_MS, stop);
    }
    await aborted(stop);
    return {};
  }

  return {
    /** For a load that does not take place. */
    forget: () => over.abort(),

    /**
     * Resolves to `{}` once the page has loaded, and when the signal is aborted; to `{request}`, as in
     * network_log.js, if the request produced no page; and shortly before the command is over, if the page
     * is there and can be used, to `{unfinished}`, a list of `{type, url}` that it is still loading.
     */
    async end() {
      try {
        return await Promise.race([loaded.then(() => ({})), endsWithoutPage(), isUnfinished()]);
      } finally {
        over.abort();
      }
    },
  };
}

/**
 * Watches a newly opened tab, which may be closed at any time, from its beginning. `fruitless()` returns
 * the request, as in network_log.js, that produced no page although it was answered or has failed.
 */
export function watchNewTab({ browser, network, tabId }) {
  const lastRequest = network.pageRequest(tabId);
  let isThere = false;
  // The tab has no address until a page is there.
  const listener = (changedId, change, tab) => {
    if (changedId === tabId && tab?.url) isThere = true;
  };
  browser.tabs.onUpdated.addListener(listener);
  return {
    fruitless() {
      const request = lastRequest();
      return !isThere && request?.answered ? request : undefined;
    },
    end: () => browser.tabs.onUpdated.removeListener(listener),
  };
}

async function canBeUsed(browser, tabId) {
  const func = () => document.readyState !== 'loading' || document.body !== null;
  try {
    const [{ result } = {}] = await browser.scripting.executeScript({ target: { tabId }, func, injectImmediately: true });
    return result === true;
  } catch {
    return false;
  }
}
