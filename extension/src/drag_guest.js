import { pathIn, pointInTab } from './frames.js';

/**
 * The frame that a drag is over, other than the one in which it began: it gets the events there, at most
 * one at a time. `source` is the place where the drag began. Points are in the window of its frame.
 */
export function createDragGuest({ tab, source, tools: { frames, pageParts, targets } }) {
  /** `{frameId, documentId, at}`, where `at` is the point in its own window. */
  let guest;
  let carried;

  const call = (method, ...args) => pageParts.call(tab.id, guest, `drag.${method}`, args);

  async function frameAt(point) {
    const path = pathIn(await frames.tree(tab.id), source.frameId);
    try {
      const { frameId, documentId, x, y } = await targets.at({ tab, ...pointInTab(path, point) });
      return documentId === source.documentId ? undefined : { frameId, documentId, at: { x, y } };
    } catch (error) {
      // The point is outside of the window of the tab.
      if (error.code === 'element_not_found') return undefined;
      throw error;
    }
  }

  async function leave() {
    if (guest) await call('leave', guest.at).catch(() => {});
    guest = undefined;
  }

  return {
    leave,

    /**
     * Moves the drag to a point; `moved` is what drag.move has returned for it in the frame where it began.
     */
    async follow(point, moved) {
      const next = moved.isAway ? await frameAt(point) : undefined;
      const isNew = guest?.documentId !== next?.documentId;
      if (isNew) await leave();
      guest = next;
      carried = moved.carried ?? null;
      if (guest) await call('over', guest.at, carried, isNew);
    },

    /** Ends the drag there: resolves to `{accepted}`, or to null if it is over no other frame. */
    async drop() {
      if (!guest) return null;
      const { data } = await call('drop', guest.at, carried);
      guest = undefined;
      return data;
    },
  };
}
