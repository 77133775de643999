/* global callslip */
/** Runs in each frame of a page. Determines where a mouse can reach an element, and what covers it. */
callslip.hitTest = (() => {
  const { scrolling, shadow } = callslip;

  /** Relative positions within a box that are tried if its middle is not on the element. */
  const PARTS = [0.5, 0.25, 0.75, 0.1, 0.9];

  /** How many children are searched for a box if an element has none of its own. */
  const CHILDREN = 50;

  /** The largest box of an element, in the window; if it has none, that of the first child with one. */
  function boxOf(element, depth = 3) {
    let best;
    for (const box of element.getClientRects()) {
      const area = box.width * box.height;
      if (area > 0 && (!best || area > best.width * best.height)) best = box;
    }
    if (best || depth === 0) return best;
    for (const child of [...element.children].slice(0, CHILDREN)) {
      const inner = boxOf(child, depth - 1);
      if (inner) return inner;
    }
    return undefined;
  }

  /** The innermost element at a point of this window, through shadow trees. */
  function at(x, y) {
    let found = document.elementFromPoint(x, y);
    for (;;) {
      const inner = found && shadow.rootOf(found)?.elementFromPoint(x, y);
      if (!inner || inner === found) return found;
      found = inner;
    }
  }

  function isIn(element, hit) {
    if (!hit) return false;
    if (shadow.contains(element, hit)) return true;
    // A click on the label of a field is a click on the field.
    const label = hit.closest('label');
    return label !== null && label.control === element;
  }

  function* pointsOf(box) {
    const left = Math.max(box.left, 0);
    const top = Math.max(box.top, 0);
    const width = Math.min(box.right, innerWidth) - left;
    const height = Math.min(box.bottom, innerHeight) - top;
    if (width <= 0 || height <= 0) return;
    for (const down of PARTS) {
      for (const along of PARTS) yield [left + width * along, top + height * down];
    }
  }

  function isInWindow(x, y) {
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  }

  function tryPoint(element, offset) {
    const { left, top } = element.getBoundingClientRect();
    const [x, y] = [left + offset.x, top + offset.y];
    if (!isInWindow(x, y)) return { x, y, outside: true };
    const hit = at(x, y);
    return isIn(element, hit) ? { x, y } : { x, y, cover: hit ?? document.documentElement };
  }

  function tryBox(element) {
    const box = boxOf(element);
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const middle = isInWindow(x, y) ? at(x, y) : null;
    if (isIn(element, middle)) return { x, y };
    for (const [along, down] of pointsOf(box)) {
      if (isIn(element, at(along, down))) return { x: along, y: down };
    }
    return { x, y, outside: !isInWindow(x, y), cover: middle ?? document.documentElement };
  }

  /**
   * `{x, y}` in this window where a mouse reaches the element, or also `cover`, the element that covers it.
   * `offset` requests one point, relative to the corner of the element. Scrolls if necessary.
   */
  function reach(element, offset) {
    const attempt = () => (offset ? tryPoint(element, offset) : tryBox(element));
    const first = attempt();
    if (!first.outside && !first.cover) return first;
    scrolling.intoView(element);
    const { outside, ...second } = attempt();
    return outside && !second.cover ? { ...second, cover: document.documentElement } : second;
  }

  const LAYERS = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true], [popover]';

  /** Describes the element that covers another, and buttons in it that may close it. */
  function describe(cover, element) {
    let layer = cover.closest(LAYERS);
    if (layer && shadow.contains(layer, element)) layer = null;
    const top = layer ?? cover;
    const say = callslip.target.say(top);
    const buttons = [...top.querySelectorAll('button, [role=button]')].slice(0, 3)
      .filter((each) => boxOf(each) && !shadow.contains(each, element))
      .map((each) => callslip.target.say(each));
    return [say, ...buttons].join('; ');
  }

  /**
   * Checks whether a point of a frame, in the frame's own pixels, can be reached through its element here:
   * `{x, y}`, also `cover` if not, or `{gone}`.
   */
  function through(key, { x, y }) {
    const owner = callslip.frame_path.element(key);
    if (!owner) return { gone: true };
    const point = () => {
      const box = callslip.frame_path.boxOf(owner);
      return [box.x + x * box.scaleX, box.y + y * box.scaleY];
    };
    let [left, top] = point();
    if (!isInWindow(left, top)) {
      scrolling.scroll(shadow.parentOf(owner), { dx: left - innerWidth / 2, dy: 0 });
      scrolling.scroll(shadow.parentOf(owner), { dy: top - innerHeight / 2 });
      [left, top] = point();
    }
    const hit = at(left, top);
    if (hit === owner) return { x: left, y: top };
    return { x: left, y: top, cover: describe(hit ?? document.documentElement, owner) };
  }

  /**
   * What is at a point: `{key}` of the element, or also `{frame, x, y}` if it holds a frame, with the point
   * in that frame.
   */
  function atPoint(x, y) {
    const hit = at(x, y);
    if (!hit) return {};
    if (!hit.contentWindow) return { key: callslip.target.keep(hit), said: callslip.target.say(hit) };
    const box = callslip.frame_path.boxOf(hit);
    const inner = { x: (x - box.x) / box.scaleX, y: (y - box.y) / box.scaleY };
    return { key: callslip.target.keep(hit), frame: callslip.frame_path.keyOf(hit), ...inner };
  }

  return { at, atPoint, boxOf, describe, reach, through };
})();
