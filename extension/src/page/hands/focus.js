/* global callslip */
/**
 * Runs in each frame of a page. Moves the focus, and tells the page of it where the browser does
 * not: in a tab that is not in front, `focus()` moves the active element and fires nothing.
 */
callslip.focus = (() => {
  const { shadow } = callslip;

  /** Fields that were written into since the page was last told of a change of them. */
  const edited = new WeakSet();

  /** By field that an edit has left as it was: what it holds. The page may yet write the value itself. */
  const unchanged = new WeakMap();

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

  const FOCUS_EVENTS = ['blur', 'focusout', 'focus', 'focusin'];

  /** Runs what moves the focus of an element; the page hears nothing of that as long as `isOurs` is true. */
  function quietly(element, isOurs, how) {
    const hush = (event) => {
      const isOf = event.isTrusted && shadow.contains(event.composedPath()[0], element);
      if (isOf && isOurs()) event.stopImmediatePropagation();
    };
    // What the page has taken away hears of it itself, and the window does not.
    const places = [window, element];
    for (const at of places) for (const type of FOCUS_EVENTS) at.addEventListener(type, hush, { capture: true });
    how();
    for (const at of places) for (const type of FOCUS_EVENTS) at.removeEventListener(type, hush, { capture: true });
  }

  const isAway = () => isNothing(focused());

  /** Shows an element, whatever the styles say; returns what puts each `style` back as it was. */
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
        // Without this Chromium leaves an empty attribute where it has not written out the style yet.
        at.setAttribute('style', style ?? '');
        if (style === null) at.removeAttribute('style');
      }
    };
  }

  function giveQuietly(element) {
    const give = () => element.focus({ preventScroll: true });
    if (isAway()) give();
    if (!isAway() || !element.isConnected || element.matches(':disabled')) return;
    // What is shown by `:focus-within` alone is hidden now, and the browser gives the focus to nothing that is.
    const hide = show(element);
    give();
    hide();
  }

  /**
   * Takes the focus from a field for a moment: there the browser tells of a change, and some pages trust no event
   * but its own. The field has the focus again before the page hears of the change: what the page does to the focus
   * then, it does as if nothing else had. True where the browser has told of a change.
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
    // Of what we began the rest comes once the event has been everywhere.
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
   * Gives a field the focus that it has: the browser takes what has the focus within it for left, once it has told
   * of a change. Not where the page has written into it since, as the browser would tell of that now.
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

  /** Tells the page that a field has changed, as the browser does once a person leaves it: through it, if it can. */
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
    unchanged.delete(element);
    // The event does not leave a shadow tree.
    element.addEventListener('change', hearChange, { capture: true });
    element.addEventListener('blur', hearBlur, { capture: true });
  }

  function isEdited(element) {
    return edited.has(element) && unchanged.get(element) !== element.value;
  }

  /** Remembers that an edit has changed nothing so far. */
  function hold(element) {
    unchanged.set(element, element.value);
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

  return { commit, edit, focused, forget, give, giveByMouse, hold, isEdited, isField, move };
})();
