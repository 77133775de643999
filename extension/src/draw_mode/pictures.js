import { PICTURE_STOPS } from '../limits.js';
import { base64Of, captureInFront, decodePicture } from '../pictures.js';
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
    const bitmap = await decodePicture(image);
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
  return { screenshot: screenshot.slice(screenshot.indexOf(',') + 1), crops };
}

async function cut(bitmap, { x, y, width, height }) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').drawImage(bitmap, x, y, width, height, 0, 0, width, height);
  return base64Of(await canvas.convertToBlob({ type: 'image/png' }));
}
