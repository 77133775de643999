'use strict';
/** Keeps what the person does in draw mode from the page. */
if (!Object.hasOwn(globalThis, 'callslipDraw')) globalThis.callslipDraw = {};
{
  /** These belong to the drawing wherever they happen. */
  const INPUT = ['pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'pointerover',
    'pointerout', 'pointerenter', 'pointerleave', 'pointerrawupdate', 'gotpointercapture',
    'lostpointercapture', 'mousedown', 'mousemove', 'mouseup', 'mouseover', 'mouseout',
    'mouseenter', 'mouseleave', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel',
    'touchstart', 'touchmove', 'touchend', 'touchcancel', 'dragstart', 'drop', 'keydown',
    'keypress', 'keyup'];

  /** These do where they come from the overlay: a page that traps the focus must not see them. */
  const EDITING = ['focus', 'blur', 'focusin', 'focusout', 'beforeinput', 'input', 'change',
    'select', 'copy', 'cut', 'paste', 'compositionstart', 'compositionupdate', 'compositionend'];

  /**
   * Takes the events at the first place that sees them, before anything of the page, and hands
   * them to `handlers` by their type. Nothing in the overlay can therefore have listeners of its
   * own. Events that scripts send, for instance to carry a command out, reach the page as ever.
   */
  function shieldEvents(host, handlers, signal) {
    const take = (event) => {
      event.stopImmediatePropagation();
      handlers[event.type]?.(event);
    };
    const ours = (event) => event.target === host || event.relatedTarget === host;
    const options = { capture: true, passive: false, signal };
    for (const type of INPUT) {
      addEventListener(type, (event) => event.isTrusted && take(event), options);
    }
    for (const type of EDITING) {
      addEventListener(type, (event) => event.isTrusted && ours(event) && take(event), options);
    }
  }

  Object.assign(callslipDraw, { shieldEvents });
}
