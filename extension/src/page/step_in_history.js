/**
 * Runs in the page. Goes a step through its history, back (-1) or forward (1); nothing happens after
 * the time `until`, in ms since 1970, when nobody waits for it. `data` tells whether there is a page to
 * go to: true, false, or null where the page is not told, as of pages of other sites.
 */
export function stepInHistory(step, until) {
  const url = location.href;
  if (history.length < 2) return { url, data: { isThere: false } };
  if (Date.now() > until) return { url, data: { isThere: null } };
  const isKnown = step < 0 ? globalThis.navigation?.canGoBack : globalThis.navigation?.canGoForward;
  history.go(step);
  return { url, data: { isThere: isKnown || null } };
}
