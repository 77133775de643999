import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';
import { instructions } from './simulated_worker.js';

/** The tracker's clocks, shorter than by default, so that every end is seen soon. */
export const TRACKER_CLOCKS = [
  '--schedule-to-start', '4s', '--ack-wait', '2100ms', '--heartbeat-timeout', '3s',
  '--start-to-close', '3s',
];
/**
 * What a command may take at most with these: two deliveries with their backstops, what a tracker that
 * is killed again and again puts off, and slack.
 */
const LIFE_MS = stretched(4_000 + 2 * (2_100 + 3_000 + 2_000) + 2 * 15_000 + 5_000);
/** Between two looks at a command that has not ended, or calls that failed. */
const PACE_MS = 20;
/** How long one question waits for the end. */
const WAIT_MS = 1_500;

/** Nobody polls this target: what is sent to it is never delivered. */
const NOWHERE = 'nowhere';

/**
 * Agents that hand in commands of all kinds through their pipes, and read how each of them ends.
 * Each pipe has a few of them at a time.
 */
export class Load {
  #options;
  #ending = false;
  #loops;

  /** `lifeMs`: how long a command may take at most. */
  constructor({ pipes, ledger, random, targets, agentsPerPipe = 3, lifeMs = LIFE_MS }) {
    this.#options = { pipes, ledger, random, targets, lifeMs };
    this.#loops = pipes.flatMap((pipe) => Array.from({ length: agentsPerPipe },
      () => this.#act(pipe)));
  }

  /** Hands in nothing more. */
  end() {
    this.#ending = true;
  }

  /** Hands in nothing more, and reads how everything ends. */
  async stop() {
    this.end();
    await Promise.all(this.#loops);
    const { pipes, ledger, lifeMs } = this.#options;
    await Promise.all(ledger.open().map(
      ({ job, id }, i) => collect(pipes[i % pipes.length], ledger, job, id, lifeMs)));
  }

  async #act(pipe) {
    const { ledger, random, lifeMs } = this.#options;
    while (!this.#ending) {
      // What others have left first: results are kept for a minute only.
      const [left] = ledger.open().filter((command) => !command.collecting);
      if (left !== undefined) {
        await collect(pipe, ledger, left.job, left.id, lifeMs);
      } else if (random.chance(0.05)) {
        await pipe.call('observe', { what: random.pick(['pending_commands', 'workers']) });
      } else {
        await this.#handIn(pipe);
      }
    }
  }

  async #handIn(pipe) {
    const { ledger, random, targets, lifeMs } = this.#options;
    const idempotent = random.chance(0.2);
    const job = ledger.newJob(idempotent);
    const text = instructions(job, this.#workMs(), this.#end());
    const answer = await pipe.call('interact', {
      ...(idempotent ? { action: 'query', text } : { action: 'execute_js', script: text }),
      target: random.chance(0.01) ? NOWHERE : random.pick(targets),
      ...(random.chance(0.3) ? { wait_ms: random.between(0, 2_000) } : {}),
    });
    if (answer === null) return;
    const id = answer.correlation_id;
    if (id === undefined && answer.status !== 'complete') {
      ledger.refused += 1;
      await pause(PACE_MS);
      return;
    }
    // The answer to a call that has waited for the end does not say whose it is.
    ledger.accepted(job, id ?? `of ${job}`);
    if (hasEnded(answer)) {
      ledger.ended(job, answer);
      if (id === undefined) return;
    } else {
      const isCancelled = random.chance(0.05);
      if (isCancelled) await pipe.call('interact', { action: 'cancel', correlation_id: id });
      await collect(pipe, ledger, job, id, lifeMs);
    }
    // Whoever asks again is told the same.
    if (random.chance(0.1)) await look(pipe, ledger, job, id, 0);
  }

  #workMs() {
    const { random } = this.#options;
    if (random.chance(0.8)) return random.between(0, 30);
    return random.chance(0.8) ? random.between(30, 800) : random.between(800, 4_000);
  }

  #end() {
    const { random } = this.#options;
    if (random.chance(0.9)) return 'complete';
    return random.pick(['error', 'error', 'timeout', 'silent']);
  }
}

/** Asks until the command has ended; gives up when its deadlines have long passed. */
export async function collect(pipe, ledger, job, id, lifeMs = LIFE_MS) {
  const command = ledger.open().find((open) => open.job === job);
  if (command === undefined) return;
  command.collecting = true;
  const until = command.acceptedAt + lifeMs;
  while (!(await look(pipe, ledger, job, id, WAIT_MS))) {
    if (performance.now() > until) break;
    await pause(PACE_MS);
  }
  // Another one tries, unless it is too late for that.
  command.collecting = performance.now() > until;
}

/** Asks once; whether it has ended. */
async function look(pipe, ledger, job, id, waitMs) {
  const question = { what: 'command_result', correlation_id: id, wait_ms: waitMs };
  const answer = await pipe.call('observe', question);
  if (answer === null || !hasEnded(answer)) return false;
  ledger.ended(job, answer);
  return true;
}

/** Whether an answer tells the end of a command, and not of the call alone. */
function hasEnded(answer) {
  const isUnknown = ['unknown_command', 'command_removed'].includes(answer.error);
  const ofCommand = answer.status === 'complete' || answer.duration_ms !== undefined;
  return answer.final === true && (ofCommand || isUnknown);
}
