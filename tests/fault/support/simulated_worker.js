import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** The hold of one poll, in s, and the interval of progress reports, in ms. */
const POLL_S = 1;
const HEARTBEAT_MS = 400;
/** The pause before another attempt at a gateway that is down, in ms. */
const RETRY_MS = 50;
/** How long a worker tries to report a result, in ms; by then its command has ended. */
const REPORT_MS = stretched(20_000);

/**
 * A worker's instructions, as the text of a command: takes `workMs`, and ends as `complete`,
 * `error` or `timeout`, or is `silent` and never reports.
 */
export function instructions(job, workMs, end) {
  return `${job} ${workMs} ${end}`;
}

/**
 * A worker over the gateways' HTTP API, like a browser extension: it takes several commands at a
 * time, reports its progress, and repeats a report until a gateway accepts it. The ledger records
 * each execution.
 */
export class SimulatedWorker {
  #options;
  #life = 0;
  #gateway = 0;
  #stopped = new AbortController();
  #loop;
  #running = new Set();

  /** `gatewayUrls` is called for the addresses each time. */
  constructor({ name, target, gatewayUrls, ledger }) {
    this.#options = { name, target, gatewayUrls, ledger };
    this.#loop = this.#poll();
  }

  /** Drops all running commands, as if it had been killed and started again. */
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
      // Commands that were delivered while the worker died are lost with it.
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

  /** Repeats the report until it is answered; null if the worker died or gave up. */
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

  /** The answer, or null if there is no valid one: the request may be repeated. */
  async #request(path, options) {
    const urls = this.#options.gatewayUrls();
    const url = new URL(path, urls[this.#gateway % urls.length]);
    try {
      const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(REPORT_MS)]);
      const response = await fetch(url, { ...options, signal });
      const answer = await response.json();
      if (response.ok) return answer;
      // The tracker does not know the command, or the delivery: that is an answer.
      if (response.status < 500 && options) return answer;
    } catch {
      // The connection was refused, reset, or cut off.
    }
    this.#gateway += 1;
    return null;
  }
}
