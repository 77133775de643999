'use strict';
/** The effects of mouse, wheel and keys in draw mode. */
{
  const { boxBetween, distance, elementBeneath, scrollerAround } = callslipDraw;

  /** A shorter drag is considered accidental, in CSS pixels. */
  const SLIP = 4;

  /**
   * A wheel event counts pixels, lines or pages, depending on the device; these are their sizes in pixels.
   */
  const WHEEL_UNITS = [() => 1, () => 16, () => innerHeight];

  /** Left to the browser: they scroll. */
  const SCROLL_KEYS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown',
    'Home', 'End'];

  const TOOL_KEYS = { r: 'rectangle', a: 'arrow', t: 'text' };

  const pagePoint = ({ clientX, clientY }) =>
    ({ x: Math.round(clientX + scrollX), y: Math.round(clientY + scrollY) });

  /**
   * The handlers for shieldEvents. `board` has `tool`, `busy`, `act` with a function for each button,
   * `choose(tool)`, `mayDraw()`, `sketch(draft)` to show a mark that is being drawn, `add(mark)`, and
   * `typed()`, called when the text of a note changes.
   */
  function createInput({ host, root, stage, bar, note, board }) {
    let drag = null;

    /** The node of the overlay at which an event occurred; keys press the button with the focus. */
    function inside(event) {
      if (event.type === 'click' && event.detail === 0) return root.activeElement;
      return root.elementFromPoint(event.clientX, event.clientY);
    }

    function draftTo(to) {
      const { from } = drag;
      if (!drag.draft && distance(from, to) < SLIP) return;
      const mark = { kind: board.tool, rect: boxBetween(from, to) };
      drag.draft = board.tool === 'arrow' ? { ...mark, from, to } : mark;
      board.sketch(drag.draft);
    }

    function endDrag(draft) {
      drag = null;
      board.sketch(null);
      const { width = 0, height = 0 } = draft?.rect ?? {};
      if (Math.max(width, height) >= SLIP) board.add(draft);
    }

    function pointerdown(event) {
      const node = inside(event);
      if (board.busy || event.button !== 0 || node?.closest('.note, button')) return;
      if (node?.closest('.bar')) drag = { bar: { x: event.clientX, y: event.clientY } };
      else if (!board.mayDraw()) return;
      else if (board.tool === 'text') {
        board.add({ kind: 'text', rect: { ...pagePoint(event), width: 0, height: 0 } });
      } else drag = { from: pagePoint(event) };
      if (drag) stage.setPointerCapture(event.pointerId);
    }

    function pointermove(event) {
      if (drag?.from) draftTo(pagePoint(event));
      if (!drag?.bar) return;
      bar.moveBy(event.clientX - drag.bar.x, event.clientY - drag.bar.y);
      drag.bar = { x: event.clientX, y: event.clientY };
    }

    function pointerup(event) {
      if (drag?.from) draftTo(pagePoint(event));
      endDrag(drag?.draft);
    }

    function click(event) {
      const button = inside(event)?.closest('button:not(:disabled)');
      if (button) board.act[button.dataset.do]();
    }

    /** Scrolls the element beneath, as if the overlay were not there. */
    function wheel(event) {
      if (event.ctrlKey || inside(event)?.closest('textarea')) return;
      event.preventDefault();
      const unit = WHEEL_UNITS[event.deltaMode]();
      const sideways = event.shiftKey && event.deltaX === 0;
      const deltaX = (sideways ? event.deltaY : event.deltaX) * unit;
      const deltaY = (sideways ? 0 : event.deltaY) * unit;
      const seen = elementBeneath(host, { x: event.clientX, y: event.clientY });
      const scroller = scrollerAround(seen, { deltaX, deltaY });
      scroller.scrollBy({ left: deltaX, top: deltaY, behavior: 'instant' });
    }

    function noteKey(event) {
      if (event.key === 'Escape') note.drop();
      else if (event.key === 'Enter' && !event.shiftKey) note.keep();
      else return;
      event.preventDefault();
    }

    function focusNext(step) {
      const buttons = bar.buttons();
      const at = buttons.indexOf(root.activeElement);
      const next = at < 0 && step < 0 ? -1 : (at + step) % buttons.length;
      buttons.at(next)?.focus();
    }

    /** Keeps keys from the page; shortcuts of the browser and scrolling still work. */
    function boardKey(event) {
      const key = event.key.toLowerCase();
      const onButton = root.activeElement?.closest('button') && ['enter', ' '].includes(key);
      if (onButton || SCROLL_KEYS.includes(event.key) || /^f\d+$/.test(key)) return;
      const undo = (event.ctrlKey || event.metaKey) && key === 'z';
      if (!undo && (event.ctrlKey || event.metaKey || event.altKey)) return;
      event.preventDefault();
      if (board.busy || (event.repeat && key !== 'tab')) return;
      if (undo) board.act.undo();
      else if (Object.hasOwn(TOOL_KEYS, key)) board.choose(TOOL_KEYS[key]);
      else if (key === 'enter') board.act.done();
      else if (key === 'escape' && drag) endDrag(null);
      else if (key === 'escape') board.act.cancel();
      else if (key === 'tab') focusNext(event.shiftKey ? -1 : 1);
    }

    function keydown(event) {
      if (event.isComposing) return;
      if (note.isOpen && root.activeElement === note.field) noteKey(event);
      else boardKey(event);
    }

    const prevented = (event) => event.preventDefault();
    return {
      pointerdown,
      pointermove,
      pointerup,
      pointercancel: () => endDrag(null),
      // The focus stays where it is, unless the person clicks the note.
      mousedown: (event) => inside(event)?.closest('textarea') || event.preventDefault(),
      click,
      wheel,
      keydown,
      input: () => board.typed(),
      auxclick: prevented,
      contextmenu: prevented,
      dragstart: prevented,
    };
  }

  Object.assign(callslipDraw, { createInput });
}
