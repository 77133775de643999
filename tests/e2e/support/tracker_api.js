import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import { stretched } from '../../support/patience.js';
import { ServerProcess } from './processes.js';
import { reflectionDefinition } from './reflection.js';

export { grpc };

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto', import.meta.url));
const MAX_MESSAGE_BYTES = 16 << 20;
/** The patience of a call, which takes longer only if something is broken, in ms. */
const CALL_PATIENCE_MS = stretched(40_000);

const PROTOS = [
  'callslip/tracker/v1/admin_service.proto',
  'callslip/tracker/v1/annotation_service.proto',
  'callslip/tracker/v1/command_service.proto',
  'callslip/tracker/v1/queue_service.proto',
  'callslip/tracker/v1/session_service.proto',
  'grpc/health/v1/health.proto',
];
/** All definitions of the protos, by full names. */
export const definition = protoLoader.loadSync(PROTOS, {
  includeDirs: [PROTO_FOLDER],
  keepCase: true,
  enums: String,
  longs: Number,
  defaults: true,
  oneofs: true,
});
const packages = grpc.loadPackageDefinition({ ...definition, ...reflectionDefinition });

let lastName = 0;

/** A name that no other test of this file uses, so that they can share one tracker. */
export function unique(prefix) {
  return `${prefix}-${++lastName}`;
}

/**
 * Starts a tracker at an address of its own, at which a caller may name any client: a unix socket
 * in a folder that is deleted with the test process.
 */
export function startTracker(args = [], address = freshSocket()) {
  return ServerProcess.start('callslip-tracker', ['--listen', address, ...args]);
}

function freshSocket() {
  const folder = mkdtempSync(join(tmpdir(), 'callslip-socket-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return `unix:${folder}/tracker.sock`;
}

export function stateOf({ state }) {
  return state.replace('COMMAND_STATE_', '');
}

/** For assert.rejects(): a status, and the trailers that the contract defines for it. */
export function refusal(code, reason, { message = /./, retryAfterMs, depth } = {}) {
  return (error) => {
    const trailer = (name) => error.metadata.get(`callslip-${name}`)[0];
    const expected = { code, reason, retryAfterMs, depth };
    const actual = {
      code: grpc.status[error.code],
      reason: trailer('reason'),
      retryAfterMs: trailer('retry-after-ms'),
      depth: trailer('depth'),
    };
    assert.deepEqual(actual, expected, error.message);
    assert.match(error.details, message);
    assert.match(trailer('hint'), /^\S.*\.$/);
    return true;
  };
}

/** The messages of a gRPC stream, one at a time; a message is read only on request. */
export class Messages {
  #iterator;

  constructor(stream) {
    this.stream = stream;
    this.status = new Promise((resolve) => {
      stream.on('status', ({ code }) => resolve(grpc.status[code]));
    });
    // Readers get the error from the iterator; a cancelled stream has one.
    stream.on('error', () => {});
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  async next() {
    const { done, value } = await this.#iterator.next();
    assert.ok(!done, 'The stream ended, and another message was expected.');
    return value;
  }

  /** Succeeds when the stream ends with OK and without a further message. */
  async end() {
    const { done, value } = await this.#iterator.next();
    assert.ok(done, `The stream sent one more message: ${JSON.stringify(value)}`);
    assert.equal(await this.status, 'OK');
  }

  async cancel() {
    this.stream.cancel();
    assert.equal(await this.status, 'CANCELLED');
  }
}

/** The updates of a WatchCommands stream, one at a time. */
export class Updates extends Messages {
  #updates = [];

  write(request) {
    this.stream.write(request);
  }

  halfClose() {
    this.stream.end();
  }

  /** The next update. */
  async nextUpdate() {
    while (this.#updates.length === 0) this.#updates.push(...(await this.next()).updates);
    return this.#updates.shift();
  }

  /** The next update as `[watch_id, state or reason of an error or undefined, last]`. */
  async nextInShort() {
    const { watch_id: id, command, error, last } = await this.nextUpdate();
    return [id, command ? stateOf(command) : error?.reason, last];
  }

  async end() {
    assert.deepEqual(this.#updates, []);
    await super.end();
  }
}

/** Adds a token to every call. */
function showing(token) {
  return (options, nextCall) => new grpc.InterceptingCall(nextCall(options), {
    start(metadata, listener, next) {
      metadata.set('authorization', `Bearer ${token}`);
      next(metadata, listener);
    },
  });
}

/** The tracker's API for a client that shares no code with the tracker. */
export class TrackerApi {
  #clients = [];
  #credentials;
  #interceptors;
  #pool;

  /**
   * Over TLS with gRPC's `credentials`, and with a token in every call if there is one. With
   * `ownConnection` each of its clients has a connection of its own.
   */
  constructor(address,
    { credentials = grpc.credentials.createInsecure(), token, ownConnection = false } = {}) {
    this.address = address;
    this.#credentials = credentials;
    this.#interceptors = token ? [showing(token)] : [];
    this.#pool = ownConnection ? 1 : 0;
    this.commands = this.client(packages.callslip.tracker.v1.CommandService);
    this.annotations = this.client(packages.callslip.tracker.v1.AnnotationService);
    this.sessions = this.client(packages.callslip.tracker.v1.SessionService);
    this.queues = this.client(packages.callslip.tracker.v1.QueueService);
    this.admin = this.client(packages.callslip.tracker.v1.AdminService);
    this.health = this.client(packages.grpc.health.v1.Health);
    this.reflection = this.client(packages.grpc.reflection.v1alpha.ServerReflection);
  }

  client(Service) {
    const client = new Service(this.address, this.#credentials, {
      interceptors: this.#interceptors,
      'grpc.use_local_subchannel_pool': this.#pool,
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    });
    this.#clients.push(client);
    return client;
  }

  call(method, request = {}, client = this.commands) {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + CALL_PATIENCE_MS;
      client[method](request, { deadline }, (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }

  /** Registers a command and returns it. */
  async register(settings = {}) {
    return (await this.call('RegisterCommand', { type: 'work', ...settings })).command;
  }

  async get(id, client_id = '') {
    return (await this.call('GetCommand', { client_id, command_id: id, peek: true })).command;
  }

  /** Leases commands for a worker, by default without a wait. */
  async lease(target, worker_id = '', more = {}) {
    return (await this.call('LeaseCommands', { target, worker_id, ...more })).leases;
  }

  acknowledge(lease, more = {}) {
    return this.call('AcknowledgeCommand', { ...proofOf(lease), ...more });
  }

  complete(lease, outcome = { result: Buffer.from('{"done":true}') }) {
    return this.call('CompleteCommand', { ...proofOf(lease), ...outcome });
  }

  wait(request) {
    return new Messages(this.commands.WaitForCommand(request));
  }

  /** Waits until the command is in this state; fails if it ends in another one. */
  async reached(id, state, client_id = '') {
    const messages = this.wait({ command_id: id, client_id });
    for (;;) {
      const { command } = await messages.next();
      if (stateOf(command) !== state) continue;
      messages.stream.cancel();
      return command;
    }
  }

  watch(request) {
    const updates = new Updates(this.commands.WatchCommands());
    if (request !== undefined) updates.write(request);
    return updates;
  }

  stream(target, worker_id = '', max_unfinished = 0) {
    return new Messages(this.commands.StreamCommands({ target, worker_id, max_unfinished }));
  }

  close() {
    for (const client of this.#clients) client.close();
  }
}

/** The fields that identify a delivery in a report. */
export function proofOf({ command, lease_token }) {
  return { command_id: command.command_id, attempt: command.attempt, lease_token };
}
