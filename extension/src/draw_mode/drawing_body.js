import { DRAWING_BYTES } from '../limits.js';
import { toldAddress, toldTitle } from '../told_page.js';

/**
 * The body of POST /draw-mode/complete for a drawing. The gateway recognizes a drawing that it has already
 * accepted by its `drawing_id`. Pictures that would make the body larger than `limitBytes` are omitted,
 * those of single marks first; `crops_left_out` and `screenshot_left_out` indicate this, and also pictures
 * that could not be taken.
 */
export function drawingBody(drawing, { workerId, target }, limitBytes = DRAWING_BYTES) {
  const { screenshot, crops } = drawing.pictures ?? {};
  const png = (base64) => ({ mime_type: 'image/png', base64 });
  const missing = drawing.annotations.some(({ id }) => !crops?.[id]);
  const body = {
    drawing_id: drawing.id,
    tab_id: drawing.tabId,
    url: toldAddress(drawing.url),
    title: toldTitle(drawing.title),
    session: drawing.session,
    correlation_ids: drawing.correlationIds,
    worker: workerId,
    target,
    annotations: drawing.annotations.map((mark) =>
      crops?.[mark.id] ? { ...mark, crop: png(crops[mark.id]) } : mark),
    viewport: drawing.viewport,
    screenshot: screenshot && png(screenshot),
    crops_left_out: missing || undefined,
    screenshot_left_out: screenshot ? undefined : true,
  };
  if (bytesOf(body) > limitBytes) {
    body.annotations = drawing.annotations;
    body.crops_left_out = true;
  }
  if (bytesOf(body) > limitBytes) {
    delete body.screenshot;
    body.screenshot_left_out = true;
  }
  return body;
}

function bytesOf(body) {
  return new TextEncoder().encode(JSON.stringify(body)).length;
}
