/* global callslip */
/**
 * Runs in each frame of a page. Moves the focus, and tells the page of it where the browser does
 * not: in a tab that is not in front, `focus()` moves the active element and fires nothing.
 */
callslip.focus = (() => {
  const { shadow } = callslip;

  /** Fields that were written into since the page was last told of a change of them. */
  const edited = new WeakSet();

  /** By field, the value of which we ourselves have told the page, as the browser could not. */
  const told = new WeakMap();

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

  const isNothing = (element) => element === document.body || !element.isConnected;

  /**
   * Takes the focus from a field for a moment: there the browser tells of a change, and some pages trust no event
   * but its own. The page hears nothing else of that, unless it moves the focus itself by it.
   */
  function leave(element) {
    const isAway = () => isNothing(focused());
    const hush = (event) => {
      const isOurs = event.isTrusted && shadow.contains(event.composedPath()[0], element);
      if (isOurs && (isAway() || focused() === element)) event.stopImmediatePropagation();
    };
    const types = ['blur', 'focusout', 'focus', 'focusin'];
    for (const type of types) addEventListener(type, hush, { capture: true });
    element.blur();
    if (isAway()) element.focus({ preventScroll: true });
    for (const type of types) removeEventListener(type, hush, { capture: true });
    if (!isAway() || !element.isConnected) return;
    send('blur', element, null);
    send('focusout', element, null);
  }

  function tellOf(element) {
    edited.delete(element);
    told.set(element, element.value);
    element.dispatchEvent(new Event('change', { bubbles: true }));
  }

  /** Tells the page that a field has changed, as the browser does once a person leaves it: through it, if it can. */
  function commit(element) {
    if (!edited.has(element)) return;
    if (focused() === element && document.hasFocus()) leave(element);
    if (edited.has(element)) tellOf(element);
  }

  function hearChange(event) {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0];
    edited.delete(at);
    told.delete(at);
  }

  /**
   * The browser tells of nothing where a field holds what it told last, though we have told of another value. Asked
   * before the page gives the text another form.
   */
  function hearBlur({ isTrusted, currentTarget: field }) {
    if (isTrusted && edited.has(field) && told.has(field) && told.get(field) !== field.value) tellOf(field);
  }

  /** Remembers that a field was written into. */
  function edit(element) {
    if (!isField(element)) return;
    edited.add(element);
    // The event does not leave a shadow tree.
    element.addEventListener('change', hearChange, { capture: true });
    element.addEventListener('blur', hearBlur, { capture: true });
  }

  function isEdited(element) {
    return edited.has(element);
  }

  /** Forgets an edit that has changed nothing. */
  function forget(element) {
    edited.delete(element);
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

  return { commit, edit, focused, forget, give, giveByMouse, isEdited, isField, move };
})();
