import { LOAD_PATIENCE_MS, QUIET_MS, QUIET_PATIENCE_MS } from './limits.js';
import { pause } from './waiting.js';

/** Interval of checks whether a page has loaded, or a request has ended, in ms. */
const LOOK_MS = 20;

/**
 * Waits until the effects of an action in a page are over: until no request for a document, fetch or
 * XMLHttpRequest that it began is open, and nothing has changed in any frame for QUIET_MS. It waits at most
 * QUIET_PATIENCE_MS, preceded by at most LOAD_PATIENCE_MS for a page that is loading.
 */
export function createSettling({ browser, pageParts, network, now, wallNow }) {
  /** For how long nothing has changed in any frame, in ms; frames that do not answer in time are skipped. */
  async function idle(tabId, patienceMs, signal) {
    const asked = pageParts.callAll(tabId, 'quiet.idle').then(
      (answers) => answers.map(({ result }) => result ?? Infinity), () => []);
    const none = pause(patienceMs, signal).then(() => []);
    return Math.min(Infinity, ...await Promise.race([asked, none]));
  }

  async function isLoading(tabId, { open, page }) {
    if (!page) return false;
    const { status, pendingUrl } = await browser.tabs.get(tabId);
    return open > 0 || status !== 'complete' || Boolean(pendingUrl);
  }

  return {
    /** Must be called before an action; returns the time to pass to `settled`, in ms since 1970. */
    begin(tabId) {
      // Installs the observers of changes. Where nothing answers, no changes can be observed.
      pageParts.callAll(tabId, 'quiet.idle').catch(() => {});
      return wallNow();
    },

    /** Resolves once the page is quiet, or the time is over; `loading` is called when a page is loading. */
    async settled(tabId, beganAt, { signal, loading = () => {} } = {}) {
      const loadedBy = now() + LOAD_PATIENCE_MS;
      let from = now();
      const left = () => from + QUIET_PATIENCE_MS - now();
      while (!signal?.aborted && left() > 0) {
        const requests = network.since(tabId, beganAt);
        const quiet = Math.min(now() - from, wallNow() - requests.endedAt);
        if (now() < loadedBy && await isLoading(tabId, requests)) {
          loading();
          await pause(LOOK_MS, signal);
          from = now();
        } else if (requests.open > 0) {
          await pause(Math.min(LOOK_MS, left()), signal);
        } else if (quiet < QUIET_MS) {
          await pause(Math.min(QUIET_MS - quiet, left()), signal);
        } else {
          const still = await idle(tabId, left(), signal);
          if (still >= QUIET_MS) return;
          await pause(Math.min(QUIET_MS - still, left()), signal);
        }
      }
    },
  };
}
