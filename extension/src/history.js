import { noHistory } from './errors.js';
import { BLOCKED_AFTER_MS, HISTORY_PATIENCE_MS, HISTORY_RESERVE_MS, LOAD_LOOK_MS } from './limits.js';
import { stepInHistory } from './page/step_in_history.js';
import { travel } from './travel.js';
import { pause } from './waiting.js';

/**
 * An action that takes one step through the history of the tab: `back`, by -1, or `forward`, by 1. The page
 * makes the step itself, because the browser's own step skips pages that no person has interacted with,
 * such as those that an agent opened. For pages that no script reaches, only the browser's step is
 * available.
 */
export function historyAction(direction, step) {
  return {
    reported: true,
    leavesPage: true,

    check() {},

    run(setting) {
      return travel(setting, async () => {
        const began = watchBegin(setting);
        try {
          const isThere = await goInPage(setting, step);
          if (isThere === undefined) await goInBrowser(setting, direction, step);
          else if (isThere === false) throw noHistory(direction);
          else if (isThere === null && !await began.soon()) throw noHistory(direction);
        } finally {
          began.end();
        }
      });
    },
  };
}

/** The result of `stepInHistory`; undefined if no script can run, or none answers in time. */
async function goInPage({ tab, tools: { pageScripts } }, step) {
  // If a step answered too late, the browser's own step would follow it.
  const args = [step, Date.now() + BLOCKED_AFTER_MS - HISTORY_RESERVE_MS];
  const gone = pageScripts.run(tab.id, stepInHistory, args, { early: true })
    // A page that leaves at once has no time to answer.
    .catch(({ code }) => (code === 'page_navigated' ? { data: { isThere: true } } : {}));
  const { data } = await Promise.race([gone, pause(BLOCKED_AFTER_MS).then(() => ({}))]);
  return data?.isThere;
}

/** A hint, because the skipped pages may be all there are. */
const PASSED_OVER = 'From a page that extensions cannot script, such as an error page, the browser skips pages that '
  + 'the user has not interacted with: use navigate with the address.';

async function goInBrowser({ tab, tools: { browser } }, direction, step) {
  try {
    await (step < 0 ? browser.tabs.goBack(tab.id) : browser.tabs.goForward(tab.id));
  } catch (error) {
    throw /history/i.test(error.message) ? noHistory(direction, PASSED_OVER) : error;
  }
}

/**
 * Detects whether a tab begins to load; if there is no page to go to, it does not, and the browser reports
 * nothing.
 */
function watchBegin({ tab: { id }, tools: { browser, now }, signal }) {
  let hasBegun = false;
  const listener = (changedId, { status }) => {
    if (changedId === id && status === 'loading') hasBegun = true;
  };
  browser.tabs.onUpdated.addListener(listener);
  return {
    async soon() {
      const until = now() + HISTORY_PATIENCE_MS;
      while (!hasBegun && !signal.aborted && now() < until) {
        const { status, pendingUrl } = await browser.tabs.get(id);
        hasBegun ||= status === 'loading' || Boolean(pendingUrl);
        if (!hasBegun) await pause(LOAD_LOOK_MS, signal);
      }
      return hasBegun;
    },
    end: () => browser.tabs.onUpdated.removeListener(listener),
  };
}
