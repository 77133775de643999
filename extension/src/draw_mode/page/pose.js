'use strict';
/** Holds the page still for its pictures: without the overlay, and with a mark in view. */
{
  /** Resolves after the next frame, or after `patienceMs`, because a hidden window paints none. */
  function painted(patienceMs) {
    return new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(resolve));
      setTimeout(resolve, patienceMs);
    });
  }

  /** The area that a picture of the tab shows, in CSS pixels of the page. */
  function visibleBox() {
    const { offsetLeft, offsetTop, scale } = visualViewport;
    return {
      x: scrollX + offsetLeft,
      y: scrollY + offsetTop,
      width: innerWidth / scale,
      height: innerHeight / scale,
    };
  }

  function createPose({ host, marks, patienceMs }) {
    let scrolled = null;

    function remember() {
      const places = new Set([document.scrollingElement ?? document.documentElement]);
      for (const mark of marks.all) {
        for (let at = marks.anchorOf(mark); at; at = at.parentElement) places.add(at);
      }
      scrolled = [...places].map((at) => ({ at, left: at.scrollLeft, top: at.scrollTop }));
    }

    function bringIntoView(mark) {
      const still = { block: 'center', inline: 'center', behavior: 'instant' };
      marks.anchorOf(mark)?.scrollIntoView(still);
      marks.follow();
      const { x, y } = callslipDraw.middleOf(mark.rect);
      const seen = visibleBox();
      const inX = x >= seen.x && x <= seen.x + seen.width;
      const inY = y >= seen.y && y <= seen.y + seen.height;
      if (inX && inY) return;
      scrollTo({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });
    }

    return {
      /** Hides the overlay; with the id of a mark, scrolls it into view. Returns the visible area. */
      async hold(markId) {
        if (!scrolled) remember();
        host.setAttribute('data-away', '');
        const mark = marks.all.find(({ id }) => id === markId);
        if (mark) bringIntoView(mark);
        await painted(patienceMs);
        marks.follow();
        const places = marks.all.map(({ id: mark, rect, to }) => ({ id: mark, rect, to }));
        return { seen: visibleBox(), places };
      },

      /** Restores the scroll positions and the overlay. */
      release() {
        for (const { at, left, top } of scrolled ?? []) {
          at.scrollTo({ left, top, behavior: 'instant' });
        }
        scrolled = null;
        host.removeAttribute('data-away');
      },
    };
  }

  Object.assign(callslipDraw, { createPose });
}
