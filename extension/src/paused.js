import { PAUSED_STIR_MS } from './limits.js';
import { pause } from './waiting.js';

/**
 * Takes no commands until the signal is aborted, and stays awake for those that still run: the
 * browser suspends a service worker that calls nothing of it for 30 s.
 */
export async function stayPaused({ keepAwake, signal }) {
  while (!signal.aborted) {
    keepAwake();
    await pause(PAUSED_STIR_MS, signal);
  }
}
