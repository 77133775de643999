import {
  BACK_WITHIN_SECONDS,
  DRAWING_POST_TIMEOUT_MS,
  POLL_HOLD_SECONDS,
  POLL_TIMEOUT_MS,
  POST_TIMEOUT_MS,
} from './limits.js';

/** The one refusal that passes with time. */
const TOO_MANY_REQUESTS = 429;

/** The gateway did not answer, or answered that it cannot serve now: asking again makes sense. */
export class GatewayUnavailable extends Error {}

/** The gateway has answered and will not change its mind: asking again is pointless. */
export class GatewayRefused extends Error {}

/**
 * The HTTP calls that the extension makes. It holds no state and retries nothing; all calls throw
 * GatewayUnavailable or GatewayRefused.
 */
export function createGatewayClient({ serverUrl, workerId, target, token, fetch }) {
  const root = serverUrl.replace(/\/+$/, '');
  const authorization = token ? { Authorization: `Bearer ${token}` } : {};

  async function request(path, options, timeoutMs, signal) {
    const timeout = AbortSignal.timeout(timeoutMs);
    let response;
    let body;
    try {
      response = await fetch(root + path, {
        ...options,
        headers: { ...options.headers, ...authorization },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      body = await response.text();
    } catch (error) {
      throw new GatewayUnavailable(`${path} got no answer: ${error.message}`);
    }
    if (response.status >= 500 || response.status === TOO_MANY_REQUESTS) {
      throw new GatewayUnavailable(`${path} answered ${response.status}`);
    }
    if (!response.ok) {
      throw new GatewayRefused(`${path} answered ${response.status}: ${body.slice(0, 500)}`);
    }
    try {
      return JSON.parse(body);
    } catch {
      throw new GatewayUnavailable(`${path} answered something that is not JSON`);
    }
  }

  function post(path, content, signal, timeoutMs = POST_TIMEOUT_MS) {
    const headers = { 'Content-Type': 'application/json' };
    const options = { method: 'POST', headers, body: JSON.stringify(content) };
    return request(path, options, timeoutMs, signal);
  }

  return {
    /**
     * Waits up to the hold time of the gateway for commands, and for cancels of commands:
     * `{type: "cancel", correlation_id, id}`. Resolves to an array of both.
     */
    async pendingQueries(signal) {
      const query = new URLSearchParams({
        wait: POLL_HOLD_SECONDS,
        back_within: BACK_WITHIN_SECONDS,
        target,
        worker: workerId,
        cancels: 1,
      });
      const path = `/pending-queries?${query}`;
      const commands = await request(path, { method: 'GET' }, POLL_TIMEOUT_MS, signal);
      if (!Array.isArray(commands)) throw new GatewayUnavailable(`${path} answered no array`);
      return commands;
    },

    /** Posts one report about one command; resolves to the answer of the gateway. */
    postResult(report, signal) {
      return post('/query-result', report, signal);
    },

    /** Posts one finished drawing; resolves to the answer of the gateway. */
    completeDrawing(drawing, signal) {
      return post('/draw-mode/complete', drawing, signal, DRAWING_POST_TIMEOUT_MS);
    },

    /** Posts what this browser is and has open, see worker_status.js. */
    postStatus(status, signal) {
      return post('/worker-status', { worker: workerId, target, ...status }, signal);
    },
  };
}
