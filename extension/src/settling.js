import { LOAD_PATIENCE_MS, QUIET_MS, QUIET_PATIENCE_MS } from './limits.js';
import { pause } from './waiting.js';

/** How often it is looked whether a page has loaded, or a request has ended, in ms. */
const LOOK_MS = 20;

/**
 * Waits until what an action has set off in a page is over: until no request of a document, a fetch
 * or an XMLHttpRequest that it began is open, and nothing has changed in any frame for QUIET_MS. It
 * waits QUIET_PATIENCE_MS at the most, and before that LOAD_PATIENCE_MS for a page that loads.
 */
export function createSettling({ browser, pageParts, network, now, wallNow }) {
  /** For how long nothing has changed in any frame; frames that do not answer in time are passed over. */
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
    /** To be called before an action; answers the time to give to `settled`, in ms since 1970. */
    begin(tabId) {
      // From now on changes are seen. Where nothing answers there are none to be seen.
      pageParts.callAll(tabId, 'quiet.idle').catch(() => {});
      return wallNow();
    },

    /** Resolves once all is quiet, or has had its time; `loading` is called when a page loads. */
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
