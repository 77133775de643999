import { Agent } from '../../e2e/support/agent.js';
import { Bridge } from '../../e2e/support/bridge.js';
import { stretched } from '../../support/patience.js';

/** The bridge's classes of calls, shorter than by default: timeout and longest wait, in ms. */
const CLASSES = { fast: [5_000, 2_000], slow: [8_000, 5_000], blocking: [12_000, 8_000] };
const CLASS_OPTIONS = Object.entries(CLASSES).flatMap(([name, [timeout, wait]]) => [
  `--timeout-${name}`, `${timeout}ms`, `--server-wait-${name}`, `${wait}ms`]);

/** The longest time of a gateway beyond the requested wait, in ms. */
const GATEWAY_MS = 2_000;

/** A call without an answer this long after its deadline has none, in ms. */
const HUNG_MS = stretched(5_000);

/** The deadlines of `interact` and `analyze`, and of the other calls, in ms. */
function deadlineOf(name) {
  return CLASSES[name === 'observe' ? 'fast' : 'slow'][0];
}

/** The value of the promise, or `late` after `time()`, in ms of performance.now(). */
async function limited(time, promise) {
  let answer = 'late';
  let isAnswered = false;
  const answered = promise.then((value) => {
    answer = value;
    isAnswered = true;
  });
  // `time()` may become later meanwhile.
  for (let left; !isAnswered && (left = time() - performance.now()) > 0;) {
    let timer;
    const passed = new Promise((resolve) => { timer = setTimeout(resolve, left); });
    await Promise.race([answered, passed]).finally(() => clearTimeout(timer));
  }
  return answer;
}

/**
 * An agent behind a real bridge, which may be killed and started again at any time. The ledger
 * records each answer.
 */
export class BridgePipe {
  /** The times at which the bridge was frozen and thawed: in between it does not answer. */
  #frozenAt = Infinity;
  #thawedAt = Infinity;
  #ledger;
  #gatewayUrl;
  #bridge;

  static async open(gatewayUrl, ledger) {
    const pipe = new BridgePipe();
    pipe.#ledger = ledger;
    pipe.#gatewayUrl = gatewayUrl;
    await pipe.#start();
    return pipe;
  }

  get pid() {
    return this.#bridge.pid;
  }

  /** The structured content of the answer; null if the bridge died before. */
  async call(name, args) {
    const bridge = this.#bridge;
    const begun = performance.now();
    this.#ledger.call();
    const deadline = () => deadlineOf(name) + this.#stoodStillSince(begun);
    const gone = bridge.ended.then(() => 'gone');
    const answer = await limited(() => begun + deadline() + HUNG_MS,
      Promise.race([bridge.call(name, args), gone]));
    if (answer === 'gone') {
      this.#ledger.orphaned += 1;
      // The caller continues with the next bridge.
      await this.restarted;
      return null;
    }
    if (answer === 'late') {
      this.#ledger.neverAnswered(`${name} ${JSON.stringify(args)}`);
      return null;
    }
    const content = answer.result?.structuredContent ?? null;
    const what = `${name} ${JSON.stringify(args)}`;
    this.#ledger.answered(performance.now() - begun, deadline(), what, content);
    return content;
  }

  /**
   * May be called once. `process.kill` returns before the process stops, so the bridge counts as
   * frozen from this call on.
   */
  freeze() {
    this.#frozenAt = performance.now();
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw() {
    process.kill(this.pid, 'SIGCONT');
    this.#thawedAt = performance.now();
  }

  /** How long the bridge has been frozen since `begun`, in ms. */
  #stoodStillSince(begun) {
    const until = Math.min(performance.now(), this.#thawedAt);
    return Math.max(0, until - Math.max(begun, this.#frozenAt));
  }

  /** Kills the bridge and starts another one. */
  async kill() {
    const bridge = this.#bridge;
    this.restarted = (async () => {
      process.kill(bridge.pid, 'SIGKILL');
      await bridge.ended;
      this.#countAnswers(bridge);
      await this.#start();
    })();
    await this.restarted;
  }

  async close() {
    this.#countAnswers(this.#bridge);
    await this.#bridge.close();
  }

  async #start() {
    this.#bridge = await Bridge.start(['--gateway', this.#gatewayUrl, ...CLASS_OPTIONS]);
    await this.#bridge.initialize();
  }

  #countAnswers(bridge) {
    for (const answers of bridge.answers.values()) {
      if (answers.length > 1) this.#ledger.answeredTwice(JSON.stringify(answers));
    }
  }
}

/**
 * An agent over HTTP, as the official client. A broken connection is not an answer; unlike a
 * bridge, the client repeats nothing.
 */
export class HttpPipe {
  #ledger;
  #agent;

  static async open(gatewayUrl, ledger) {
    const pipe = new HttpPipe();
    pipe.#ledger = ledger;
    pipe.#agent = await Agent.overHttp(gatewayUrl);
    return pipe;
  }

  async call(name, args) {
    const begun = performance.now();
    this.#ledger.call();
    const deadline = (args.wait_ms ?? 0) + GATEWAY_MS;
    const settled = this.#agent.call(name, args).catch(() => 'broke');
    const answer = await limited(() => begun + deadline + HUNG_MS, settled);
    if (answer === 'broke') {
      this.#ledger.orphaned += 1;
      return null;
    }
    if (answer === 'late') {
      this.#ledger.neverAnswered(`HTTP ${name} ${JSON.stringify(args)}`);
      return null;
    }
    const content = answer.structuredContent ?? null;
    const what = `HTTP ${name} ${JSON.stringify(args)}`;
    this.#ledger.answered(performance.now() - begun, deadline, what, content);
    return content;
  }

  close() {
    return this.#agent.close();
  }
}
