import { executionFailed } from '../errors.js';
import { PAINT_PATIENCE_MS } from '../limits.js';
import { pagePainted } from '../page/page_painted.js';

/**
 * Captures the visible part of the tab. The browser can capture only the tab in front of its
 * window, so another one is brought to the front for the moment of the capture.
 */
export const screenshot = {
  check() {},

  run({ tab, tools, signal }) {
    return tools.captures.next(async () => {
      if (signal.aborted) return undefined;
      const [before] = await tools.browser.tabs.query({ active: true, windowId: tab.windowId });
      if (before?.id !== tab.id) await tools.browser.tabs.update(tab.id, { active: true });
      try {
        return await capture(tools, tab.id);
      } finally {
        if (before && before.id !== tab.id) await bringBack(tools.browser, before.id);
      }
    });
  },
};

async function capture({ browser, pageScripts }, tabId) {
  const { url } = await pageScripts.run(tabId, pagePainted, [PAINT_PATIENCE_MS]);
  const { windowId } = await browser.tabs.get(tabId);
  const image = await browser.tabs.captureVisibleTab(windowId, { format: 'png' });
  const { active } = await browser.tabs.get(tabId);
  if (!active) throw executionFailed('Another tab came to the front during the capture.');
  const base64 = image.slice(image.indexOf(',') + 1);
  return { url, data: { mime_type: 'image/png', base64 } };
}

/** The tab that was in front may have been closed meanwhile; then there is nothing to restore. */
async function bringBack(browser, tabId) {
  await browser.tabs.update(tabId, { active: true }).catch(() => {});
}
