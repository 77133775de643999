import { resultTooLarge, unknownAction, unknownCommandType } from './errors.js';
import { gatewayPage } from './gateway_page.js';
import { RESULT_BYTES } from './limits.js';
import { requireTabId } from './params.js';
import { aborted } from './waiting.js';

/** Commands without a tab id must not overtake each other while their tab is looked up. */
const ARRIVALS = 'arrivals';

/** Runs actions without attendance. */
const NOBODY = {
  check() {},
  attend: ({ action }) => ({ async begin() {}, run: (setting) => action.run(setting), end() {} }),
};

/**
 * Executes one command in its tab: checks it, finds the tab, waits for its turn there, runs the action.
 * Every failure becomes a CommandError.
 *
 * An action is `{check(params), run({tab, params, tools, caller, signal, progress})}`. `run` resolves to
 * `{data, url}`, where `url` is the page it acted on; `caller` identifies the recipient of the answer;
 * `progress(message, fraction)` reports its progress, where `fraction` is between 0 and 1 or omitted. Few
 * actions have more members:
 *
 * - `readsOnly`, or `readsOnly(params)`: it changes nothing, neither in the page nor in the browser;
 * - `tabless`: it acts on no tab and waits for no turn;
 * - `openTab({params, tools})`: it opens its own tab, `{id, url}`, which may have `explain(error)`, which returns
 *   a replacement for an error, and `end()`, called when the command is over;
 * - `closesTab`: the end of the tab is not the end of the action;
 * - the members that attendance.js reads.
 *
 * `isOff(url)` returns, or resolves to, whether no action may run on a page.
 */
export function createCommandExecutor({
  actions, tabs, lanes, tools, isOff = () => false, attendance = NOBODY,
}) {
  async function perform(action, params, tab, run) {
    const { signal } = run;
    const progress = (message, fraction) => {
      run.progress = { message, fraction };
    };
    if (tab && !action.closesTab) await tabs.wake(tab, signal);
    if (signal.aborted) return undefined;
    const setting = { tab, params, tools, caller: run.caller, signal, progress };
    return run.attended && !action.closesTab ? run.attended.run(setting, run) : action.run(setting);
  }

  async function act(action, params, tab, run) {
    const watch = new AbortController();
    // When nothing waits for the command any more, its tab is free for the next.
    const ends = [perform(action, params, tab, run), aborted(run.signal)];
    if (tab && !action.closesTab) ends.push(tabs.closed(tab.id, watch.signal));
    try {
      const result = await Promise.race(ends);
      if (!result) return undefined;
      run.url = result.url;
      return withinLimit(result.data);
    } catch (error) {
      throw await tabs.explain(error, tab?.id);
    } finally {
      watch.abort();
    }
  }

  async function openTab(action, params, run) {
    if (!(await run.begin())) return undefined;
    await run.attended.begin();
    return action.openTab({ params, tools });
  }

  async function inItsTab(action, params, run) {
    run.tabId = params.tab_id;
    const found = await lanes.enter(ARRIVALS, () =>
      action.openTab ? openTab(action, params, run) : tabs.find(params.tab_id));
    if (!found) return undefined;
    Object.assign(run, { tabId: found.id, url: found.url });
    try {
      return await inTurn(action, params, found, run);
    } catch (error) {
      throw found.explain?.(error) ?? error;
    } finally {
      found.end?.();
    }
  }

  function inTurn(action, params, found, run) {
    return lanes.enter(found.id, async () => {
      const tab = await tabs.named(found.id);
      if (run.signal.aborted) return undefined;
      run.url = tab.url;
      // A tab that is navigating to a page can be there as soon as a script runs.
      for (const url of [tab.url, tab.pendingUrl]) {
        if (!action.openTab && url && await isOff(url)) throw gatewayPage(url);
      }
      if (!run.started && !(await run.begin())) return undefined;
      return act(action, params, tab, run);
    });
  }

  return async function execute(command, run) {
    const { type, params, caller } = command;
    run.caller = typeof caller === 'string' ? caller : '';
    if (type !== 'browser_action') throw unknownCommandType(type);
    const action = Object.hasOwn(actions, params?.action ?? '') && actions[params.action];
    if (!action) throw unknownAction(params?.action, Object.keys(actions));
    requireTabId(params);
    attendance.check(action, params);
    action.check(params);
    const { readsOnly } = action;
    run.readsOnly = typeof readsOnly === 'function' ? readsOnly(params) : readsOnly === true;
    if (action.tabless) return (await run.begin()) ? act(action, params, undefined, run) : undefined;
    run.attended = attendance.attend({ action, params, timeoutMs: command.timeout_ms });
    try {
      return await inItsTab(action, params, run);
    } finally {
      run.attended.end();
    }
  };
}

function withinLimit(data) {
  const bytes = new TextEncoder().encode(JSON.stringify(data)).length;
  if (bytes > RESULT_BYTES) throw resultTooLarge(bytes);
  return data;
}
