import { invalidParams } from '../errors.js';
import { PAINT_PATIENCE_MS } from '../limits.js';
import { drawMarks, findMarks, inWindow, placeOfFrame } from '../marks.js';
import { pagePainted } from '../page/page_painted.js';
import { isGiven, optionalBoolean, optionalNonEmptyText } from '../params.js';
import { captureInFront, decodePicture, packCanvas, packCapture, scaleFor } from '../pictures.js';
import { captureRegion } from '../region_capture.js';

/**
 * Captures the visible part of the tab, the whole page, or an element, in CSS pixels. The browser can
 * capture only the tab in front of its window, so another one is brought to the front for the duration.
 */
export const screenshot = {
  check(params) {
    optionalBoolean(params, 'full_page');
    optionalBoolean(params, 'marks');
    optionalNonEmptyText(params, 'selector');
    if (params.full_page && isGiven(params, 'selector')) {
      throw invalidParams('selector', 'cannot stand beside full_page');
    }
  },

  async run(command) {
    const { tab, params, tools, signal } = command;
    const { browser } = tools;
    const target = isGiven(params, 'selector') ? await targetOf(command) : null;
    return tools.captures.next(async (inTime) => {
      if (signal.aborted) return undefined;
      const [before] = await browser.tabs.query({ active: true, windowId: tab.windowId });
      if (before?.id !== tab.id) await browser.tabs.update(tab.id, { active: true });
      const captureTab = () => inTime(() => captureInFront(browser, tab.id), signal);
      try {
        if (target && target.frameId !== 0) return await inFrame(command, target, captureTab);
        if (target || params.full_page) return await region(command, target, captureTab);
        return await visible(command, captureTab);
      } finally {
        if (before && before.id !== tab.id) await bringBack(browser, before.id);
      }
    });
  },
};

function targetOf({ tab, params: { selector }, tools, signal }) {
  return tools.targets.find({ tab, selector, need: { need: 'see' }, signal });
}

/** All elements that have a ref, if marks are requested; else undefined. */
async function marksOf({ tab, params, tools }) {
  if (!params.marks) return undefined;
  await tools.outline(tab);
  return findMarks(tab.id, tools);
}

function painted({ tab, tools: { pageScripts }, endsAt }) {
  return pageScripts.run(tab.id, pagePainted, [PAINT_PATIENCE_MS], { endsAt });
}

async function visible(command, captureTab) {
  const { url, data: { viewWidth } } = await painted(command);
  const marks = await marksOf(command);
  const picture = await captureTab();
  if (!picture) return undefined;
  const draw = marks && ((canvas, scale) => drawMarks(canvas, marks, { x: 0, y: 0, scale }));
  return { url, data: await packCapture(picture, viewWidth, draw) };
}

async function region(command, target, captureTab) {
  const { tab, tools: { pageScripts }, progress } = command;
  const marks = await marksOf(command);
  const { data: { x, y } } = await painted(command);
  // The picture is in page coordinates, the marks are in window coordinates.
  const inPage = marks?.map((mark) => ({ ...mark, x: mark.x + x, y: mark.y + y }));
  const key = target?.key ?? null;
  return captureRegion({ tabId: tab.id, key, pageScripts, captureTab, progress, marks: inPage });
}

/** Captures the visible part of an element in a frame. */
async function inFrame(command, target, captureTab) {
  const { tab, tools: { frames, pageParts } } = command;
  const { data: box } = await pageParts.call(tab.id, target, 'boxes.ofKey', [target.key]);
  const { url, data: { viewWidth } } = await painted(command);
  const place = placeOfFrame(await frames.tree(tab.id), target.frameId);
  const { x, y, width, height } = inWindow(box, place);
  const marks = await marksOf(command);
  const capture = await captureTab();
  if (!capture) return undefined;
  const picture = await decodePicture(capture);
  const ratio = picture.width / viewWidth;
  const scale = scaleFor(width);
  const pixels = (length) => Math.max(1, Math.round(length * scale));
  const canvas = new OffscreenCanvas(pixels(width), pixels(height));
  const from = [x, y, width, height].map((length) => length * ratio);
  canvas.getContext('2d').drawImage(picture, ...from, 0, 0, canvas.width, canvas.height);
  const [right, bottom] = [(x + width) * ratio, (y + height) * ratio];
  const truncated = x < 0 || y < 0 || right > picture.width || bottom > picture.height;
  picture.close();
  drawMarks(canvas, marks, { x, y, scale });
  const data = await packCanvas(canvas);
  if (scale < 1) data.scale = scale;
  if (truncated) data.truncated = true;
  return { url, data };
}

/** If the tab that was in front has been closed meanwhile, there is nothing to restore. */
async function bringBack(browser, tabId) {
  await browser.tabs.update(tabId, { active: true }).catch(() => {});
}
