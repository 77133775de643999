import { CROP_LEAST, CROP_MARGIN } from '../limits.js';

/**
 * The part of a picture that shows a mark, in pixels of the picture; null if less than half of the mark is
 * in it. The mark `{rect, to?}` and `seen`, the area that the whole picture shows, are in CSS pixels of the
 * page. The target of an arrow is shown from all sides.
 */
export function cropRegion({ rect, to }, seen, picture) {
  if (shareSeen(rect, seen) < 0.5) return null;
  const wide = grown(rect.x, rect.width, CROP_LEAST.width, to?.x);
  const high = grown(rect.y, rect.height, CROP_LEAST.height, to?.y);
  const scaleX = picture.width / seen.width;
  const scaleY = picture.height / seen.height;
  const inX = within((wide.from - seen.x) * scaleX, (wide.to - seen.x) * scaleX, picture.width);
  const inY = within((high.from - seen.y) * scaleY, (high.to - seen.y) * scaleY, picture.height);
  return { x: inX.from, y: inY.from, width: inX.to - inX.from, height: inY.to - inY.from };
}

/** An interval with its margin, not shorter than `least`; it also surrounds `tip`, if given. */
function grown(at, length, least, tip = at + length / 2) {
  return {
    from: Math.min(at - CROP_MARGIN, tip - least / 2),
    to: Math.max(at + length + CROP_MARGIN, tip + least / 2),
  };
}

function within(from, to, length) {
  const first = Math.max(0, Math.min(length - 1, Math.floor(from)));
  return { from: first, to: Math.max(first + 1, Math.min(length, Math.ceil(to))) };
}

/**
 * The visible share of a box, from 0 to 1. A box without width or height is entirely visible or not at all.
 */
function shareSeen(rect, seen) {
  const share = (at, length, from, room) => {
    if (length === 0) return at >= from && at <= from + room ? 1 : 0;
    return Math.max(0, Math.min(at + length, from + room) - Math.max(at, from)) / length;
  };
  return share(rect.x, rect.width, seen.x, seen.width)
    * share(rect.y, rect.height, seen.y, seen.height);
}
