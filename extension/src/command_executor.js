import { resultTooLarge, unknownAction, unknownCommandType } from './errors.js';
import { RESULT_BYTES } from './limits.js';
import { requireTabId } from './params.js';

/** Commands that name no tab must not overtake each other while their tab is looked up. */
const ARRIVALS = 'arrivals';

/**
 * Carries one command out in its tab: checks it, finds the tab, waits for its turn there, runs the
 * action. Every failure comes out as a CommandError.
 *
 * An action is `{check(params), run({tab, params, tools, signal})}`; `run` resolves to
 * `{data, url}`, where `url` is the page it acted on.
 */
export function createCommandExecutor({ actions, tabs, lanes, tools }) {
  async function perform(action, params, tab, signal) {
    await tabs.wake(tab, signal);
    return signal.aborted ? undefined : action.run({ tab, params, tools, signal });
  }

  async function act(action, params, tab, run) {
    const watch = new AbortController();
    try {
      const result = await Promise.race([
        perform(action, params, tab, run.signal),
        tabs.closed(tab.id, watch.signal),
        abandoned(run.signal),
      ]);
      if (!result) return undefined;
      run.url = result.url;
      return withinLimit(result.data);
    } catch (error) {
      throw await tabs.explain(error, tab.id);
    } finally {
      watch.abort();
    }
  }

  return async function execute(command, run) {
    const { type, params } = command;
    if (type !== 'browser_action') throw unknownCommandType(type);
    const action = Object.hasOwn(actions, params?.action ?? '') && actions[params.action];
    if (!action) throw unknownAction(params?.action, Object.keys(actions));
    requireTabId(params);
    action.check(params);

    run.tabId = params.tab_id;
    const found = await lanes.enter(ARRIVALS, () => tabs.find(params.tab_id));
    Object.assign(run, { tabId: found.id, url: found.url });
    return lanes.enter(found.id, async () => {
      const tab = await tabs.named(found.id);
      if (run.signal.aborted) return undefined;
      Object.assign(run, { url: tab.url, started: true });
      return act(action, params, tab, run);
    });
  };
}

/** Resolves when nobody waits for the command any more, so that its tab is free for the next. */
function abandoned(signal) {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function withinLimit(data) {
  const bytes = new TextEncoder().encode(JSON.stringify(data)).length;
  if (bytes > RESULT_BYTES) throw resultTooLarge(bytes);
  return data;
}
