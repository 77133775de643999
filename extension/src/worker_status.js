import { LISTED_TABS, WORKER_STATUS_GATHER_MS, WORKER_STATUS_INTERVAL_MS } from './limits.js';
import { describeTab } from './tabs.js';
import { pause } from './waiting.js';

/**
 * Reports the description and the open tabs of this browser to the gateway: at the start, when something
 * has changed, and periodically. A lost report is not repeated; the next one contains everything again.
 */
export function createWorkerStatus({ gateway, browser, description, log }) {
  let changed;
  let complaint;

  /** A gateway may reject every report with the same words; one log entry is enough. */
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
    /** Must be called when the tabs have changed, or the gateway is back. */
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

/** The name and version of the browser, such as `Chrome/131.0`, from its user agent. */
export function browserVersion(userAgent) {
  return userAgent.match(/(?:Edg|OPR|Chrome)\/\d+\.\d+(?!.*(?:Edg|OPR)\/)/)?.[0] ?? 'unknown';
}
