import { createBackoff, pause } from './waiting.js';

/**
 * Runs `serve(signal)` until it ends by itself or the signal is aborted. If it throws, its signal ends what
 * it began, and after a pause it is called again.
 */
export async function keepServing(serve, { signal, log, random }) {
  const backoff = createBackoff(random);
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

/** Returns a function that opens something on the first call, and again on the next call after a failure. */
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
