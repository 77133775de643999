import { BACKOFF_FIRST_MS, BACKOFF_LONGEST_MS } from './limits.js';
import { createBackoff, pause } from './waiting.js';

/**
 * Has `serve(signal)` done until it ends by itself or the signal is aborted. Where it throws, what
 * it began is ended by the signal that it was given, and after a pause it is called again.
 */
export async function keepServing(serve, { signal, log, random }) {
  const backoff = createBackoff({
    firstMs: BACKOFF_FIRST_MS,
    maxMs: BACKOFF_LONGEST_MS,
    random,
  });
  while (!signal.aborted) {
    const attempt = new AbortController();
    try {
      return await serve(AbortSignal.any([signal, attempt.signal]));
    } catch (error) {
      attempt.abort();
      log(`The extension could not start, and tries again: ${error.stack}`);
      await pause(backoff.nextMs(), signal);
    }
  }
}

/** A function that opens something for the first who calls it, and after a failure for the next. */
export function openedOnce(open) {
  let opened = null;
  return () => {
    opened ??= open().catch((error) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}
