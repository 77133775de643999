import {
  CAPTURE_PATIENCE_MS,
  FIXED_CANDIDATES,
  PAINT_PATIENCE_MS,
  PICTURE_HEIGHT,
} from './limits.js';
import { beginCapture, endCapture, showTile } from './page/capture_region.js';
import { decodePicture, packCanvas } from './pictures.js';

/**
 * Takes a picture of a whole page, or of one element, by scrolling through it. `captureTab()`
 * resolves to what the tab shows, as a data: address, or to undefined when nobody waits for the
 * picture any more.
 */
export async function captureRegion({ tabId, selector, pageScripts, captureTab, progress }) {
  const beginArgs = [selector, FIXED_CANDIDATES, CAPTURE_PATIENCE_MS];
  const begun = await pageScripts.run(tabId, beginCapture, beginArgs, { elements: true });
  try {
    const { region, tops, truncated } = planTiles(begun.data);
    let canvas;
    for (const [index, top] of tops.entries()) {
      progress(`${index} of ${tops.length} parts of the picture are taken.`, index / tops.length);
      const hideFixed = selector !== null || index > 0;
      const tileArgs = [region.x, top, hideFixed, PAINT_PATIENCE_MS];
      const { data: tile } = await pageScripts.run(tabId, showTile, tileArgs);
      const capture = await captureTab();
      if (!capture) return undefined;
      const picture = await decodePicture(capture);
      const scale = picture.width / tile.viewWidth;
      canvas ??= new OffscreenCanvas(
        Math.max(1, Math.min(Math.round(region.width * scale), picture.width)),
        Math.max(1, Math.min(Math.round(region.height * scale), PICTURE_HEIGHT)),
      );
      const left = (tile.x - region.x) * scale;
      canvas.getContext('2d').drawImage(picture, left, (tile.y - region.y) * scale);
      picture.close();
    }
    const data = await packCanvas(canvas);
    if (truncated) data.truncated = true;
    return { url: begun.url, data };
  } finally {
    await pageScripts.run(tabId, endCapture, []).catch(() => {});
  }
}

/**
 * Where to scroll to for a picture of the region, and whether it had to be cut: to how tall a
 * picture can be, and to how wide the window is.
 */
export function planTiles({ region, viewWidth, viewHeight, pixelRatio }) {
  const tallest = Math.floor(PICTURE_HEIGHT / pixelRatio);
  const height = Math.min(region.height, tallest);
  const tops = [];
  for (let top = 0; top < height; top += viewHeight) tops.push(region.y + top);
  const truncated = height < region.height || region.width > viewWidth;
  return { region: { ...region, height }, tops, truncated };
}
