/**
 * The frames of a tab as a tree. The browser does not report to the extension which frame contains which,
 * so the frames are asked for their own place (page/eyes/frame_path.js).
 */
export function createFrames({ pageParts }) {
  /**
   * A list, parents first, the top frame at its head: `{frameId, documentId, url, parent, owner}`. `parent`
   * is the frameId of the frame around it and `owner` the element that holds it there: `{key, x, y, width,
   * height, scaleX, scaleY}`, the box in pixels of the parent's window and the `key` for
   * `callslip.frame_path.element(key)`. A frame whose place is unknown has the parent `null`.
   */
  async function tree(tabId) {
    return arrange(await pageParts.callAll(tabId, 'frame_path.look'));
  }

  return {
    tree,

    /** The entries of `tree` from the top frame down to the frame. Empty if the frame is gone. */
    async path(tabId, frameId) {
      return pathIn(await tree(tabId), frameId);
    },
  };
}

export function pathIn(list, frameId) {
  const byId = new Map(list.map((frame) => [frame.frameId, frame]));
  const path = [];
  for (let at = byId.get(frameId); at; at = byId.get(at.parent)) path.unshift(at);
  return path;
}

/**
 * A point in the window of a frame, in pixels of the window of the tab; `path` leads from the top to the
 * frame.
 */
export function pointInTab(path, { x, y }) {
  return path.slice(1).reduceRight((at, { owner }) => ({
    x: owner.x + at.x * owner.scaleX, y: owner.y + at.y * owner.scaleY,
  }), { x, y });
}

/** The reverse: a point in the window of the tab, in pixels of the window of a frame. */
export function pointInFrame(path, { x, y }) {
  return path.slice(1).reduce((at, { owner }) => ({
    x: (at.x - owner.x) / owner.scaleX, y: (at.y - owner.y) / owner.scaleY,
  }), { x, y });
}

/** Combines the `frame_path.look` answers of all frames into a tree, as described at `tree`. */
export function arrange(looks) {
  const frames = looks.filter(({ result }) => result);
  const depth = ({ result }) => result.path.length;
  const sorted = [...frames].sort((a, b) => depth(a) - depth(b) || a.frameId - b.frameId);
  const taken = new Set();
  const placed = [];
  for (const frame of sorted) {
    const { frameId, documentId, url, result } = frame;
    const entry = { frameId, documentId, url, parent: null, owner: null };
    placed.push({ entry, look: result });
    if (result.path.length === 0) continue;
    const found = ownerOf(frame, placed, taken);
    if (!found) continue;
    taken.add(`${found.parent} ${found.owner.key}`);
    Object.assign(entry, found);
  }
  return placed.map(({ entry }) => entry);
}

/** `{parent, owner}` of a frame among those placed before it: the likeliest of several candidates. */
function ownerOf({ url, result }, placed, taken) {
  const place = result.path.at(-1);
  const around = result.path.slice(0, -1).join();
  const candidates = [];
  for (const { entry, look } of placed) {
    if (look.path.join() !== around || look.path.length !== result.path.length - 1) continue;
    for (const child of look.children) {
      if (![place, null].includes(child.place) || taken.has(`${entry.frameId} ${child.key}`)) continue;
      const points = fit(child, url, result);
      const isSure = child.place !== null;
      if (isSure || points > 0) {
        candidates.push({ parent: entry.frameId, owner: child, fit: points + (isSure ? 16 : 0) });
      }
    }
  }
  candidates.sort((a, b) => b.fit - a.fit);
  if (candidates.length === 0) return undefined;
  const { parent, owner: { key, x, y, width, height, scaleX, scaleY } } = candidates[0];
  return { parent, owner: { key, x, y, width, height, scaleX, scaleY } };
}

/** How well an element matches a frame that may be in it; for elements in shadow trees. */
function fit(child, url, { left, top, width, height }) {
  let points = child.src && child.src === url ? 4 : 0;
  if (left !== undefined) points += child.left === left && child.top === top ? 8 : -8;
  const near = (a, b) => Math.abs(a - b) < 1.5;
  if (near(child.width / child.scaleX, width)) points += 1;
  if (near(child.height / child.scaleY, height)) points += 1;
  return points;
}
