import { CommandError, cutShort } from './errors.js';
import {
  ACKNOWLEDGE_AFTER_MS,
  DEFAULT_TIMEOUT_MS,
  HEARTBEAT_INTERVAL_MS,
  MESSAGE_CHARS,
} from './limits.js';
import { cutText } from './text.js';
import { toldAddress } from './told_page.js';
import { aborted, pause } from './waiting.js';

/**
 * Ensures that each delivery is answered in time: `pending` when it takes long, then exactly one final
 * report, `timeout` at the latest when its running time is over. A cancelled delivery is stopped and no
 * longer reported. It knows nothing of tabs or pages; `execute(command, run)` does the work and resolves to
 * the data of the result. In `run` it records the page (`tabId`, `url`), its progress (`progress`), and
 * that it only reads and changes nothing (`readsOnly`); it calls `run.begin()` before it touches anything,
 * and continues only if that resolves to true. When `run.signal` is aborted, nothing waits for the work any
 * more.
 *
 * `running` maps the ids of the deliveries under way to their AbortControllers; runners may share it.
 * `wallNow` returns the time in ms, the same for every service worker.
 */
export function createCommandRunner({ execute, outbox, journal, wallNow, log, running }) {
  function newRun(command, signal) {
    const run = { signal, tabId: undefined, url: undefined, started: false, readsOnly: false };
    run.begin = async () => {
      await journal.begin(command.id);
      run.started = !signal.aborted;
      run.beganAt ??= wallNow();
      return run.started;
    };
    return run;
  }

  async function work(command, run) {
    try {
      const data = await execute(command, run);
      // `page` is reported next to the data if it cannot be part of it.
      const page = run.page === undefined ? {} : { page: run.page };
      return { status: 'complete', result: { success: true, data, ...page } };
    } catch (error) {
      return failure(error, run);
    }
  }

  async function deadline(command, run) {
    const timeoutMs = runningTimeOf(command);
    await pause(timeoutMs, run.signal);
    return timeout(timeoutMs, run);
  }

  /** Resolves only when the gateway no longer wants a result. */
  async function heartbeat(command, run) {
    await pause(ACKNOWLEDGE_AFTER_MS, run.signal);
    while (!run.signal.aborted) {
      const report = address(command, run, { status: 'pending', progress: run.progress });
      if (isOver(await outbox.announce(report, run.signal))) return null;
      await pause(HEARTBEAT_INTERVAL_MS, run.signal);
    }
    return null;
  }

  /** Delivers a final report, even if this service worker is ended meanwhile. */
  async function deliver(report, signal) {
    journal.keep(report);
    await outbox.deliver(report, signal);
    await journal.finish(report.id);
  }

  /** The same without waiting for it. */
  function deliverAside(report) {
    deliver(report).catch((error) => log(`The report on ${report.id}: ${error.stack}`));
  }

  async function carryOut(command) {
    const cancelled = new AbortController();
    const ended = new AbortController();
    const run = newRun(command, AbortSignal.any([cancelled.signal, ended.signal]));
    running.set(command.id, cancelled);
    try {
      const outcome = await Promise.race([
        aborted(cancelled.signal),
        deadline(command, run),
        heartbeat(command, run),
        work(command, run),
      ]);
      const report = outcome && { ...address(command, run, outcome), ...workOf(run, wallNow()) };
      ended.abort();
      if (!report || cancelled.signal.aborted) return await journal.finish(command.id);
      await deliver(report, cancelled.signal);
    } finally {
      ended.abort();
      running.delete(command.id);
    }
  }

  function leave(command, { begun }) {
    deliverAside(address(command, {}, failure(cutShort({ begun }), {})));
  }

  /** The command has had no effect yet; the gateway decides whether it may still begin. */
  function stillWanted({ command }) {
    const pending = address(command, {}, { status: 'pending' });
    return outbox.announce(pending, new AbortController().signal);
  }

  function resume({ command, expiresAt }, answer) {
    if (!answer) return leave(command, { begun: false });
    if (isOver(answer)) return journal.finish(command.id);
    const resumed = carryOut({ ...command, timeout_ms: Math.max(1, expiresAt - wallNow()) });
    resumed.catch((error) => log(`Delivery ${command.id} was not handled: ${error.stack}`));
  }

  /** Handles an entry that must not begin any more; returns true for one that still waits. */
  function isWaiting(entry) {
    const { report, command, expiresAt, state } = entry;
    if (report) deliverAside(report);
    else if (!command) leave(entry, { begun: state !== 'claimed' });
    else if (expiresAt > wallNow()) return true;
    else deliverAside(address(command, {}, timeout(runningTimeOf(command), { started: false })));
    return false;
  }

  return {
    /** Runs one delivery to its end. Never rejects, and ignores a delivery that was seen before. */
    async receive(command) {
      try {
        const expiresAt = wallNow() + runningTimeOf(command);
        if (journal.claim(command, expiresAt)) await carryOut(command);
        else log(`Delivery ${command.id} was seen before.`);
      } catch (error) {
        log(`Delivery ${command?.id} was not handled: ${error.stack}`);
      }
    },

    /** Stops a delivery that is under way; nothing more is reported about it. */
    cancel({ id }) {
      running.get(id)?.abort();
    },

    /**
     * Resumes the work of an earlier service worker: delivers finished reports, reports commands that had
     * begun, starts waiting ones. Resolves once all of that is on its way.
     */
    async recover() {
      const waiting = journal.takeUnfinished().filter(isWaiting);
      // All at once, because a gateway that does not answer costs a timeout for each.
      const answers = await Promise.all(waiting.map(stillWanted));
      for (const [index, entry] of waiting.entries()) {
        try {
          await resume(entry, answers[index]);
        } catch (error) {
          log(`Delivery ${entry.id} was not taken up: ${error.stack}`);
        }
      }
    },
  };
}

function runningTimeOf({ timeout_ms: timeoutMs }) {
  return timeoutMs > 0 ? timeoutMs : DEFAULT_TIMEOUT_MS;
}

/** True for the answer to a heartbeat that ends the work; a missing answer ends nothing. */
function isOver(answer) {
  return answer !== null && (answer.cancel_requested === true || answer.accepted === false);
}

function address(command, run, outcome) {
  const { id, correlation_id, traceparent, tracestate } = command;
  const url = run.url && toldAddress(run.url);
  // The command's `baggage` is for the services that its work calls, not for its reports.
  const trace = traceparent ? { traceparent, ...(tracestate && { tracestate }) } : {};
  return { id, correlation_id, ...trace, ...outcome, tab_id: run.tabId, url };
}

/** When the command was at work, by this machine's clock; empty if it has not begun. */
function workOf({ started, beganAt }, endedAt) {
  return started ? { work: { beganAt, endedAt } } : {};
}

function failure(error, run) {
  const known = error instanceof CommandError;
  if (known && error.url) run.url = error.url;
  return {
    // An action that watches the time itself reports its progress.
    status: known && error.code === 'execution_timeout' ? 'timeout' : 'error',
    error: {
      code: known ? error.code : 'execution_failed',
      message: cutText(error.message, MESSAGE_CHARS),
      hint: error.hint,
      may_have_executed: (known ? error.mayHaveExecuted : null) ?? mayHaveExecuted(run),
    },
  };
}

function timeout(timeoutMs, run) {
  const message = run.started
    ? `The command was still running after ${timeoutMs} ms.`
    : `The command was still waiting for earlier commands in its tab after ${timeoutMs} ms.`;
  return {
    status: 'timeout',
    error: { code: 'execution_timeout', message, may_have_executed: mayHaveExecuted(run) },
  };
}

function mayHaveExecuted({ started, readsOnly }) {
  return started && !readsOnly;
}
