import { GatewayRefused } from './gateway_client.js';
import { createBackoff, pause } from './waiting.js';
import { BACKOFF_FIRST_MS, BACKOFF_LONGEST_MS, RESULT_RETRY_MS } from './limits.js';

/** Refusals of the sender, or of the command: whatever the report says, they stay the same. */
const NOT_OF_THE_RESULT = [401, 403, 404];

/**
 * Brings reports to the gateway. A final report is offered again and again while the gateway is
 * away, because losing it would lose work that was done. One that the gateway refuses is replaced by
 * an error that says so, because whoever waits is to hear of it. A heartbeat is sent once, because the
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
        maxMs: BACKOFF_LONGEST_MS,
        random,
      });
      const giveUpAt = now() + RESULT_RETRY_MS;
      let offered = report;
      for (;;) {
        try {
          return await gateway.postResult(offered, signal);
        } catch (error) {
          if (signal?.aborted) return null;
          if (offered === report && refusesResult(error)) {
            log(`The result of ${report.correlation_id} was refused: ${error.message}`);
            offered = refusedReport(report, error);
            continue;
          }
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

function refusesResult(error) {
  return error instanceof GatewayRefused && !NOT_OF_THE_RESULT.includes(error.status);
}

/** What is reported in the place of a refused report: nothing of it that may have been the reason. */
function refusedReport({ id, correlation_id, traceparent, tracestate, tab_id, status, error }, refusal) {
  const said = error ? `the error ${error.code} of the command` : 'the result of the command';
  return {
    id,
    correlation_id,
    traceparent,
    tracestate,
    tab_id,
    status: status === 'timeout' ? 'timeout' : 'error',
    error: {
      code: 'result_refused',
      message: `The gateway refused ${said}: ${refusal.message}`,
      hint: 'Look at the page before you repeat the command; ask for a smaller or plainer result.',
      may_have_executed: error?.may_have_executed ?? true,
    },
  };
}
