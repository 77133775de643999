/**
 * Carries on a Tab key that has left the stops of a frame, `leaves` as returned by page/hands/tab_order.js,
 * until a frame has the focus: resolves to that frame. A frame that cannot be reached is skipped.
 */
export async function carryTab({ tab, tools: { frames, guard, pageParts } }, from, leaves, stroke) {
  const tree = await frames.tree(tab.id);
  let at = tree.find(({ frameId }) => frameId === from.frameId) ?? { ...from, parent: null };
  // Each frame is entered and left once, even where none has a stop.
  for (let way = leaves, left = 2 * tree.length + 1; way && left > 0; left -= 1) {
    const { place, after } = nextPlace(tree, at, way);
    await guard(place.url);
    const { frameId, documentId } = place;
    ({ data: way } = await pageParts.call(tab.id, { frameId, documentId }, 'keys.tab', [stroke, after]));
    at = place;
  }
  return { frameId: at.frameId, documentId: at.documentId, key: null };
}

/**
 * The frame in which the key goes on, and the element there after which it does: that of a frame, or
 * `null`.
 */
function nextPlace(tree, at, { into }) {
  if (into !== undefined) {
    const inner = tree.find(({ parent, owner }) => parent === at.frameId && owner.key === into);
    return inner ? { place: inner, after: null } : { place: at, after: into };
  }
  const outer = tree.find(({ frameId }) => frameId === at.parent);
  return outer ? { place: outer, after: at.owner.key } : { place: at, after: null };
}
