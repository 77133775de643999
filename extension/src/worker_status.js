import { LISTED_TABS, WORKER_STATUS_GATHER_MS, WORKER_STATUS_INTERVAL_MS } from './limits.js';
import { describeTab } from './tabs.js';
import { pause } from './waiting.js';

/**
 * Tells the gateway what this browser is and has open: at the start, when something has changed,
 * and now and then. A report that is lost is not repeated; the next one says all of it again.
 */
export function createWorkerStatus({ gateway, browser, description, log }) {
  let changed;
  let complaint;

  /** An older gateway refuses every report in the same words; once is enough to say it. */
  function complain(message) {
    if (message !== complaint) log(`The status was not taken: ${message}`);
    complaint = message;
  }

  async function report(signal) {
    try {
      const open = await browser.tabs.query({});
      const tabs = open.slice(0, LISTED_TABS).map(describeTab);
      await gateway.postStatus({ ...description, tabs }, signal);
    } catch (error) {
      if (!signal.aborted) complain(error.message);
    }
  }

  return {
    /** Something about the tabs has changed, or the gateway has come back. */
    touch() {
      changed?.abort();
    },

    /** Reports until the signal is aborted. */
    async run(signal) {
      while (!signal.aborted) {
        changed = new AbortController();
        await report(signal);
        await pause(WORKER_STATUS_INTERVAL_MS, AbortSignal.any([signal, changed.signal]));
        if (changed.signal.aborted) await pause(WORKER_STATUS_GATHER_MS, signal);
      }
    },
  };
}

/** The name and version of the browser, such as `Chrome/131.0`, from how it calls itself. */
export function browserVersion(userAgent) {
  return userAgent.match(/(?:Edg|OPR|Chrome)\/\d+\.\d+(?!.*(?:Edg|OPR)\/)/)?.[0] ?? 'unknown';
}
