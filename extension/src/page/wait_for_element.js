/* global callslipElements */
/**
 * Runs in the page. Resolves to `{matched: true}` once what is wanted holds, and to
 * `{matched: false}` when `stopWaiting` is called with the token.
 */
export function waitForElement({ selector = null, text = null, state }, token, lookMs) {
  const { isSelector, isVisible, matching, wrongSelector } = callslipElements;
  if (selector !== null && !isSelector(selector)) return wrongSelector();
  globalThis.callslipWaits ??= new Map();
  const waits = globalThis.callslipWaits;

  function holds() {
    const found = matching(selector, text);
    if (state === 'attached') return found.length > 0;
    if (state === 'visible') return found.some(isVisible);
    // What has not arrived yet is not hidden.
    return document.readyState !== 'loading' && !found.some(isVisible);
  }

  return new Promise((resolve) => {
    let lookedAt = -Infinity;
    const finish = (matched) => {
      observer.disconnect();
      clearInterval(timer);
      waits.delete(token);
      resolve({ url: location.href, data: { matched } });
    };
    const look = () => {
      lookedAt = performance.now();
      if (holds()) finish(true);
    };
    const observer = new MutationObserver(() => {
      if (performance.now() - lookedAt >= lookMs) look();
    });
    const changes = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document, changes);
    const timer = setInterval(look, lookMs);
    waits.set(token, () => finish(false));
    look();
  });
}

/** Runs in the page. Ends a wait that is under way there. */
export function stopWaiting(token) {
  globalThis.callslipWaits?.get(token)?.();
  return { url: location.href };
}
