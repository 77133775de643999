import { CommandError, executionFailed, noActiveTab, restrictedPage, tabGone } from './errors.js';
import { pageLoaded } from './page_loaded.js';

/** What the browser says when the page, not the script, is the reason for a refusal. */
const RESTRICTION = /cannot access|cannot be scripted|missing host permission|blocked|error page/i;

/** Finds tabs and puts what the browser says about them into the words of the gateway. */
export function createTabs(browser) {
  async function named(tabId) {
    try {
      return await browser.tabs.get(tabId);
    } catch {
      throw tabGone(tabId);
    }
  }

  async function active() {
    try {
      const window = await browser.windows.getLastFocused({ windowTypes: ['normal'] });
      const [tab] = await browser.tabs.query({ active: true, windowId: window.id });
      if (tab) return tab;
    } catch {
      // A browser without any window rejects; that is the same answer as a window without tabs.
    }
    throw noActiveTab();
  }

  return {
    /** The tab of that id and no other one, or the active tab when no id is given. */
    find(tabId) {
      return tabId === undefined || tabId === null ? active() : named(tabId);
    },

    named,

    /**
     * Loads the page again that the browser has put aside to save memory, or has not yet loaded
     * after its own restart. No script reaches such a tab before.
     */
    async wake(tab, signal) {
      if (!tab.discarded && tab.status !== 'unloaded') return;
      const loaded = pageLoaded(browser, tab.id, signal);
      await browser.tabs.reload(tab.id);
      await loaded;
    },

    /** Rejects with tab_gone once the tab is closed; stops watching when the signal is aborted. */
    closed(tabId, signal) {
      return new Promise((_, reject) => {
        const listener = (removedId) => {
          if (removedId === tabId) reject(tabGone(tabId));
        };
        browser.tabs.onRemoved.addListener(listener);
        signal.addEventListener('abort', () => browser.tabs.onRemoved.removeListener(listener));
      });
    },

    /**
     * Turns whatever an action threw into a CommandError. When its tab is gone, that is the cause,
     * whatever the browser said.
     */
    async explain(error, tabId) {
      if (error instanceof CommandError) return error;
      let tab;
      try {
        tab = await named(tabId);
      } catch (gone) {
        return gone;
      }
      if (RESTRICTION.test(error.message)) return restrictedPage(tab.url, error.message);
      return executionFailed(error.message);
    },
  };
}
