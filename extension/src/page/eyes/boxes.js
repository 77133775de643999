/* global callslip */
/** The positions of elements in the window of this frame, for pictures. */
callslip.boxes = (() => {
  const LEAST = 4;

  function boxOf(element) {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left, y: top, width, height };
  }

  /** False for an element that is covered by another, as far as that can be determined: within the window. */
  function isOnTop(element, { x, y, width, height }) {
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    if (middleX < 0 || middleY < 0 || middleX >= innerWidth || middleY >= innerHeight) return true;
    const at = callslip.hitTest.at(middleX, middleY);
    if (!at) return false;
    const { contains } = callslip.shadow;
    if (contains(element, at) || contains(at, element)) return true;
    return [...element.labels ?? []].some((label) => contains(label, at));
  }

  /**
   * True for an element outside the visible part of a frame; in the top frame it is only further down the
   * page.
   */
  function isCutOff({ x, y, width, height }) {
    if (window === window.top) return false;
    return x >= innerWidth || y >= innerHeight || x + width <= 0 || y + height <= 0;
  }

  /** The boxes of all visible elements that have a ref: `{ref, x, y, width, height}`. */
  function ofRefs() {
    return callslip.refs.all().flatMap(({ ref }) => {
      const element = callslip.refs.element(Number(ref.slice(1)));
      if (!element?.checkVisibility({ checkVisibilityCSS: true })) return [];
      const box = boxOf(element);
      if (box.width < LEAST || box.height < LEAST || !isOnTop(element, box) || isCutOff(box)) return [];
      return [{ ref, ...box }];
    });
  }

  /** Scrolls the element of a command into view, and returns its box. */
  function ofKey(key) {
    const element = callslip.target.element(key);
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return boxOf(element);
  }

  return { ofRefs, ofKey };
})();
