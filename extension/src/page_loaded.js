/**
 * Resolves at the end of the next load that begins in the tab. An end without a beginning belongs to the
 * previous page and is ignored. Also resolves when the signal is aborted. `committed` is called once the
 * page is there, before it has finished loading.
 */
export function pageLoaded(browser, tabId, signal, committed = () => {}) {
  return new Promise((resolve) => {
    let began = false;
    const listener = (changedId, { status }) => {
      if (changedId !== tabId) return;
      if (status === 'loading') {
        began = true;
        committed();
      }
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

/**
 * The same for a newly opened tab: its load may already have begun, or be over. The tab has no address
 * until a page is there.
 */
export async function firstPageLoaded(browser, tabId, signal, committed = () => {}) {
  let finish;
  const finished = new Promise((resolve) => { finish = resolve; });
  const look = async () => {
    const { status, pendingUrl, url } = await browser.tabs.get(tabId);
    if (url) committed();
    if (url && status === 'complete' && !pendingUrl) finish();
  };
  // The watcher of the tab notices if it is closed meanwhile.
  const listener = (changedId) => {
    if (changedId === tabId) look().catch(() => {});
  };
  browser.tabs.onUpdated.addListener(listener);
  signal.addEventListener('abort', finish, { once: true });
  try {
    await look();
    await finished;
  } finally {
    browser.tabs.onUpdated.removeListener(listener);
  }
}
