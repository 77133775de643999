import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';
import { instructions } from './simulated_worker.js';

/** The tracker's deadlines, shorter than by default, so that every kind of end comes soon. */
export const TRACKER_CLOCKS = [
  '--schedule-to-start', '4s', '--ack-wait', '2100ms', '--heartbeat-timeout', '3s',
  '--start-to-close', '3s',
];
/**
 * The longest life of a command with these: two deliveries with their grace, the delays by repeated
 * kills of a tracker, and slack.
 */
const LIFE_MS = stretched(4_000 + 2 * (2_100 + 3_000 + 2_000) + 2 * 15_000 + 5_000);
/** The pause between reads of an unfinished command, and after a failed call. */
const PACE_MS = 20;
/** The wait of one question about the end. */
const WAIT_MS = 1_500;

/** No worker polls this target: its commands are never delivered. */
const NOWHERE = 'nowhere';

/**
 * Agents that submit commands of all kinds through their pipes, and read the end of each. Each pipe
 * has several agents.
 */
export class Load {
  #options;
  #ending = false;
  #loops;

  /** `lifeMs`: the longest life of a command. */
  constructor({ pipes, ledger, random, targets, agentsPerPipe = 3, lifeMs = LIFE_MS }) {
    this.#options = { pipes, ledger, random, targets, lifeMs };
    this.#loops = pipes.flatMap((pipe) => Array.from({ length: agentsPerPipe },
      () => this.#act(pipe)));
  }

  /** Ends the submission of commands. */
  end() {
    this.#ending = true;
  }

  /** Ends the submission of commands, and reads all ends. */
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
      // First the commands of other agents that lost their pipes: results are kept for a minute
      // only.
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
    // The answer to a call that has waited for the end has no correlation id.
    ledger.accepted(job, id ?? `of ${job}`);
    if (hasEnded(answer)) {
      ledger.ended(job, answer);
      if (id === undefined) return;
    } else {
      const isCancelled = random.chance(0.05);
      if (isCancelled) await pipe.call('interact', { action: 'cancel', correlation_id: id });
      await collect(pipe, ledger, job, id, lifeMs);
    }
    // A repeated question gets the same answer.
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

/** Asks until the command has ended; gives up long after its deadlines. */
export async function collect(pipe, ledger, job, id, lifeMs = LIFE_MS) {
  const command = ledger.open().find((open) => open.job === job);
  if (command === undefined) return;
  command.collecting = true;
  const until = command.acceptedAt + lifeMs;
  while (!(await look(pipe, ledger, job, id, WAIT_MS))) {
    if (performance.now() > until) break;
    await pause(PACE_MS);
  }
  // Another agent tries again, unless it is too late.
  command.collecting = performance.now() > until;
}

/** Asks once; returns whether the command has ended. */
async function look(pipe, ledger, job, id, waitMs) {
  const question = { what: 'command_result', correlation_id: id, wait_ms: waitMs };
  const answer = await pipe.call('observe', question);
  if (answer === null || !hasEnded(answer)) return false;
  ledger.ended(job, answer);
  return true;
}

/** Whether an answer is about the end of a command, and not only about the call. */
function hasEnded(answer) {
  const isUnknown = ['unknown_command', 'command_removed'].includes(answer.error);
  const ofCommand = answer.status === 'complete' || answer.duration_ms !== undefined;
  return answer.final === true && (ofCommand || isUnknown);
}
