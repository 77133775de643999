import { createBackoff, pause } from './waiting.js';
import { POLL_INTERVAL_MS } from './limits.js';

/**
 * Keeps one poll open at the gateway until the signal is aborted, even if polls fail. Commands and cancels
 * are dispatched without waiting for them, so that polling continues while they run. The first poll, and
 * the one after a failure, is not held, so that the state of the gateway is known at once. `known` returns
 * the deliveries that have arrived, so that a lost one is delivered again. `reconnected` is called when the
 * gateway answers again after a failure.
 *
 * `keepAwake` is called once a round: the browser suspends a service worker that calls no extension API for
 * 30 s, and a held poll alone does not count as such a call.
 */
export async function runPollLoop({
  gateway,
  known,
  receive,
  cancel,
  reconnected,
  keepAwake,
  now,
  random,
  log,
  signal,
}) {
  const backoff = createBackoff(random);
  let heard = false;
  let failed = false;
  while (!signal.aborted) {
    const askedAt = now();
    keepAwake();
    try {
      const items = await gateway.pendingQueries({ known: known(), hold: heard }, signal);
      backoff.reset();
      if (failed) reconnected();
      failed = false;
      heard = true;
      for (const item of items) (item?.type === 'cancel' ? cancel : receive)(item);
      const early = POLL_INTERVAL_MS - (now() - askedAt);
      if (items.length === 0 && early > 0) await pause(early, signal);
    } catch (error) {
      if (signal.aborted) return;
      failed = true;
      heard = false;
      const waitMs = backoff.nextMs();
      log(`Polling failed, next attempt in ${Math.round(waitMs)} ms: ${error.message}`);
      await pause(waitMs, signal);
    }
  }
}
