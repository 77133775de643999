import { SCREENSHOT_INTERVAL_MS } from './limits.js';
import { pause } from './waiting.js';

/** How many times a capture is tried that comes too soon after one that is not known here. */
const TRIES = 3;

/** The browser counts captures, including those of this extension before it was restarted. */
function isTooSoon(error) {
  return String(error?.message).includes('MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND');
}

/**
 * Takes pictures one at a time, so that two do not bring each other's tabs to the front, and spaces their
 * captures as the browser requires.
 */
export function createCaptureTurns({ now }) {
  let last = Promise.resolve();
  let earliestAt = 0;

  async function inTime(capture, signal, triesLeft = TRIES) {
    const earlyMs = earliestAt - now();
    if (earlyMs > 0) await pause(earlyMs, signal);
    if (signal?.aborted) return undefined;
    try {
      return await capture();
    } catch (error) {
      if (triesLeft === 1 || !isTooSoon(error)) throw error;
    } finally {
      earliestAt = now() + SCREENSHOT_INTERVAL_MS;
    }
    return inTime(capture, signal, triesLeft - 1);
  }

  return {
    /**
     * Runs `work` when it is its turn and a capture is allowed. Further captures of the same picture use
     * `inTime(capture, signal)`, the argument of `work`; it resolves to undefined, without a capture, when
     * the signal is aborted.
     */
    next(work) {
      const turn = last.then(() => inTime(() => work(inTime)));
      last = turn.catch(() => {});
      return turn;
    },
  };
}
