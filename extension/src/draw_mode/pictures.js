import { executionFailed } from '../errors.js';
import { PICTURE_STOPS } from '../limits.js';
import { cropRegion } from './crop_region.js';
import { holdBoardHere } from './page/calls.js';

/**
 * Takes the pictures of a drawing while its page is held still: `screenshot`, the person's view, and
 * `crops`, a picture for each mark by its id. For marks out of sight the page is scrolled, at most
 * PICTURE_STOPS times; the remaining marks get no picture. All are PNG in base64.
 */
export async function takePictures(drawing, { browser, pageScripts, captures, log }) {
  const crops = {};

  async function shoot(markId) {
    const { tabId, id } = drawing;
    const { data } = await pageScripts.run(tabId, holdBoardHere, [id, markId]);
    const image = await captures.next(() => captureInFront(browser, tabId));
    const bitmap = await createImageBitmap(await (await fetch(image)).blob());
    for (const place of data.places) {
      const region = crops[place.id] ? null : cropRegion(place, data.seen, bitmap);
      if (region) crops[place.id] = await cut(bitmap, region);
    }
    bitmap.close();
    return image;
  }

  const screenshot = await shoot(null);
  const outOfSight = drawing.annotations.map(({ id }) => id).filter((id) => !crops[id]);
  try {
    let stops = 0;
    for (const id of outOfSight) {
      // An earlier stop may have shown this one too.
      if (crops[id] || stops === PICTURE_STOPS) continue;
      stops += 1;
      await shoot(id);
    }
  } catch (error) {
    log(`Marks that are out of sight go without pictures: ${error.message}`);
  }
  return { screenshot: base64Of(screenshot), crops };
}

/** The browser captures whichever tab is in front of the window, so the tab is checked afterwards. */
async function captureInFront(browser, tabId) {
  const { windowId } = await browser.tabs.get(tabId);
  const image = await browser.tabs.captureVisibleTab(windowId, { format: 'png' });
  const { active } = await browser.tabs.get(tabId);
  if (!active) throw executionFailed('Another tab came to the front.');
  return image;
}

async function cut(bitmap, { x, y, width, height }) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').drawImage(bitmap, x, y, width, height, 0, 0, width, height);
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  return base64OfBytes(new Uint8Array(await blob.arrayBuffer()));
}

function base64Of(dataUrl) {
  return dataUrl.slice(dataUrl.indexOf(',') + 1);
}

/** In pieces, because the number of arguments of a call is limited. */
function base64OfBytes(bytes) {
  const PIECE = 32_768;
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}
