import { executionFailed, invalidParams } from '../errors.js';
import { PAINT_PATIENCE_MS } from '../limits.js';
import { pagePainted } from '../page/page_painted.js';
import { isGiven, optionalBoolean, optionalNonEmptyText } from '../params.js';
import { packCapture } from '../pictures.js';
import { captureRegion } from '../region_capture.js';

/**
 * Captures the visible part of the tab, the whole page, or an element. The browser can capture only
 * the tab in front of its window, so another one is brought to the front for as long as that takes.
 */
export const screenshot = {
  check(params) {
    optionalBoolean(params, 'full_page');
    optionalNonEmptyText(params, 'selector');
    if (params.full_page && isGiven(params, 'selector')) {
      throw invalidParams('selector', 'cannot stand beside full_page');
    }
  },

  run({ tab, params, tools, signal, progress }) {
    const { browser, pageScripts } = tools;
    return tools.captures.next(async (inTime) => {
      if (signal.aborted) return undefined;
      const [before] = await browser.tabs.query({ active: true, windowId: tab.windowId });
      if (before?.id !== tab.id) await browser.tabs.update(tab.id, { active: true });
      const captureTab = () => inTime(() => capture(browser, tab.id), signal);
      try {
        if (!params.full_page && !isGiven(params, 'selector')) {
          const { url } = await pageScripts.run(tab.id, pagePainted, [PAINT_PATIENCE_MS]);
          const picture = await captureTab();
          return picture && { url, data: await packCapture(picture) };
        }
        const selector = params.selector ?? null;
        const tabId = tab.id;
        return await captureRegion({ tabId, selector, pageScripts, captureTab, progress });
      } finally {
        if (before && before.id !== tab.id) await bringBack(browser, before.id);
      }
    });
  },
};

async function capture(browser, tabId) {
  const { windowId } = await browser.tabs.get(tabId);
  const picture = await browser.tabs.captureVisibleTab(windowId, { format: 'png' });
  const { active } = await browser.tabs.get(tabId);
  if (!active) throw executionFailed('Another tab came to the front during the capture.');
  return picture;
}

/** The tab that was in front may have been closed meanwhile; then there is nothing to restore. */
async function bringBack(browser, tabId) {
  await browser.tabs.update(tabId, { active: true }).catch(() => {});
}
