/**
 * A worker that executes the commands of one target.
 * Usage: node worker.mjs [ADDRESS [TARGET [WORKER_ID]]]
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff, TrackerError, call, connect, persist, trackerAddress } from './tracker.mjs';

/** How many commands to work on at a time; the tracker allows 5. */
const MAX_UNFINISHED = 5;
/** A command that asks for more heartbeats gets more. */
const HEARTBEAT_MS = 3_000;
const MAX_RESULT_BYTES = 8 << 20;

/** Throw this in a handler to say exactly what went wrong. */
class WorkError extends Error {
  /** @param {{hint?: string, mayHaveExecuted?: boolean}} [details] */
  constructor(code, message, { hint = '', mayHaveExecuted = true } = {}) {
    super(message);
    Object.assign(this, { code, hint, mayHaveExecuted });
  }
}

/**
 * What this worker can do, by the type of command. A handler gets the params and answers with the
 * result, both of them JSON. It must stop when `signal` is aborted: nobody wants its result then.
 */
const handlers = {
  echo: async (params) => params,

  async sleep({ ms = 1_000 }, { signal, progress }) {
    const steps = 10;
    for (let step = 0; step < steps; ++step) {
      progress(step / steps, `slept ${step} of ${steps} parts`);
      await delay(ms / steps, undefined, { signal });
    }
    return { slept_ms: ms };
  },

  async fail({ message = 'as it was told to', unless_replayed: unlessReplayed }, { command }) {
    if (unlessReplayed && command.replay_of !== '') return { replay_of: command.replay_of };
    throw new WorkError('told_to_fail', message, { hint: 'Replay it.' });
  },
};

function commandErrorFrom(error) {
  if (!(error instanceof WorkError)) return { code: 'execution_failed', message: error.message };
  const { code, message, hint, mayHaveExecuted } = error;
  return { code, message, hint, may_have_executed: mayHaveExecuted };
}

function millisecondsOf({ seconds, nanos }) {
  return Number(seconds) * 1_000 + nanos / 1e6;
}

/** One delivery of one command: acknowledged, kept alive, executed, reported. */
class Execution {
  #client;
  #lease;
  /** What every report about this delivery quotes. */
  #proof;
  #progress;
  #stop = new AbortController();
  #isForgotten = false;

  constructor(client, lease) {
    this.#client = client;
    this.#lease = lease;
    const { command_id, attempt } = lease.command;
    this.#proof = { command_id, attempt, lease_token: lease.lease_token };
  }

  get id() {
    return this.#lease.command.command_id;
  }

  /** To be called when the command has ended without this worker: stops, and reports nothing. */
  forget() {
    if (this.#isForgotten) return;
    console.log(`forgets ${this.id}`);
    this.#isForgotten = true;
    this.#stop.abort(new Error('The command has ended.'));
  }

  /** Never fails: whatever becomes of this command, the others go on. */
  async run() {
    try {
      await this.#acknowledgeFirst();
      if (this.#isForgotten) return;
      const outcome = await this.#executeInTime();
      if (!this.#isForgotten) await this.#complete(outcome);
    } catch (error) {
      console.log(`could not report ${this.id}: ${error}`);
    }
  }

  /** Nothing may begin before this has succeeded: the command may belong to another worker by now. */
  async #acknowledgeFirst() {
    const patienceMs = millisecondsOf(this.#lease.command.deadlines.ack_wait);
    const timeoutMs = patienceMs / 2;
    await persist(() => this.#acknowledge(timeoutMs), { patienceMs });
  }

  async #acknowledge(timeoutMs) {
    const request = { ...this.#proof, progress: this.#progress };
    const answer = await call(this.#client, 'AcknowledgeCommand', request, timeoutMs);
    if (answer.cancel_requested || answer.state !== 'COMMAND_STATE_RUNNING') this.forget();
  }

  /** Executes between heartbeats and answers the outcome, which is a time-out when it comes. */
  async #executeInTime() {
    const { command, start_to_close } = this.#lease;
    const heartbeatMs = millisecondsOf(command.deadlines.heartbeat_timeout) / 3;
    const periodMs = Math.min(HEARTBEAT_MS, heartbeatMs);
    const heartbeat = setInterval(() => this.#heartbeat(periodMs), periodMs);
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      this.#stop.abort(new Error('The time is over.'));
    }, millisecondsOf(start_to_close));
    try {
      return await this.#execute(command);
    } catch (error) {
      if (isOverdue) return { timeout: { message: 'The worker ran out of time.' } };
      return { error: commandErrorFrom(error) };
    } finally {
      clearTimeout(timer);
      clearInterval(heartbeat);
    }
  }

  async #heartbeat(timeoutMs) {
    try {
      await this.#acknowledge(timeoutMs);
    } catch (error) {
      // When the connection is broken, the next heartbeat may get through. Any other error means
      // that the tracker does not know this delivery.
      if (!error.isTransient) this.forget();
    }
  }

  async #execute(command) {
    const handler = Object.hasOwn(handlers, command.type) ? handlers[command.type] : undefined;
    if (handler === undefined) {
      const nothingDone = { mayHaveExecuted: false };
      throw new WorkError('unknown_type', `No handler for "${command.type}".`, nothingDone);
    }
    const params = JSON.parse(command.params.toString());
    const progress = (fraction, message) => { this.#progress = { fraction, message }; };
    const value = await handler(params, { command, progress, signal: this.#stop.signal });
    const result = Buffer.from(JSON.stringify(value ?? null));
    if (result.length <= MAX_RESULT_BYTES) return { result };
    throw new WorkError('result_too_large', `The result has ${result.length} bytes.`);
  }

  /** Repeating this does no harm: whatever arrives first counts. */
  async #complete(outcome) {
    const request = { ...this.#proof, ...outcome };
    const { state } = await persist(() => call(this.#client, 'CompleteCommand', request), {
      onRetry: (error) => console.log(`repeats the report of ${this.id}: ${error}`),
    });
    console.log(`reported ${this.id}: ${state}`);
  }
}

/** Takes commands until it is told to stop, over as many streams as that needs. */
class Worker {
  #client;
  #request;
  #stop = new AbortController();
  /** What is under way: the promise of the end of each execution. */
  #executions = new Map();

  constructor(client, target, workerId) {
    this.#client = client;
    this.#request = { target, worker_id: workerId, max_unfinished: MAX_UNFINISHED };
  }

  /** Takes nothing more; run() ends once everything is reported. */
  stop() {
    this.#stop.abort();
  }

  async run() {
    const { signal } = this.#stop;
    const backoff = new Backoff();
    while (!signal.aborted) {
      const ended = await this.#takeCommands(backoff);
      if (signal.aborted) break;
      console.log(`reconnects: ${ended}`);
      // It is no error to be told to stop meanwhile.
      await delay(backoff.next(), undefined, { signal }).catch(() => {});
    }
    console.log(`stops, and finishes ${this.#executions.size} commands`);
    await Promise.all(this.#executions.values());
  }

  /** Takes commands from one stream until it ends, and answers why it did. */
  async #takeCommands(backoff) {
    const stream = this.#client.StreamCommands(this.#request);
    const leave = () => stream.cancel();
    this.#stop.signal.addEventListener('abort', leave);
    try {
      for await (const { leases, ended_command_ids } of stream) {
        backoff.reset();
        for (const lease of leases) this.#begin(lease);
        for (const id of ended_command_ids) this.#forget(id);
      }
      return 'the tracker shuts down';
    } catch (error) {
      return TrackerError.from(error);
    } finally {
      this.#stop.signal.removeEventListener('abort', leave);
    }
  }

  #begin(lease) {
    const execution = new Execution(this.#client, lease);
    console.log(`took ${execution.id}: ${lease.command.type}`);
    const end = execution.run().then(() => this.#executions.delete(execution));
    this.#executions.set(execution, end);
  }

  #forget(id) {
    for (const execution of this.#executions.keys()) {
      if (execution.id === id) execution.forget();
    }
  }
}

const client = connect(trackerAddress());
const target = process.argv[3] ?? 'example';
const worker = new Worker(client, target, process.argv[4] ?? `${hostname()}-${process.pid}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => worker.stop());
console.log(`works for ${target}`);
await worker.run();
client.close();
console.log('stopped');
