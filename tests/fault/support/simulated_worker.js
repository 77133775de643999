import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** How long one poll is held, in s, and how often work in progress is reported, in ms. */
const POLL_S = 1;
const HEARTBEAT_MS = 400;
/** A gateway that is away is back in a moment, in ms. */
const RETRY_MS = 50;
/** How long a worker tries to report a result, in ms; its command has ended by then. */
const REPORT_MS = stretched(20_000);

/**
 * What a worker is told to do, as the text that commands carry: takes `workMs`, and ends in one of
 * `complete`, `error`, `timeout`, or is `silent`: never reports.
 */
export function instructions(job, workMs, end) {
  return `${job} ${workMs} ${end}`;
}

/**
 * A worker over the gateways' HTTP, as browser extensions are: it takes several commands at a time,
 * reports its progress, and repeats a report until a gateway takes it. Each execution goes into the
 * ledger.
 */
export class SimulatedWorker {
  #options;
  #life = 0;
  #gateway = 0;
  #stopped = new AbortController();
  #loop;
  #running = new Set();

  /** `gatewayUrls` is asked for the addresses anew each time. */
  constructor({ name, target, gatewayUrls, ledger }) {
    this.#options = { name, target, gatewayUrls, ledger };
    this.#loop = this.#poll();
  }

  /** Drops all that it has begun, as if it had been killed and started again. */
  crash() {
    this.#life += 1;
  }

  async stop() {
    this.#stopped.abort();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #poll() {
    const { name, target } = this.#options;
    const path = `/pending-queries?wait=${POLL_S}&worker=${name}&target=${target}&cancels=1`;
    while (!this.#stopped.signal.aborted) {
      const life = this.#life;
      const queries = await this.#request(path);
      if (queries === null) await pause(RETRY_MS);
      // What a worker was sent while it died is lost with it.
      if (queries === null || life !== this.#life) continue;
      for (const query of queries) {
        if (query.type === 'cancel') continue;
        const work = this.#work(query).finally(() => this.#running.delete(work));
        this.#running.add(work);
      }
    }
  }

  async #work({ id, correlation_id, params, traceparent }) {
    const life = this.#life;
    const { ledger } = this.#options;
    const [job, workMs, end] = (params.script ?? params.text).split(' ');
    const data = ledger.executed(job);
    const report = (body) => this.#report({ id, correlation_id, ...body }, life, traceparent);
    if (end === 'silent') return;
    const until = performance.now() + Number(workMs);
    while (performance.now() < until) {
      if (workMs > HEARTBEAT_MS) {
        const answer = await report({ status: 'pending' });
        if (answer?.cancel_requested) return;
      }
      await pause(Math.max(0, Math.min(HEARTBEAT_MS, until - performance.now())));
    }
    if (end === 'complete') {
      const answer = await report({ status: 'complete', result: { success: true, data } });
      if (answer?.command_status === 'complete') ledger.completed(job, data);
    } else {
      await report({ status: end, error: end === 'error' ? 'as told' : undefined });
    }
  }

  /** Repeated until it is answered; null if the worker died or gave up. */
  async #report(body, life, traceparent) {
    const until = performance.now() + REPORT_MS;
    while (performance.now() < until && life === this.#life && !this.#stopped.signal.aborted) {
      const answer = await this.#request('/query-result', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(traceparent && { traceparent }) },
        body: JSON.stringify(body),
      });
      if (answer !== null) return answer;
      await pause(RETRY_MS);
    }
    return null;
  }

  /** The answer, or null if there is none that counts: the same may be tried again. */
  async #request(path, options) {
    const urls = this.#options.gatewayUrls();
    const url = new URL(path, urls[this.#gateway % urls.length]);
    try {
      const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(REPORT_MS)]);
      const response = await fetch(url, { ...options, signal });
      const answer = await response.json();
      if (response.ok) return answer;
      // The tracker knows no such command, or not this delivery: that is an answer.
      if (response.status < 500 && options) return answer;
    } catch {
      // Refused, reset, or cut off.
    }
    this.#gateway += 1;
    return null;
  }
}
