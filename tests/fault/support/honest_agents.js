import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** The pause between two calls of an agent, in ms. */
const PACE_MS = 200;
/** The patience of a call, in ms: the gateway gives up earlier, so a longer call hangs. */
const PATIENCE_MS = stretched(40_000);

/** An agent that submits one command after another, and gets the end of each. */
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
    // Some are larger than the first read, which contains a request's head.
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

/** The 99th percentile of the agents' times, in ms. */
export function p99(agents) {
  const times = agents.flatMap((agent) => agent.times).sort((a, b) => a - b);
  return Math.round(times[Math.floor(times.length * 0.99)]);
}
