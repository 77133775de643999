/* global callslip */
/** Runs in each frame of a page. Scrolls the page and the scroll containers in it. */
callslip.scrolling = (() => {
  const { parentOf } = callslip.shadow;
  const ROOM = { x: ['scrollWidth', 'clientWidth', 'overflowX'],
    y: ['scrollHeight', 'clientHeight', 'overflowY'] };

  function scrolls(element, axis) {
    const [whole, seen, overflow] = ROOM[axis];
    if (element[whole] <= element[seen]) return false;
    return ['auto', 'scroll', 'overlay'].includes(getComputedStyle(element)[overflow])
      || element instanceof HTMLTextAreaElement;
  }

  /** The nearest element that scrolls along the axis, the given one included, or the page's own scroller. */
  function scrollerOf(element, axis) {
    const page = document.scrollingElement ?? document.documentElement;
    for (let at = element; at && at !== page && at !== document.body; at = parentOf(at)) {
      if (scrolls(at, axis)) return at;
    }
    return page;
  }

  /**
   * Scrolls the scroll container of the element by a distance or to a position; returns the resulting
   * position.
   */
  function scroll(element, { x, y, dx, dy }) {
    const axis = (dy ?? y) === undefined ? 'x' : 'y';
    const scroller = scrollerOf(element, axis);
    const left = x ?? scroller.scrollLeft + (dx ?? 0);
    const top = y ?? scroller.scrollTop + (dy ?? 0);
    scroller.scrollTo({ left, top, behavior: 'instant' });
    return { x: scroller.scrollLeft, y: scroller.scrollTop };
  }

  function intoView(element) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  }

  /** True if a point of the element is in the window, and not scrolled out of a scroll container. */
  function isInView(element, x, y) {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    for (let at = parentOf(element); at && at !== document.body; at = parentOf(at)) {
      const { left, top, right, bottom } = at.getBoundingClientRect();
      const isWithin = x >= left && y >= top && x < right && y < bottom;
      if (!isWithin && (scrolls(at, 'x') || scrolls(at, 'y'))) return false;
    }
    return true;
  }

  /** Scrolls only if the middle of the element is not in view. */
  function intoViewIfNeeded(element) {
    const box = callslip.hitTest.boxOf(element);
    if (box && !isInView(element, box.left + box.width / 2, box.top + box.height / 2)) intoView(element);
  }

  /** Scrolls the page. */
  function page(way) {
    return scroll(document.documentElement, way);
  }

  /** Scrolls the scroll container of an element; without a way it brings the element into view. */
  function at(key, way) {
    const element = callslip.target.element(key);
    const said = callslip.target.say(element);
    if (Object.keys(way).length > 0) return { ...scroll(element, way), said };
    intoView(element);
    return { x: scrollX, y: scrollY, said };
  }

  return { at, page, intoView, intoViewIfNeeded, scroll, scrollerOf };
})();
