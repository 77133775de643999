import { CommandError, executionFailed, noActiveTab, restrictedPage, tabGone } from './errors.js';
import { pageLoaded } from './page_loaded.js';
import { toldAddress, toldTitle } from './told_page.js';

/** Errors of the browser that mean that the page, not the script, is the reason for a failure. */
const RESTRICTION = /cannot access|cannot be scripted|missing host permission|blocked|error page/i;

/** The error of the browser for a tab that does not exist. */
const GONE = /no tab with id/i;

/** The description of a tab for the gateway and its clients. */
export function describeTab({ id, windowId, active, title, url, pendingUrl }) {
  return {
    tab_id: id,
    window_id: windowId,
    active,
    title: toldTitle(title),
    url: toldAddress(url || pendingUrl),
  };
}

/** Resolves once the tab is closed, and when the signal is aborted. */
export function tabRemoved(browser, tabId, signal) {
  return new Promise((resolve) => {
    const listener = (removedId) => {
      if (removedId === tabId) finish();
    };
    function finish() {
      browser.tabs.onRemoved.removeListener(listener);
      resolve();
    }
    browser.tabs.onRemoved.addListener(listener);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Finds tabs and translates the browser's errors about them into those of the gateway. */
export function createTabs(browser) {
  async function named(tabId) {
    try {
      return await browser.tabs.get(tabId);
    } catch (error) {
      throw GONE.test(error.message) ? tabGone(tabId) : error;
    }
  }

  async function lastWindowId() {
    const { id } = await browser.windows.getLastFocused({ windowTypes: ['normal'] });
    return id;
  }

  async function active() {
    try {
      const [tab] = await browser.tabs.query({ active: true, windowId: await lastWindowId() });
      if (tab) return tab;
    } catch {
      // A browser without any window rejects; that means the same as a window without tabs.
    }
    throw noActiveTab();
  }

  return {
    /** The tab with that id and no other, or the active tab if no id is given. */
    find(tabId) {
      return tabId === undefined || tabId === null ? active() : named(tabId);
    },

    named,

    /** The window that was focused last; undefined if the browser has no window. */
    lastWindowId() {
      return lastWindowId().catch(() => undefined);
    },

    /**
     * Reloads a page that the browser has discarded to save memory, or has not loaded yet after its own
     * restart. No script reaches such a tab before.
     */
    async wake(tab, signal) {
      if (!tab.discarded && tab.status !== 'unloaded') return;
      const loaded = pageLoaded(browser, tab.id, signal);
      await browser.tabs.reload(tab.id);
      await loaded;
    },

    /** Rejects with tab_gone once the tab is closed; stops watching when the signal is aborted. */
    async closed(tabId, signal) {
      await tabRemoved(browser, tabId, signal);
      if (!signal.aborted) throw tabGone(tabId);
    },

    /**
     * Turns any error of an action into a CommandError. If its tab is gone, that is the cause, whatever the
     * browser reported; `tabId` is undefined if there was no tab.
     */
    async explain(error, tabId) {
      const navigated = error.code === 'page_navigated';
      if (error instanceof CommandError && !navigated) return error;
      if (tabId === undefined) return executionFailed(error.message);
      let tab;
      try {
        tab = await named(tabId);
      } catch (reason) {
        if (reason instanceof CommandError) return reason;
      }
      if (navigated) return error;
      if (tab && RESTRICTION.test(error.message)) return restrictedPage(tab.url, error.message);
      return executionFailed(error.message);
    },
  };
}
