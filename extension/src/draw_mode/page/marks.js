'use strict';
/** The marks of a drawing, in the order in which they were made. */
{
  const { pageBounds, shifted } = callslipDraw;

  /**
   * A mark is an annotation as it is posted: `{id, kind, note, rect, from?, to?, element?}`, in CSS pixels
   * of the page. It follows its element: if that moves in the page, because part of the page is scrolled or
   * the layout changes, the mark moves along.
   */
  function createMarks(kept = []) {
    const list = [];
    const anchors = new Map();
    let last = 0;

    function move(mark, dx, dy) {
      mark.rect = shifted(mark.rect, dx, dy);
      if (mark.from) mark.from = shifted(mark.from, dx, dy);
      if (mark.to) mark.to = shifted(mark.to, dx, dy);
      mark.element.bounds = shifted(mark.element.bounds, dx, dy);
    }

    function put(mark, anchor) {
      list.push(mark);
      if (anchor && mark.element) anchors.set(mark, anchor);
      last = Math.max(last, Number(mark.id.slice(1)) || 0);
    }

    function foundAgain({ element }) {
      if (!element?.selector) return undefined;
      const found = document.querySelectorAll(element.selector);
      return found.length === 1 && found[0].localName === element.tag ? found[0] : undefined;
    }

    for (const mark of kept) put(mark, foundAgain(mark));

    return {
      all: list,

      add(fields, anchor) {
        const mark = { id: `a${last + 1}`, note: '', ...fields };
        put(mark, anchor);
        return mark;
      },

      remove(mark) {
        const at = list.indexOf(mark);
        if (at >= 0) list.splice(at, 1);
        anchors.delete(mark);
      },

      anchorOf: (mark) => anchors.get(mark),

      /** Moves every mark to the current position of its element. */
      follow() {
        for (const [mark, anchor] of anchors) {
          if (!anchor.isConnected) continue;
          const bounds = pageBounds(anchor);
          if (bounds.width === 0 && bounds.height === 0) continue;
          const dx = bounds.x - mark.element.bounds.x;
          const dy = bounds.y - mark.element.bounds.y;
          if (dx !== 0 || dy !== 0) move(mark, dx, dy);
        }
      },
    };
  }

  Object.assign(callslipDraw, { createMarks });
}
