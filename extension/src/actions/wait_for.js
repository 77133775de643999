import { CommandError } from '../errors.js';
import { WAIT_LOOK_MS } from '../limits.js';
import { optionalNonEmptyText, optionalOneOf, requireAnyOf, requireNoGap } from '../params.js';
import { refNumber } from '../ref_book.js';
import { pause } from '../waiting.js';

/**
 * Waits until the page has, or no longer has, a certain element or text in any of its frames, or until it
 * has a certain address; also across a change of the page. The time limit is that of the command.
 */
export const waitFor = {
  readsOnly: true,
  reported: true,

  check(params) {
    requireAnyOf(params, ['selector', 'text', 'url']);
    optionalNonEmptyText(params, 'selector');
    optionalNonEmptyText(params, 'text');
    optionalNonEmptyText(params, 'url');
    requireNoGap(params, 'url', 'wait for a part without it');
    optionalOneOf(params, 'state', ['visible', 'hidden', 'attached']);
  },

  async run({ tab, params, tools, signal, progress }) {
    const { selector, text, url: address } = params;
    const state = params.state ?? 'visible';
    const startedAt = tools.now();
    const what = selector ?? (text === undefined || text === null ? null : JSON.stringify(text));
    progress(what === null
      ? `Waiting for ${address}.` : `Waiting until ${what} is ${state}.`);
    while (!signal.aborted) {
      const url = await look(tab.id, { selector, text, address, state }, tools);
      const waited = Math.round(tools.now() - startedAt);
      if (url !== null) {
        const done = what === null ? `waited for ${address}` : `waited until ${what} is ${state}`;
        return { url, data: { matched: true, waited_ms: waited, done } };
      }
      await pause(WAIT_LOOK_MS, signal);
    }
    return undefined;
  },
};

/**
 * The address of the page if all conditions hold, else null; in a page that is being replaced, none holds.
 */
async function look(tabId, { selector, text, address, state }, { guard, pageParts, tabs }) {
  const tab = await tabs.named(tabId);
  if (address && !matchesAddress(tab.url, address)) return null;
  if (!selector && !text) return tab.status === 'complete' ? tab.url : null;
  await guard(tab.url);
  const number = refNumber(selector ?? '');
  const wanted = number ? { number, text } : { selector, text };
  let frames;
  try {
    frames = await pageParts.callAll(tabId, 'wait.look', [wanted]);
  } catch (error) {
    if (error.code === 'page_navigated') return null;
    throw error;
  }
  const [top] = frames;
  if (top) await guard(top.url);
  if (top?.error) throw new CommandError({ ...top.error, url: top.url });
  const has = (member) => frames.some(({ result }) => result?.[member]);
  if (state === 'attached') return has('found') ? top.url : null;
  if (state === 'visible') return has('shown') ? top.url : null;
  // An element that has not arrived yet is not hidden.
  return top?.result && !top.result.loading && !has('shown') ? top.url : null;
}

/** `**` matches anything, `*` anything without a slash; without either, a part is enough. */
export function matchesAddress(url, wanted) {
  if (!wanted.includes('*')) return url.includes(wanted);
  const parts = wanted.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`).test(url);
}
