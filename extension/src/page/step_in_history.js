/**
 * Runs in the page. Takes a step through its history, back (-1) or forward (1), unless the time is after
 * `until`, in ms since 1970, when nothing waits for it any more. `data.isThere` is whether there is a page
 * to go to: true, false, or null if the page cannot know, for example because that page is of another site.
 */
export function stepInHistory(step, until) {
  const url = location.href;
  if (history.length < 2) return { url, data: { isThere: false } };
  if (Date.now() > until) return { url, data: { isThere: null } };
  const isKnown = step < 0 ? globalThis.navigation?.canGoBack : globalThis.navigation?.canGoForward;
  history.go(step);
  return { url, data: { isThere: isKnown || null } };
}
