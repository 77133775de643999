/* global callslip */
/**
 * Runs in each frame of a page. Moves the focus, and tells the page of it where the browser does
 * not: in a tab that is not in front, `focus()` moves the active element and fires nothing.
 */
callslip.focus = (() => {
  const { shadow } = callslip;

  /** Fields that were written into since the page was last told of a change of them. */
  const edited = new WeakSet();

  /** Fields of whose last edit we have told the page; the browser will tell of it, too, once they are left. */
  const told = new WeakSet();

  /** The element that keys go to, through shadow trees; a frame's element where it is in there. */
  function focused() {
    let element = document.activeElement ?? document.body ?? document.documentElement;
    for (let inner; (inner = shadow.rootOf(element)?.activeElement);) element = inner;
    return element;
  }

  function send(type, element, relatedTarget) {
    const bubbles = type.startsWith('focus') && type !== 'focus';
    const init = { bubbles, composed: true, view: window, relatedTarget };
    element.dispatchEvent(new FocusEvent(type, init));
  }

  function isField(element) {
    return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  }

  /** Tells the page that a field has changed, as the browser does once a person leaves it. */
  function commit(element) {
    if (!edited.delete(element)) return;
    told.add(element);
    element.dispatchEvent(new Event('change', { bubbles: true }));
  }

  /** Keeps the change of the browser from the page where we have told of that edit. */
  function hearChange(event) {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0];
    edited.delete(at);
    if (told.delete(at)) event.stopImmediatePropagation();
  }

  function hearBlur({ isTrusted, currentTarget }) {
    if (isTrusted) told.delete(currentTarget);
  }

  /** Remembers that a field was written into. */
  function edit(element) {
    if (!isField(element)) return;
    edited.add(element);
    told.delete(element);
    // The event does not leave a shadow tree.
    element.addEventListener('change', hearChange, { capture: true });
    element.addEventListener('blur', hearBlur);
  }

  /** What the page has been told of a field: to be given to `forget`. */
  function state(element) {
    return { isEdited: edited.has(element), isTold: told.has(element) };
  }

  /** Forgets an edit that has changed nothing. */
  function forget(element, { isTold }) {
    edited.delete(element);
    if (isTold) told.add(element);
  }

  addEventListener('change', hearChange, { capture: true });

  // Keys that erase and people write, too; of a closed shadow tree only its host is named.
  addEventListener('input', (event) => {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0];
    const inner = focused();
    edit(!isField(at) && shadow.contains(at, inner) ? inner : at);
  }, { capture: true });

  /** Runs what moves the focus; then sends what the browser has not sent. */
  function move(how) {
    const from = focused();
    let heard = false;
    const hear = (event) => { heard ||= event.isTrusted; };
    for (const type of ['focus', 'blur']) addEventListener(type, hear, { capture: true });
    how();
    for (const type of ['focus', 'blur']) removeEventListener(type, hear, { capture: true });
    const to = focused();
    if (to === from) return to;
    if (heard || document.hasFocus()) return to;
    const isNothing = (element) => element === document.body || !element.isConnected;
    if (!isNothing(from)) {
      commit(from);
      send('blur', from, to);
      send('focusout', from, to);
    }
    if (!isNothing(to)) {
      send('focus', to, from);
      send('focusin', to, from);
    }
    return to;
  }

  /** Gives an element the focus, and answers the one that has it then. */
  function give(element) {
    return move(() => element.focus({ preventScroll: true }));
  }

  function canHave(element) {
    if (element.matches(':disabled')) return false;
    return element.tabIndex >= 0 || element.hasAttribute('tabindex') || element.isContentEditable;
  }

  /** What a mouse button does to the focus: to the nearest that can have it, or to nothing. */
  function giveByMouse(element) {
    let at = element;
    const label = element.closest('label')?.control;
    while (at && !canHave(at)) at = shadow.parentOf(at);
    if (at) return give(at);
    const now = focused();
    // The label gives the focus to its field at the click.
    if (label && label === now) return now;
    return move(() => now.blur());
  }

  return { commit, edit, focused, forget, give, giveByMouse, isField, move, state };
})();
