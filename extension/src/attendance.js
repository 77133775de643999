import { pageBlocked } from './errors.js';
import {
  BLOCKED_AFTER_MS, BLOCKED_MIDWAY_MS, DEFAULT_TIMEOUT_MS, PROBE_INTERVAL_MS, REPORT_RESERVE_MS, TARGET_RESERVE_MS,
} from './limits.js';
import { optionalOneOf, optionalText } from './params.js';
import { REPORT_VIEWS } from './action_report.js';
import { pause } from './waiting.js';

const DIALOG_CHARS = 2_000;

/**
 * Accompanies an action while it runs in its tab: keeps dialogs from blocking it, detects when its page no
 * longer answers, and adds a report of its effects to its result. It reads these members of an action:
 *
 * - `reported`: its effects are reported, as `page` among the members of its data, where `page` replaces `done`,
 *   the description of what was done; or, for `beside`, whose data can be anything, next to the data, and only if
 *   there is something to report;
 * - `leavesPage`: it also works in a page that does not answer;
 * - `mayBlock`: it may keep the page busy for any length of time.
 */
export function createAttendance({ browser, standIns, reports, now }) {
  /** Resolves to true once the top frame of a tab has answered, or has failed to. */
  async function answers(tabId) {
    const target = { tabId, frameIds: [0] };
    await browser.scripting.executeScript({ target, func: () => 0, injectImmediately: true })
      .catch(() => {});
    return true;
  }

  /** Rejects if the page does not notice the command in time. */
  async function taken(tabId, noticed) {
    const done = noticed.then(() => true, () => true);
    const half = BLOCKED_AFTER_MS / 2;
    if (await Promise.race([done, pause(half)])) return;
    // One busy frame does not stop the others.
    if (await Promise.race([done, answers(tabId), pause(half)])) return;
    throw pageBlocked({ mayHaveExecuted: false });
  }

  /** Rejects once the page has not answered for too long; resolves when the signal is aborted. */
  async function blocked(tabId, signal) {
    while (!signal.aborted) {
      await pause(PROBE_INTERVAL_MS, signal);
      if (signal.aborted) return;
      const late = pause(BLOCKED_MIDWAY_MS, signal).then(() => signal.aborted);
      if (!(await Promise.race([answers(tabId), late]))) throw pageBlocked({ mayHaveExecuted: true });
    }
  }

  /** Resolves to the result of the work, unless the page is blocked before that. */
  async function unlessBlocked(tabId, work) {
    const over = new AbortController();
    try {
      return await Promise.race([work(), blocked(tabId, over.signal).then(() => new Promise(() => {}))]);
    } finally {
      over.abort();
    }
  }

  async function reportOn({ action, params, setting, watch, endsAt, run }) {
    const { tab, caller, signal, progress } = setting;
    const report = await reports.begin({
      tab,
      caller,
      isNew: Boolean(action.openTab),
      watch,
      view: params.view ?? undefined,
      endsAt,
      signal,
      progress,
    });
    const result = await action.run({ ...setting, settle: report.settle, endsAt: endsAt - TARGET_RESERVE_MS });
    if (!result || signal.aborted) return result;
    const { done, ...data } = isRecord(result.data) ? result.data : {};
    const { isUnfinished, ...rest } = result;
    const { text, changed } = await report.finish(done ?? wordsFor(params), { isUnfinished });
    if (action.reported !== 'beside') return { ...rest, data: { ...data, page: text } };
    if (changed) run.page = text;
    return result;
  }

  return {
    check(action, params) {
      optionalText(params, 'dialog', DIALOG_CHARS);
      if (action.reported) optionalOneOf(params, 'view', REPORT_VIEWS);
    },

    /** Attends a command; the caller must call `end` in any case. */
    attend({ action, params, timeoutMs }) {
      const endsAt = now() + (timeoutMs > 0 ? timeoutMs : DEFAULT_TIMEOUT_MS);
      let watch;
      async function begin() {
        const dialog = params.dialog ?? undefined;
        watch ??= await standIns.begin({ dialog, timeoutMs: Math.max(0, endsAt - now()) });
      }
      return {
        /** From now on new documents have no dialogs. `run` does this itself. */
        begin,

        /** Runs the action; `setting` is the argument of its `run`, `run` is that of the command. */
        async run(given, run) {
          // The action itself can report what it waits for better than a timeout can.
          const setting = { ...given, endsAt: endsAt - REPORT_RESERVE_MS };
          const { id } = setting.tab;
          await begin();
          const noticed = taken(id, watch.enter(id));
          await (action.leavesPage ? noticed.catch(() => {}) : noticed);
          const work = () => (action.reported
            ? reportOn({ action, params, setting, watch, endsAt, run })
            : action.run(setting));
          return action.mayBlock || action.leavesPage ? work() : unlessBlocked(id, work);
        },

        end() {
          watch?.end();
        },
      };
    },
  };
}

function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wordsFor({ action, selector }) {
  return selector ? `${action} ${selector}` : action;
}
