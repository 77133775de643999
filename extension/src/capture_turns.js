import { SCREENSHOT_INTERVAL_MS } from './limits.js';
import { pause } from './waiting.js';

/**
 * Lets captures happen one at a time and no faster than the browser allows. One at a time also
 * keeps two captures from bringing each other's tabs to the front.
 */
export function createCaptureTurns({ now }) {
  let last = Promise.resolve();
  let earliestAt = 0;
  return {
    next(capture) {
      const turn = last.then(async () => {
        await pause(Math.max(0, earliestAt - now()));
        try {
          return await capture();
        } finally {
          earliestAt = now() + SCREENSHOT_INTERVAL_MS;
        }
      });
      last = turn.catch(() => {});
      return turn;
    },
  };
}
