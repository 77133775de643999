import {
  CAPTURE_PATIENCE_MS,
  FIXED_CANDIDATES,
  PAINT_PATIENCE_MS,
  PICTURE_HEIGHT,
} from './limits.js';
import { beginCapture, endCapture, showTile } from './page/capture_region.js';
import { drawMarks } from './marks.js';
import { decodePicture, packCanvas, scaleFor } from './pictures.js';

/**
 * Takes a picture of a whole page, or of the element of a key, by scrolling through it. `captureTab()`
 * resolves to the visible content of the tab as a data: URL, or to undefined when nothing waits for the
 * picture any more. `marks` are drawn over it.
 */
export async function captureRegion({ tabId, key, pageScripts, captureTab, progress, marks }) {
  const beginArgs = [key, FIXED_CANDIDATES, CAPTURE_PATIENCE_MS];
  const begun = await pageScripts.run(tabId, beginCapture, beginArgs, { elements: true });
  try {
    const scale = scaleFor(begun.data.region.width);
    const { region, tops, truncated } = planTiles({ ...begun.data, pixelRatio: scale });
    let canvas;
    for (const [index, top] of tops.entries()) {
      progress(`${index} of ${tops.length} parts of the picture are taken.`, index / tops.length);
      const hideFixed = key !== null || index > 0;
      const tileArgs = [region.x, top, hideFixed, PAINT_PATIENCE_MS];
      const { data: tile } = await pageScripts.run(tabId, showTile, tileArgs);
      const capture = await captureTab();
      if (!capture) return undefined;
      const picture = await decodePicture(capture);
      const perPixel = tile.viewWidth / picture.width;
      const wide = picture.width * perPixel;
      canvas ??= new OffscreenCanvas(
        Math.max(1, Math.round(Math.min(region.width, wide) * scale)),
        Math.max(1, Math.min(Math.round(region.height * scale), PICTURE_HEIGHT)),
      );
      canvas.getContext('2d').drawImage(
        picture,
        (tile.x - region.x) * scale,
        (tile.y - region.y) * scale,
        wide * scale,
        picture.height * perPixel * scale,
      );
      picture.close();
    }
    drawMarks(canvas, marks, { ...region, scale });
    const data = await packCanvas(canvas);
    if (scale < 1) data.scale = scale;
    if (truncated) data.truncated = true;
    return { url: begun.url, data };
  } finally {
    await pageScripts.run(tabId, endCapture, []).catch(() => {});
  }
}

/**
 * The scroll positions for a picture of the region, and whether it had to be cropped to the maximum height
 * of a picture or to the width of the window.
 */
export function planTiles({ region, viewWidth, viewHeight, pixelRatio }) {
  const tallest = Math.floor(PICTURE_HEIGHT / pixelRatio);
  const height = Math.min(region.height, tallest);
  const tops = [];
  for (let top = 0; top < height; top += viewHeight) tops.push(region.y + top);
  const truncated = height < region.height || region.width > viewWidth;
  return { region: { ...region, height }, tops, truncated };
}
