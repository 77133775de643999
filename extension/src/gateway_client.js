import {
  BACK_WITHIN_SECONDS,
  DRAWING_POST_TIMEOUT_MS,
  IMPOSTOR_PAUSE_MS,
  NAMED_FOR_SECONDS,
  POLL_HOLD_SECONDS,
  POLL_TIMEOUT_MS,
  POST_TIMEOUT_MS,
} from './limits.js';
import { createProvenFetch, SpoofedGateway } from './proven_fetch.js';
import { cutText, jsonText } from './text.js';

/** The only rejection that passes with time. */
const TOO_MANY_REQUESTS = 429;

/** The gateway did not answer, or answered that it cannot serve now: retrying makes sense. */
export class GatewayUnavailable extends Error {}

/** The gateway has rejected the request for good: retrying is pointless. */
export class GatewayRefused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * Ensures that a spoofed gateway learns nothing: `greeted()` resolves once the program at the address is
 * known to be the gateway, and `lost()` resets that. Then, as at the beginning, a greeting is sent first: a
 * request that reveals nothing. A spoofed gateway is asked again only after a pause, whichever caller asks.
 */
function createGreeting({ ask, now }) {
  let known = false;
  let asking = null;
  let spoofed = null;
  let askAgainAt = 0;

  async function greet() {
    try {
      await ask();
      known = true;
      spoofed = null;
    } catch (error) {
      spoofed = error instanceof SpoofedGateway ? error : null;
      askAgainAt = now() + IMPOSTOR_PAUSE_MS;
      throw error;
    } finally {
      asking = null;
    }
  }

  return {
    async greeted() {
      if (known) return;
      if (spoofed && now() < askAgainAt) throw spoofed;
      asking ??= greet();
      await asking;
    },
    lost() {
      known = false;
    },
  };
}

/** Never negative, because the clock may be set back meanwhile. */
function toldOf({ beganAt, endedAt }, now) {
  return {
    duration_ms: Math.max(0, endedAt - beganAt),
    ended_ms_ago: Math.max(0, now - endedAt),
  };
}

/**
 * The HTTP calls of the extension. It retries nothing; all calls throw GatewayUnavailable, GatewayRefused
 * or, if the program that answers does not know the token, SpoofedGateway.
 */
export function createGatewayClient(settings) {
  const { workerId, target, token } = settings;
  const { now = () => performance.now(), wallNow = () => Date.now() } = settings;
  const provenFetch = createProvenFetch(settings);
  const greeting = token
    ? createGreeting({ ask: () => fetchWithin('/healthz', {}, POST_TIMEOUT_MS), now })
    : null;

  async function fetchWithin(path, options, timeoutMs, signal) {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await provenFetch(path, {
        ...options,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
    } catch (error) {
      greeting?.lost();
      if (error instanceof SpoofedGateway) throw error;
      throw new GatewayUnavailable(`${path} got no answer: ${error.message}`);
    }
  }

  async function request(path, options, timeoutMs, signal) {
    await greeting?.greeted();
    const { status, text } = await fetchWithin(path, options, timeoutMs, signal);
    // A gateway that is about to stop reports this first, and another program may listen there next.
    if (status >= 500) greeting?.lost();
    if (status >= 500 || status === TOO_MANY_REQUESTS) {
      throw new GatewayUnavailable(`${path} answered ${status}`);
    }
    if (status >= 400) {
      throw new GatewayRefused(`${path} answered ${status}: ${cutText(text, 500)}`, status);
    }
    try {
      return JSON.parse(text);
    } catch {
      throw new GatewayUnavailable(`${path} answered something that is not JSON`);
    }
  }

  function post(path, content, signal, timeoutMs = POST_TIMEOUT_MS, more = {}) {
    const headers = { 'Content-Type': 'application/json', ...more };
    const options = { method: 'POST', headers, body: jsonText(content) };
    return request(path, options, timeoutMs, signal);
  }

  return {
    /**
     * Waits for commands, and for cancels of commands: `{type: "cancel", correlation_id, id}`; up to the
     * hold time of the gateway, or not at all. Resolves to an array of both. `known` is what the journal
     * reports about the deliveries so far.
     */
    async pendingQueries({ known: { ids, forMs }, hold }, signal) {
      const query = new URLSearchParams({
        wait: hold ? POLL_HOLD_SECONDS : 0,
        back_within: BACK_WITHIN_SECONDS,
        target,
        worker: workerId,
        cancels: 1,
        known: ids.join(','),
        known_for: Math.min(Math.max(0, Math.floor(forMs / 1_000)), NAMED_FOR_SECONDS),
      });
      const path = `/pending-queries?${query}`;
      // This header distinguishes the poll from a page's request if the gateway is open and remote.
      const options = { method: 'GET', headers: { 'Content-Type': 'application/json' } };
      const commands = await request(path, options, POLL_TIMEOUT_MS, signal);
      if (!Array.isArray(commands)) throw new GatewayUnavailable(`${path} answered no array`);
      return commands;
    },

    /**
     * Posts one report about one command, with its `traceparent` and `tracestate`, if any, as headers;
     * resolves to the answer of the gateway. The time of the work is sent as how long ago it was, because
     * clocks differ.
     */
    postResult({ traceparent, tracestate, work, ...report }, signal) {
      const trace = { ...(traceparent && { traceparent }), ...(tracestate && { tracestate }) };
      const body = work ? { ...report, work: toldOf(work, wallNow()) } : report;
      return post('/query-result', body, signal, POST_TIMEOUT_MS, trace);
    },

    /** Fetches a part of a file that an upload names: `{base64, size}`. */
    file(id, offset, signal) {
      const path = `/files/${encodeURIComponent(id)}?offset=${offset}`;
      return request(path, { method: 'GET' }, POST_TIMEOUT_MS, signal);
    },

    /** Posts one finished drawing; resolves to the answer of the gateway. */
    completeDrawing(drawing, signal) {
      return post('/draw-mode/complete', drawing, signal, DRAWING_POST_TIMEOUT_MS);
    },

    /** Posts the description and the open tabs of this browser, see worker_status.js. */
    postStatus(status, signal) {
      return post('/worker-status', { worker: workerId, target, ...status }, signal);
    },
  };
}
