'use strict';
/** Hides the person's actions in draw mode from the page. */
{
  /** These events belong to the drawing wherever they happen. */
  const INPUT = ['pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'pointerover',
    'pointerout', 'pointerenter', 'pointerleave', 'pointerrawupdate', 'gotpointercapture',
    'lostpointercapture', 'mousedown', 'mousemove', 'mouseup', 'mouseover', 'mouseout',
    'mouseenter', 'mouseleave', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel',
    'touchstart', 'touchmove', 'touchend', 'touchcancel', 'dragstart', 'drop', 'keydown',
    'keypress', 'keyup'];

  /** These belong to it if they come from the overlay: a page that traps the focus must not see them. */
  const EDITING = ['focus', 'blur', 'focusin', 'focusout', 'beforeinput', 'input', 'change',
    'select', 'copy', 'cut', 'paste', 'compositionstart', 'compositionupdate', 'compositionend'];

  /**
   * Intercepts the events at the window, before the listeners of the page, except those that it already had
   * on the window, and passes them to `handlers` by type. Elements of the overlay therefore cannot have
   * listeners of their own. Events dispatched by scripts, for example to execute a command, still reach the
   * page.
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
