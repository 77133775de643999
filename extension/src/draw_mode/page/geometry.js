'use strict';
/**
 * Calculations with points `{x, y}` and boxes `{x, y, width, height}`, all in CSS pixels. Like every file
 * of this folder it is a plain script that adds its functions to `callslipDraw`: the browser isolates
 * content scripts from the page's own, but does not support modules there. This one is the first.
 */
if (!Object.hasOwn(globalThis, 'callslipDraw')) globalThis.callslipDraw = {};
{
  /** The box with the two points in opposite corners, in whole pixels. */
  function boxBetween(a, b) {
    const x = Math.round(Math.min(a.x, b.x));
    const y = Math.round(Math.min(a.y, b.y));
    const width = Math.round(Math.max(a.x, b.x)) - x;
    return { x, y, width, height: Math.round(Math.max(a.y, b.y)) - y };
  }

  function middleOf({ x, y, width, height }) {
    return { x: x + width / 2, y: y + height / 2 };
  }

  function distance(a, b) {
    return Math.hypot(a.x - b.x, a.y - b.y);
  }

  /** The point of the box that is nearest to the given point. */
  function nearestIn(box, { x, y }) {
    return {
      x: Math.min(Math.max(x, box.x), box.x + box.width),
      y: Math.min(Math.max(y, box.y), box.y + box.height),
    };
  }

  /** The same place, moved right by `dx` and down by `dy`. */
  function shifted(place, dx, dy) {
    return { ...place, x: place.x + dx, y: place.y + dy };
  }

  /** The three corners of the head of an arrow; the first is its tip. */
  function arrowHead(from, to, size) {
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const corner = (turn) => ({
      x: to.x - size * Math.cos(angle + turn),
      y: to.y - size * Math.sin(angle + turn),
    });
    return [to, corner(0.45), corner(-0.45)];
  }

  /**
   * The position of an item of a given size next to a box: below it, or above it if it does not fit there,
   * and within the view in any case.
   */
  function placeBeside(box, size, view, gap) {
    const below = box.y + box.height + gap;
    const fitsBelow = below + size.height <= view.height - gap;
    const y = fitsBelow ? below : box.y - size.height - gap;
    const within = (at, length, room) => Math.max(gap, Math.min(at, room - length - gap));
    return {
      x: within(box.x, size.width, view.width),
      y: within(y, size.height, view.height),
    };
  }

  Object.assign(callslipDraw, {
    boxBetween, middleOf, distance, nearestIn, shifted, arrowHead, placeBeside,
  });
}
