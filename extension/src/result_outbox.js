import { GatewayRefused } from './gateway_client.js';
import { createBackoff, pause } from './waiting.js';
import { BACKOFF_FIRST_MS, BACKOFF_LONGEST_MS, RESULT_RETRY_MS } from './limits.js';

/**
 * Brings reports to the gateway. A final report is offered again and again while the gateway is
 * away, because losing it would lose work that was done; a heartbeat is sent once, because the
 * next one says the same.
 */
export function createResultOutbox({ gateway, now, random, log }) {
  return {
    /** Sends one heartbeat; resolves to the answer, or to null when none came. */
    async announce(report, signal) {
      try {
        return await gateway.postResult(report, signal);
      } catch (error) {
        if (!signal.aborted) log(`Heartbeat for ${report.correlation_id}: ${error.message}`);
        return null;
      }
    },

    /**
     * Sends one final report; resolves to the answer, or to null once it has been given up or the
     * signal, if there is one, is aborted.
     */
    async deliver(report, signal) {
      const backoff = createBackoff({
        firstMs: BACKOFF_FIRST_MS,
        longestMs: BACKOFF_LONGEST_MS,
        random,
      });
      const giveUpAt = now() + RESULT_RETRY_MS;
      for (;;) {
        try {
          return await gateway.postResult(report, signal);
        } catch (error) {
          if (signal?.aborted) return null;
          const waitMs = backoff.nextMs();
          const final = error instanceof GatewayRefused || now() + waitMs > giveUpAt;
          const verb = final ? 'was given up' : 'will be retried';
          log(`The result of ${report.correlation_id} ${verb}: ${error.message}`);
          if (final) return null;
          await pause(waitMs, signal);
          if (signal?.aborted) return null;
        }
      }
    },
  };
}
