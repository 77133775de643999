import { WAIT_LOOK_MS } from '../limits.js';
import { stopWaiting, waitForElement } from '../page/wait_for_element.js';
import { optionalNonEmptyText, optionalOneOf, requireAnyOf } from '../params.js';
import { pause } from '../waiting.js';

/**
 * Waits until the page has, or has no longer, a certain element, also beyond the end of the page
 * that is there now. How long is for the command's own running time to say.
 */
export const waitFor = {
  readsOnly: true,

  check(params) {
    requireAnyOf(params, ['selector', 'text']);
    optionalNonEmptyText(params, 'selector');
    optionalNonEmptyText(params, 'text');
    optionalOneOf(params, 'state', ['visible', 'hidden', 'attached']);
  },

  async run({ tab, params, tools, signal, progress }) {
    const { selector, text } = params;
    const wanted = { selector, text, state: params.state ?? 'visible' };
    const startedAt = tools.now();
    progress(`Waiting until ${selector ?? JSON.stringify(text)} is ${wanted.state}.`);
    while (!signal.aborted) {
      const url = await waitInPage(tab.id, wanted, tools, signal);
      const waited = Math.round(tools.now() - startedAt);
      if (url) return { url, data: { matched: true, waited_ms: waited } };
      await pause(WAIT_LOOK_MS, signal);
    }
    return undefined;
  },
};

/** Resolves to the address of the page that matched, or to null when the page was replaced. */
async function waitInPage(tabId, wanted, { pageScripts, newId }, signal) {
  const token = newId();
  const stop = () => pageScripts.run(tabId, stopWaiting, [token], { early: true }).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    const args = [wanted, token, WAIT_LOOK_MS];
    const options = { elements: true, early: true };
    const { url, data } = await pageScripts.run(tabId, waitForElement, args, options);
    return data.matched ? url : null;
  } catch (error) {
    if (error.code === 'page_navigated') return null;
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
