import { pathIn } from './frames.js';

/** The offset of a frame's window from that of the tab, and the scale of its pixels. */
export function placeOfFrame(tree, frameId) {
  const place = { x: 0, y: 0, scaleX: 1, scaleY: 1 };
  for (const { owner } of pathIn(tree, frameId).slice(1)) {
    place.x += owner.x * place.scaleX;
    place.y += owner.y * place.scaleY;
    place.scaleX *= owner.scaleX;
    place.scaleY *= owner.scaleY;
  }
  return place;
}

/** Converts a box in the window of a frame to the window of the tab. */
export function inWindow({ x, y, width, height }, place) {
  return {
    x: place.x + x * place.scaleX,
    y: place.y + y * place.scaleY,
    width: width * place.scaleX,
    height: height * place.scaleY,
  };
}

/** The boxes in the window of all elements that have a ref: `{ref, x, y, width, height}`, in CSS pixels. */
export async function findMarks(tabId, { pageParts, frames }) {
  const tree = await frames.tree(tabId);
  const answers = await pageParts.callAll(tabId, 'boxes.ofRefs');
  const placed = new Set(tree.filter(({ frameId, owner }) => frameId === 0 || owner)
    .map(({ frameId }) => frameId));
  return answers.filter(({ frameId, result }) => result && placed.has(frameId))
    .flatMap(({ frameId, result }) => {
      const place = placeOfFrame(tree, frameId);
      return result.map(({ ref, ...box }) => ({ ref, ...inWindow(box, place) }));
    });
}

const COLOURS = ['#b3005e', '#00539c', '#2f6b00', '#8a3c00', '#5b2a9d'];
const FONT_PIXELS = 11;

/**
 * Draws boxes with refs around the elements. `x` and `y` are the origin of the picture in the coordinates
 * of the boxes.
 */
export function drawMarks(canvas, marks, { x, y, scale }) {
  const context = canvas.getContext('2d');
  context.font = `bold ${FONT_PIXELS}px sans-serif`;
  context.textBaseline = 'top';
  for (const [index, mark] of (marks ?? []).entries()) {
    const left = (mark.x - x) * scale;
    const top = (mark.y - y) * scale;
    const [width, height] = [mark.width * scale, mark.height * scale];
    if (left > canvas.width || top > canvas.height) continue;
    if (left + width < 0 || top + height < 0) continue;
    context.strokeStyle = COLOURS[index % COLOURS.length];
    context.lineWidth = 1.5;
    context.strokeRect(left, top, width, height);
    const wide = context.measureText(mark.ref).width + 4;
    // Above its box, so that its content stays readable; within it at the edge of the picture.
    const labelTop = Math.max(0, top - FONT_PIXELS - 2);
    const labelLeft = Math.min(Math.max(0, left), canvas.width - wide);
    context.fillStyle = COLOURS[index % COLOURS.length];
    context.fillRect(labelLeft, labelTop, wide, FONT_PIXELS + 2);
    context.fillStyle = '#fff';
    context.fillText(mark.ref, labelLeft + 2, labelTop + 1);
  }
}
