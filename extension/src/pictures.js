import { executionFailed, resultTooLarge } from './errors.js';
import { JPEG_QUALITIES, PICTURE_WIDTH, PNG_BYTES, RESULT_BYTES } from './limits.js';

/** Base64 takes four characters for three bytes; some are reserved for the rest of the result. */
const PICTURE_BYTES = Math.floor(((RESULT_BYTES - 1024) * 3) / 4);

/** Offsets of the width and the end of the header of a PNG, in bytes. */
const PNG_WIDTH_AT = 16;
const PNG_HEADER_BYTES = 24;

/**
 * Captures the visible part of a tab, as a PNG in a data: URL. The browser captures whichever tab is in front
 * of the window, so the tab is checked afterwards.
 */
export async function captureInFront(browser, tabId) {
  const { windowId } = await browser.tabs.get(tabId);
  const picture = await browser.tabs.captureVisibleTab(windowId, { format: 'png' });
  const { active } = await browser.tabs.get(tabId);
  if (!active) throw executionFailed('Another tab came to the front during the capture.');
  return picture;
}

/** Decodes a capture of the browser, a PNG as a data: URL, into a picture that can be drawn. */
export async function decodePicture(dataUrl) {
  const response = await fetch(dataUrl);
  return createImageBitmap(await response.blob());
}

/** The scale of a picture relative to CSS pixels, so that it does not exceed the maximum width. */
export function scaleFor(width) {
  return Math.min(1, PICTURE_WIDTH / width);
}

/**
 * `{mime_type, base64, width, height}` of a capture of a window of the given width, in CSS pixels, so that
 * positions in the picture are positions in the window. If it is scaled down it has a `scale`.
 * `draw(canvas, scale)` can add to it.
 */
export async function packCapture(dataUrl, viewWidth, draw) {
  const base64 = dataUrl.slice(dataUrl.indexOf(',') + 1);
  const size = sizeOfPng(base64);
  const isAsAsked = size.width === viewWidth && viewWidth <= PICTURE_WIDTH && !draw;
  if (isAsAsked && base64.length * 0.75 <= PNG_BYTES) {
    return { mime_type: 'image/png', base64, ...size };
  }
  const picture = await decodePicture(dataUrl);
  const scale = scaleFor(viewWidth);
  const height = Math.round((picture.height / picture.width) * viewWidth * scale);
  const canvas = new OffscreenCanvas(Math.round(viewWidth * scale), Math.max(1, height));
  canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  draw?.(canvas, scale);
  const data = await packCanvas(canvas);
  if (scale < 1) data.scale = scale;
  return data;
}

/** The same for a canvas: a PNG, or a JPEG if the PNG is too large. */
export async function packCanvas(canvas) {
  const formats = [
    { type: 'image/png', most: PNG_BYTES },
    ...JPEG_QUALITIES.map((quality) => ({ type: 'image/jpeg', quality, most: PICTURE_BYTES })),
  ];
  let blob;
  for (const { most, ...format } of formats) {
    blob = await canvas.convertToBlob(format);
    if (blob.size <= most) {
      const { width, height } = canvas;
      return { mime_type: blob.type, base64: await base64Of(blob), width, height };
    }
  }
  throw resultTooLarge(blob.size);
}

function sizeOfPng(base64) {
  const bytes = atob(base64.slice(0, (PNG_HEADER_BYTES / 3) * 4));
  const header = new DataView(Uint8Array.from(bytes, (each) => each.charCodeAt(0)).buffer);
  return { width: header.getUint32(PNG_WIDTH_AT), height: header.getUint32(PNG_WIDTH_AT + 4) };
}

/** In pieces, because the number of arguments of a call is limited. */
export async function base64Of(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const chunk = 32_768;
  let text = '';
  for (let at = 0; at < bytes.length; at += chunk) {
    text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  }
  return btoa(text);
}
