import { GatewayRefused } from './gateway_client.js';
import { createBackoff, pause } from './waiting.js';
import { RESULT_RETRY_MS } from './limits.js';

/** Rejections of the sender or of the command: the content of the report does not matter. */
const NOT_OF_THE_RESULT = [401, 403, 404];

/**
 * Delivers reports to the gateway. A final report is retried while the gateway is unreachable, because
 * losing it would lose finished work. A report that the gateway rejects is replaced by an error that states
 * this, so that the waiting caller is informed. A heartbeat is sent once, because the next one replaces it.
 */
export function createResultOutbox({ gateway, now, random, log }) {
  return {
    /** Sends one heartbeat; resolves to the answer, or to null if there was none. */
    async announce(report, signal) {
      try {
        return await gateway.postResult(report, signal);
      } catch (error) {
        if (!signal.aborted) log(`Heartbeat for ${report.correlation_id}: ${error.message}`);
        return null;
      }
    },

    /**
     * Sends one final report; resolves to the answer, or to null once it has been given up or the signal,
     * if there is one, is aborted.
     */
    async deliver(report, signal) {
      const backoff = createBackoff(random);
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

/** Replaces a rejected report, without the content that may have caused the rejection. */
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
