/** What every program needs that talks to the tracker: a connection, calls, errors, patience. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const PROTO_FOLDER = fileURLToPath(new URL('../../proto', import.meta.url));

// Fields keep the names of the contract. Enums and 64-bit numbers are strings, bytes are Buffers,
// and a oneof tells which of its members is set.
const definition = protoLoader.loadSync('callslip/tracker/v1/command_service.proto', {
  includeDirs: [PROTO_FOLDER],
  keepCase: true,
  enums: String,
  longs: String,
  defaults: true,
  oneofs: true,
});
const { CommandService } = grpc.loadPackageDefinition(definition).callslip.tracker.v1;

/** Five commands and large results are above the 4 MiB that gRPC accepts by default. */
const MAX_MESSAGE_BYTES = 16 << 20;

/** The tracker's address: the first argument, or CALLSLIP_TRACKER, or where `./dev up` has it. */
export function trackerAddress() {
  return process.argv[2] ?? process.env.CALLSLIP_TRACKER ?? '127.0.0.1:7900';
}

/**
 * Who this program is: CALLSLIP_TOKEN goes with each call; with CALLSLIP_TLS_CA the tracker has to
 * prove who it is, and with CALLSLIP_TLS_CERT and CALLSLIP_TLS_KEY this program does so, too. Over
 * `unix:PATH` it needs none of them.
 */
function credentials() {
  const { CALLSLIP_TLS_CA: ca, CALLSLIP_TLS_KEY: key, CALLSLIP_TLS_CERT: cert } = process.env;
  if (!ca) return grpc.credentials.createInsecure();
  return grpc.credentials.createSsl(...[ca, key, cert].map((file) => file && readFileSync(file)));
}

/** Adds the token to every call, with TLS or without. */
function withToken(options, nextCall) {
  return new grpc.InterceptingCall(nextCall(options), {
    start(metadata, listener, next) {
      metadata.set('authorization', `Bearer ${process.env.CALLSLIP_TOKEN}`);
      next(metadata, listener);
    },
  });
}

/** A client of the tracker. It connects when it is first used, and again whenever it has to. */
export function connect(address) {
  return new CommandService(address, credentials(), {
    interceptors: process.env.CALLSLIP_TOKEN ? [withToken] : [],
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    // A peer that vanished without a word is noticed within 40 s while a call is open.
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 5_000,
  });
}

/** What a call failed with: the status, and what the tracker says about it in its trailers. */
export class TrackerError extends Error {
  name = 'TrackerError';

  /** @param {{code: number, message: string, reason?: string, hint?: string}} status */
  constructor({ code, message, reason, hint, retryAfterMs, depth }) {
    super(message);
    this.code = grpc.status[code];
    this.reason = reason;
    this.hint = hint;
    this.retryAfterMs = retryAfterMs;
    this.depth = depth;
  }

  /** From an error of gRPC's; one without a reason came from the connection. */
  static from(error) {
    const trailer = (name) => error.metadata?.get(name)[0];
    const number = (name) => (trailer(name) === undefined ? undefined : Number(trailer(name)));
    return new TrackerError({
      code: error.code,
      message: error.details ?? error.message,
      reason: trailer('callslip-reason'),
      hint: trailer('callslip-hint'),
      retryAfterMs: number('callslip-retry-after-ms'),
      depth: number('callslip-depth'),
    });
  }

  /** True where the same call may succeed later: nobody answered, or the tracker says when. */
  get isTransient() {
    const nobodyAnswered = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED'].includes(this.code);
    return this.retryAfterMs !== undefined || nobodyAnswered;
  }

  toString() {
    return [this.code, this.reason, `"${this.message}"`, this.hint].filter(Boolean).join(' ');
  }
}

/** One request, one answer. Without a deadline a call may wait for ever. */
export function call(client, method, request, timeoutMs = 5_000) {
  return new Promise((resolve, reject) => {
    client[method](request, { deadline: Date.now() + timeoutMs }, (error, response) => {
      if (error) reject(TrackerError.from(error));
      else resolve(response);
    });
  });
}

/** Pauses that double, half of each left to chance: not all callers shall come back at once. */
export class Backoff {
  static #FIRST_MS = 100;
  static #LONGEST_MS = 5_000;
  #nextMs = Backoff.#FIRST_MS;

  next() {
    const pauseMs = this.#nextMs * (0.5 + Math.random() / 2);
    this.#nextMs = Math.min(2 * this.#nextMs, Backoff.#LONGEST_MS);
    return pauseMs;
  }

  reset() {
    this.#nextMs = Backoff.#FIRST_MS;
  }
}

/**
 * Repeats a call until it is answered, for `patienceMs` at most. Only for calls that may be made
 * twice without harm: the first one may have arrived although its answer did not.
 */
export async function persist(attempt, { patienceMs = 60_000, onRetry = () => {} } = {}) {
  const backoff = new Backoff();
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const pauseMs = Math.max(backoff.next(), error.retryAfterMs ?? 0);
      if (!error.isTransient || performance.now() + pauseMs > giveUpAt) throw error;
      onRetry(error);
      await delay(pauseMs);
    }
  }
}
