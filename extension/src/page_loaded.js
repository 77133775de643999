/**
 * Resolves at the end of the next load that begins in the tab. An end without a beginning belongs
 * to the page that was there before, and is passed over. Also resolves when the signal is aborted.
 */
export function pageLoaded(browser, tabId, signal) {
  return new Promise((resolve) => {
    let began = false;
    const listener = (changedId, { status }) => {
      if (changedId !== tabId) return;
      if (status === 'loading') began = true;
      if (status === 'complete' && began) finish();
    };
    function finish() {
      browser.tabs.onUpdated.removeListener(listener);
      resolve();
    }
    browser.tabs.onUpdated.addListener(listener);
    signal.addEventListener('abort', finish, { once: true });
  });
}
