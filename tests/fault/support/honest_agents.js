import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** Between two calls of an agent, in ms. */
const PACE_MS = 200;
/** No call of an agent takes longer unless it hangs, in ms: the gateway gives up before. */
const PATIENCE_MS = stretched(40_000);

/** An agent that hands in one command after another, and is told how each ends. */
export class HonestAgent {
  times = [];
  complaints = [];
  #caller;
  #next = 0;

  constructor(caller) {
    this.#caller = caller;
  }

  async work(until) {
    while (performance.now() < until) {
      await this.#call();
      await pause(PACE_MS);
    }
  }

  async #call() {
    // Some are larger than what is read at once with a request's head.
    const script = `${this.#next++}${' '.repeat(this.#next % 4 === 0 ? 4_000 : 0)}`;
    const begun = performance.now();
    const late = new AbortController();
    const answer = await Promise.race([
      this.#caller.request('tools/call', { name: 'interact',
        arguments: { action: 'execute_js', script, wait_ms: 8_000 } }).catch(String),
      pause(PATIENCE_MS, 'it hangs', { signal: late.signal }),
    ]);
    late.abort();
    this.times.push(performance.now() - begun);
    const told = answer?.result?.structuredContent;
    if (told?.status !== 'complete' || told.result !== script.trim()) {
      this.complaints.push(JSON.stringify(told ?? answer));
    }
  }
}

/** One in a hundred took longer, in ms. */
export function p99(agents) {
  const times = agents.flatMap((agent) => agent.times).sort((a, b) => a - b);
  return Math.round(times[Math.floor(times.length * 0.99)]);
}
