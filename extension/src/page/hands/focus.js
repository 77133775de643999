/* global callslip */
/**
 * Runs in each frame of a page. Moves the focus, and notifies the page of it if the browser does not: in a
 * background tab, `focus()` moves the active element and fires nothing.
 */
callslip.focus = (() => {
  const { shadow } = callslip;

  /** Fields that were written into since their last change event. */
  const edited = new WeakSet();

  /** By field that an edit has left unchanged, its value. The page may yet write the value itself. */
  const unchanged = new WeakMap();

  /** By field, the value for which this script has sent a change event, because the browser could not. */
  const told = new WeakMap();

  /** The element that keys go to, through shadow trees; the frame's element if the focus is in a frame. */
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

  /** Whether an element gets events of the focus: one that holds a frame gets none. */
  const hears = (element) => !isNothing(element) && !element.contentWindow;

  const FOCUS_EVENTS = ['blur', 'focusout', 'focus', 'focusin'];

  /**
   * Runs `how`, which moves the focus of an element; the page gets no event of that as long as `isOurs`
   * returns true.
   */
  function quietly(element, isOurs, how) {
    const hush = (event) => {
      const isOf = event.isTrusted && shadow.contains(event.composedPath()[0], element);
      if (isOf && isOurs()) event.stopImmediatePropagation();
    };
    // An element that the page has removed gets the event itself, the window does not.
    const places = [window, element];
    for (const at of places) for (const type of FOCUS_EVENTS) at.addEventListener(type, hush, { capture: true });
    how();
    for (const at of places) for (const type of FOCUS_EVENTS) at.removeEventListener(type, hush, { capture: true });
  }

  const isAway = () => isNothing(focused());

  /** Makes an element visible, whatever its styles; returns a function that restores each `style`. */
  function show(element) {
    const before = [];
    const set = (at, name, value) => {
      before.unshift([at, at.getAttribute('style')]);
      at.style?.setProperty(name, value, 'important');
    };
    for (let at = element; at; at = shadow.parentOf(at)) {
      if (getComputedStyle(at).display === 'none') set(at, 'display', 'block');
    }
    if (getComputedStyle(element).visibility !== 'visible') set(element, 'visibility', 'visible');
    return () => {
      for (const [at, style] of before) {
        // Without this, Chromium leaves an empty attribute if it has not serialized the style yet.
        at.setAttribute('style', style ?? '');
        if (style === null) at.removeAttribute('style');
      }
    };
  }

  function giveQuietly(element) {
    const give = () => element.focus({ preventScroll: true });
    if (isAway()) give();
    if (!isAway() || !element.isConnected || element.matches(':disabled')) return;
    // An element that only `:focus-within` makes visible is hidden now, and the browser gives a hidden one
    // no focus.
    const hide = show(element);
    give();
    hide();
  }

  /**
   * Takes the focus from a field for a moment, so that the browser fires a change event, because some pages
   * trust no other. The field has the focus again before the page gets the event, so whatever the page then
   * does to the focus has its usual effect. True if the browser has fired a change event.
   */
  function leave(element) {
    let isTold = false;
    let change;
    const back = (event) => {
      if (isTold || !event.isTrusted || event.composedPath()[0] !== element) return;
      isTold = true;
      giveQuietly(element);
      if (focused() === element) change = event;
    };
    // The remaining events of our own focus moves come after the dispatch of the change event.
    const isOurs = () => (change ? change.eventPhase === Event.NONE : isAway() || focused() === element);
    // The event does not leave a shadow tree.
    const places = [window, element.getRootNode()];
    for (const at of places) at.addEventListener('change', back, { capture: true });
    quietly(element, isOurs, () => {
      element.blur();
      if (!change) giveQuietly(element);
    });
    for (const at of places) at.removeEventListener('change', back, { capture: true });
    if (change) renew(focused());
    else sendLost(element);
    return isTold;
  }

  /**
   * Gives a field that has the focus the focus again: after a change event, the browser considers the
   * focused field as left. Not if the page has written into it since, because the browser would now fire
   * another change event.
   */
  function renew(field) {
    if (!isField(field) || edited.has(field) || field.matches(':disabled')) return;
    quietly(field, () => true, () => {
      field.blur();
      giveQuietly(field);
    });
    sendLost(field);
  }

  function sendLost(element) {
    if (!isAway() || !element.isConnected) return;
    send('blur', element, null);
    send('focusout', element, null);
  }

  function tellOf(element) {
    edited.delete(element);
    told.set(element, element.value);
    element.dispatchEvent(new Event('change', { bubbles: true }));
  }

  /**
   * Reports a change of a field to the page, as the browser does when a person leaves it: through the
   * browser, if possible.
   */
  function commit(element) {
    if (!edited.has(element)) return;
    const isTold = focused() === element && leave(element);
    if (!isTold && isEdited(element)) tellOf(element);
  }

  function hearChange(event) {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0];
    edited.delete(at);
    told.delete(at);
  }

  /**
   * The browser fires no change event if a field holds the value of its last one, although this script has
   * reported another value since. Checked before the page reformats the text.
   */
  function hearBlur({ isTrusted, currentTarget: field }) {
    if (isTrusted && edited.has(field) && told.has(field) && told.get(field) !== field.value) tellOf(field);
  }

  /** Records that a field was written into. */
  function edit(element) {
    if (!isField(element)) return;
    edited.add(element);
    unchanged.delete(element);
    // The event does not leave a shadow tree.
    element.addEventListener('change', hearChange, { capture: true });
    element.addEventListener('blur', hearBlur, { capture: true });
  }

  function isEdited(element) {
    return edited.has(element) && unchanged.get(element) !== element.value;
  }

  /** Records that an edit has changed nothing so far. */
  function hold(element) {
    unchanged.set(element, element.value);
  }

  /** Forgets an edit that has changed nothing. */
  function forget(element) {
    edited.delete(element);
  }

  addEventListener('change', hearChange, { capture: true });

  // For keys that erase, and for people who type; of a closed shadow tree the event names only the host.
  addEventListener('input', (event) => {
    if (!event.isTrusted) return;
    const at = event.composedPath()[0];
    const inner = focused();
    edit(!isField(at) && shadow.contains(at, inner) ? inner : at);
  }, { capture: true });

  /** Runs `how`, which moves the focus, then sends the events that the browser has not sent. */
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
    if (hears(from)) {
      commit(from);
      send('blur', from, to);
      send('focusout', from, to);
    }
    if (hears(to)) {
      send('focus', to, from);
      send('focusin', to, from);
    }
    return to;
  }

  /** Gives an element the focus, and returns the one that then has it. */
  function give(element) {
    return move(() => element.focus({ preventScroll: true }));
  }

  function canHave(element) {
    if (element.matches(':disabled')) return false;
    return element.tabIndex >= 0 || element.hasAttribute('tabindex') || element.isContentEditable;
  }

  /** Moves the focus as a mouse button does: to the nearest element that can have it, or to none. */
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

  return { commit, edit, focused, forget, give, giveByMouse, hold, isEdited, isField, move };
})();
