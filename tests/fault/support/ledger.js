import { stretched } from '../../support/patience.js';

/** The failure that the answer about a removed command names. */
const FAILED = /ended as (expired|failed|timed_out|cancelled)/;
/** An answer this long after its deadline is late, in ms. */
const LATE_MS = stretched(2_000);

/**
 * The record of a run: the commands that agents submitted, the executions and reports of workers,
 * and the ends. A command is
 *
 * - accepted once a correlation id was answered for it;
 * - lost if it was accepted and no truthful final state can be read within its deadlines;
 * - duplicated if it is not idempotent and workers executed it more than once. A call that is
 *   answered more than once is duplicated, too.
 *
 * A final state is truthful if it fits the workers' record: `complete` has the result of an
 * execution; `may_have_executed: false` means that there was none; and a command is complete if its
 * worker got a confirmation of its result. A call is late if it is answered 2 s after its deadline,
 * or never.
 *
 * If the tracker keeps commands in memory, its death ends them. They are then counted apart, as
 * `forgotten`, and executions after it as `repeated`.
 */
export class Ledger {
  calls = 0;
  answers = 0;
  late = 0;
  duplicateAnswers = 0;
  /** Calls whose bridge was killed before it answered: they need no answer. */
  orphaned = 0;
  refused = 0;
  forgotten = 0;
  repeated = 0;
  /** Answers about failed calls, by their reasons. */
  failures = new Map();
  /** Descriptions of problems. */
  complaints = [];
  /** The submitted commands, by their jobs. */
  #commands = new Map();
  #trackerLife = 0;
  #durable;
  /** The names of judged jobs, which must not be executed any more. */
  #settledJobs = new Set();
  #lastJob = 0;
  #settled = { accepted: 0, executed: 0, lost: 0, duplicated: 0, ends: new Map() };

  /** `durable`: accepted commands survive the death of the tracker. */
  constructor({ durable = false } = {}) {
    this.#durable = durable;
  }

  /** A new job, whose name the command contains for the worker. */
  newJob(idempotent) {
    const job = `job-${++this.#lastJob}`;
    this.#commands.set(job, {
      job, idempotent, begun: this.#trackerLife, executions: [], completedBy: null, verdict: null,
    });
    return job;
  }

  accepted(job, id) {
    const command = this.#commands.get(job);
    if (command.id !== undefined && command.id !== id) {
      this.#complain(`${job} is both ${command.id} and ${id}`);
    }
    command.id = id;
    command.acceptedAt ??= performance.now();
  }

  /** A worker begins to execute it; returns the text for the result. */
  executed(job) {
    const command = this.#commands.get(job);
    if (command === undefined) {
      if (this.#settledJobs.has(job)) {
        this.#settled.duplicated += 1;
        this.#complain(`${job} was executed again, long after its end`);
      }
      return `${job} again`;
    }
    const sameLife = command.begun === this.#trackerLife;
    command.executions.push({ sameLife });
    return `${job} ${command.executions.length}`;
  }

  /** A worker's result was accepted as the end of the command. */
  completed(job, result) {
    const command = this.#commands.get(job);
    if (command !== undefined) command.completedBy = { result, life: this.#trackerLife };
  }

  /** An agent has read the end; later reads have to be the same as the first. */
  ended(job, answer) {
    const command = this.#commands.get(job);
    const before = command.verdict;
    const isSameTracker = this.#durable || command.readInLife === this.#trackerLife;
    if (before !== null && isSameTracker && before.status !== answer.status) {
      this.#complain(`${job} was ${JSON.stringify(before)}, now ${JSON.stringify(answer)}`);
    }
    command.verdict ??= answer;
    command.readInLife ??= this.#trackerLife;
  }

  call() {
    this.calls += 1;
  }

  /** `answer`: the structured content, if there is one. */
  answered(elapsedMs, deadlineMs, what, answer) {
    this.answers += 1;
    const aboutCommand = answer?.status === 'complete' || answer?.duration_ms !== undefined;
    const failure = answer?.reason ?? (aboutCommand ? undefined : answer?.error);
    // A cancel of a command that has just ended gets this answer.
    const isFailure = failure !== undefined && failure !== 'already_ended';
    if (isFailure) this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1);
    if (elapsedMs > deadlineMs + LATE_MS) {
      this.late += 1;
      this.#complain(`${what} took ${Math.round(elapsedMs)} ms`);
    }
  }

  neverAnswered(what) {
    this.late += 1;
    this.#complain(`${what} was not answered`);
  }

  answeredTwice(what) {
    this.duplicateAnswers += 1;
    this.#complain(`answered twice: ${what}`);
  }

  trackerDies() {
    this.#trackerLife += 1;
  }

  /** Accepted commands whose end no agent has read yet: `{job, id, acceptedAt}`. */
  open() {
    return [...this.#commands.values()].filter(({ id, verdict }) => id && verdict === null);
  }

  /**
   * Judges commands that no longer change, and forgets them: all if `final`, else those that have
   * ended and were accepted at least `quietMs` ago. Call it now and then in long runs.
   */
  settle({ final = false, quietMs = 30_000 } = {}) {
    const now = performance.now();
    for (const command of this.#commands.values()) {
      const age = now - (command.acceptedAt ?? now);
      if (!final && (command.verdict === null || age < quietMs)) continue;
      this.#judge(command);
      if (!command.idempotent) this.#settledJobs.add(command.job);
      this.#commands.delete(command.job);
    }
  }

  totals() {
    const { ends, ...counts } = this.#settled;
    return { ...counts, duplicated: counts.duplicated + this.duplicateAnswers, ends };
  }

  get isClean() {
    const { lost, duplicated } = this.totals();
    return lost === 0 && duplicated === 0;
  }

  #judge(command) {
    const { job, id, idempotent, executions, verdict, begun } = command;
    const settled = this.#settled;
    settled.executed += executions.length;
    const diedMeanwhile = !this.#durable && begun !== this.#trackerLife;
    if (!idempotent && executions.length > 1) {
      if (diedMeanwhile && executions.some(({ sameLife }) => !sameLife)) {
        this.repeated += 1;
      } else {
        settled.duplicated += 1;
        this.#complain(`${job} (${id}) was executed ${executions.length} times`);
      }
    }
    if (id === undefined) return;
    settled.accepted += 1;
    const end = verdict?.error ?? verdict?.status ?? 'none';
    settled.ends.set(end, (settled.ends.get(end) ?? 0) + 1);
    const lie = this.#lieIn(command);
    if (lie === null) return;
    if (diedMeanwhile) {
      this.forgotten += 1;
    } else {
      settled.lost += 1;
      this.#complain(`${job} (${id}): ${lie}; ${JSON.stringify(verdict)}`);
    }
  }

  /** The contradiction in the final state of an accepted command; null if it is truthful. */
  #lieIn({ job, executions, completedBy, verdict }) {
    if (verdict === null) return 'no final state';
    if (verdict.error === 'unknown_command') return 'it is not known';
    // A client's failed commands beyond a hundred are removed, the oldest first, and its answer
    // says that they failed: there are so many when a database that was down accepts earlier
    // requests.
    if (verdict.error === 'command_removed' && !FAILED.test(verdict.message)) return 'it is not known';
    if (verdict.status === 'complete') {
      if (executions.length === 0) return 'complete, and nobody executed it';
      const results = executions.map((_, i) => `${job} ${i + 1}`);
      return results.includes(verdict.result) ? null : 'the result is of no execution';
    }
    if (verdict.may_have_executed === false && executions.length > 0) return 'it was executed';
    const dropped = ['result_expired', 'result_dropped'].includes(verdict.error);
    if (completedBy !== null && !dropped) return 'a worker was told that it is complete';
    return null;
  }

  #complain(text) {
    // The first ones matter most; a bad run may have thousands.
    if (this.complaints.length < 100) this.complaints.push(text);
  }
}
