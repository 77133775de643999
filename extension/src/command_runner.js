import { CommandError } from './errors.js';
import {
  ACKNOWLEDGE_AFTER_MS,
  DEFAULT_TIMEOUT_MS,
  HEARTBEAT_INTERVAL_MS,
  MESSAGE_CHARS,
  URL_CHARS,
} from './limits.js';
import { pause } from './waiting.js';

/**
 * Sees to it that each delivery is answered in time: `pending` when it takes long, then exactly
 * one final report, `timeout` at the latest when its running time is over. It knows nothing of
 * tabs or pages; `execute(command, run)` does the work, resolves to the data of the result, and
 * notes in `run` where it runs (`tabId`, `url`) and that it has begun (`started`). When
 * `run.signal` is aborted, nobody waits for the work any more.
 */
export function createCommandRunner({ execute, outbox, journal, log }) {
  async function work(command, run) {
    try {
      const data = await execute(command, run);
      return { status: 'complete', result: { success: true, data } };
    } catch (error) {
      return failure(error, run);
    }
  }

  async function deadline(command, run) {
    const timeoutMs = command.timeout_ms > 0 ? command.timeout_ms : DEFAULT_TIMEOUT_MS;
    await pause(timeoutMs, run.signal);
    return timeout(timeoutMs, run);
  }

  /** Resolves only when the gateway asks for the command to be cancelled. */
  async function heartbeat(command, run) {
    await pause(ACKNOWLEDGE_AFTER_MS, run.signal);
    while (!run.signal.aborted) {
      const report = address(command, run, { status: 'pending' });
      const answer = await outbox.announce(report, run.signal);
      if (answer?.cancel_requested) return null;
      await pause(HEARTBEAT_INTERVAL_MS, run.signal);
    }
    return null;
  }

  return {
    /** Runs one delivery to its end. It never rejects, and ignores a delivery it has seen. */
    async receive(command) {
      const stop = new AbortController();
      const run = { signal: stop.signal, tabId: undefined, url: undefined, started: false };
      try {
        if (!(await journal.claim(command))) return log(`Delivery ${command.id} was seen before.`);
        const outcome = await Promise.race([
          deadline(command, run),
          heartbeat(command, run),
          work(command, run),
        ]);
        const report = outcome && address(command, run, outcome);
        stop.abort();
        if (report) await outbox.deliver(report);
        await journal.finish(command.id);
      } catch (error) {
        log(`Delivery ${command?.id} was not handled: ${error.stack}`);
      } finally {
        stop.abort();
      }
    },

    /** Reports what an earlier service worker left unfinished; the page may have been changed. */
    async reportAbandoned() {
      await Promise.all(
        journal.takeUnfinished().map(async ({ id, correlation_id }) => {
          await outbox.deliver({ id, correlation_id, ...abandoned() });
          await journal.finish(id);
        }),
      );
    },
  };
}

function address(command, run, outcome) {
  const { id, correlation_id } = command;
  return { id, correlation_id, ...outcome, tab_id: run.tabId, url: run.url?.slice(0, URL_CHARS) };
}

function failure(error, run) {
  const known = error instanceof CommandError;
  if (known && error.url) run.url = error.url;
  return {
    status: 'error',
    error: {
      code: known ? error.code : 'execution_failed',
      message: error.message.slice(0, MESSAGE_CHARS),
      hint: error.hint,
      may_have_executed: (known ? error.mayHaveExecuted : null) ?? run.started,
    },
  };
}

function timeout(timeoutMs, run) {
  const message = run.started
    ? `The command was still running after ${timeoutMs} ms.`
    : `The command was still waiting for earlier commands in its tab after ${timeoutMs} ms.`;
  return {
    status: 'timeout',
    error: { code: 'execution_timeout', message, may_have_executed: run.started },
  };
}

function abandoned() {
  return {
    status: 'error',
    error: {
      code: 'execution_failed',
      message: 'The browser restarted the extension while the command was running.',
      hint: 'Look at the page before you repeat the command.',
      may_have_executed: true,
    },
  };
}
