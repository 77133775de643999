/* global callslip */
/**
 * The position of a frame among those of its tab. Only the frames themselves know it: each finds its index
 * in the list of its parent's frames, which is permitted across sites. Frames in shadow trees are not in
 * these lists; their index is -1.
 */
callslip.frame_path = (() => {
  const FRAMES = 'iframe, frame, object, embed';
  const keys = new WeakMap();
  const owners = new Map();
  let last = 0;

  function placeIn(parent, child) {
    for (let place = 0; place < parent.length; place += 1) {
      if (parent[place] === child) return place;
    }
    return -1;
  }

  /**
   * `{path, width, height, left, top}`: the indexes from the top frame down to this one, and data by which
   * its owner can be recognized.
   */
  function own() {
    const path = [];
    for (let at = window; at !== at.parent; at = at.parent) path.unshift(placeIn(at.parent, at));
    const place = { path, width: innerWidth, height: innerHeight };
    try {
      const box = window.frameElement?.getBoundingClientRect();
      if (box) Object.assign(place, { left: box.left, top: box.top });
    } catch {
      // The parent is of another site.
    }
    return place;
  }

  /** A number by which an element that holds a frame is found again in this document. */
  function keyOf(owner) {
    if (!keys.has(owner)) {
      last += 1;
      keys.set(owner, last);
      owners.set(last, new WeakRef(owner));
      owners.delete(last - callslip.bounds.OWNERS);
    }
    return keys.get(owner);
  }

  /** The element that holds a frame, by its key. */
  function element(key) {
    const owner = owners.get(key)?.deref();
    return owner?.isConnected ? owner : undefined;
  }

  /** The box inside borders and padding, which is the frame's own window, in pixels of this window. */
  function boxOf(owner) {
    const outer = owner.getBoundingClientRect();
    const style = getComputedStyle(owner);
    const scaleX = owner.offsetWidth ? outer.width / owner.offsetWidth : 1;
    const scaleY = owner.offsetHeight ? outer.height / owner.offsetHeight : 1;
    const px = (name) => parseFloat(style[name]) || 0;
    return {
      x: outer.left + (px('borderLeftWidth') + px('paddingLeft')) * scaleX,
      y: outer.top + (px('borderTopWidth') + px('paddingTop')) * scaleY,
      width: (owner.clientWidth - px('paddingLeft') - px('paddingRight')) * scaleX,
      height: (owner.clientHeight - px('paddingTop') - px('paddingBottom')) * scaleY,
      scaleX,
      scaleY,
    };
  }

  const holds = (owner) => owner.localName === 'embed' || Boolean(owner.contentWindow);

  function describe(owner) {
    const { left, top } = owner.getBoundingClientRect();
    const { x, y, width, height, scaleX, scaleY } = boxOf(owner);
    return {
      key: keyOf(owner),
      // An embed does not reveal which frame it holds.
      place: owner.localName === 'embed' ? null : placeIn(window, owner.contentWindow),
      src: owner.src || owner.data || '',
      left, top, x, y, width, height, scaleX, scaleY,
    };
  }

  /** The elements of this document that hold frames, in all shadow trees. */
  function all() {
    return callslip.shadow.queryAll(FRAMES);
  }

  /** `own()`, and a description of the elements that hold frames: of all, or of those given. */
  function look(given = all()) {
    return { ...own(), children: given.filter(holds).map(describe) };
  }

  return { own, look, keyOf, element, boxOf };
})();
