import { BACKOFF_FIRST_MS, BACKOFF_LONGEST_MS } from './limits.js';

/** Resolves after `ms` milliseconds, or at once when the signal is aborted. Never rejects. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
    function finish() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    }
  });
}

/** Resolves to undefined when the signal is aborted. */
export function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Returns growing waits between attempts. Half of each wait is random, so that many browsers do not
 * reconnect to a restarted gateway at the same moment.
 */
export function createBackoff(random = Math.random) {
  let ceilingMs = BACKOFF_FIRST_MS;
  return {
    nextMs() {
      const waitMs = ceilingMs * (0.5 + random() / 2);
      ceilingMs = Math.min(ceilingMs * 2, BACKOFF_LONGEST_MS);
      return waitMs;
    },
    reset() {
      ceilingMs = BACKOFF_FIRST_MS;
    },
  };
}
