import { PAUSED_STIR_MS } from './limits.js';
import { pause } from './waiting.js';

/**
 * Takes no commands until the signal is aborted, and stays awake for those that are still running: the
 * browser suspends a service worker that calls no extension API for 30 s.
 */
export async function stayPaused({ keepAwake, signal }) {
  while (!signal.aborted) {
    keepAwake();
    await pause(PAUSED_STIR_MS, signal);
  }
}
