/* global callslip */
/**
 * Runs in each frame of a page. The elements of actions: found by CSS or by their ref, stored under a key,
 * and checked until an action can be carried out on them.
 */
callslip.target = (() => {
  const { guard, hitTest, names, refs, roles, scrolling, shadow, states } = callslip;

  /** How many elements of the latest commands keep their keys. */
  const KEPT = 200;

  /** How many of several matches an error names, and how much of a text. */
  const NAMED = 5;
  const NAME_CHARS = 80;

  /** Two looks at an element show whether it stands still if they are this far apart, in ms. */
  const LOOKS_APART_MS = 40;

  const kept = new Map();
  const boxes = new WeakMap();
  let last = 0;

  function keep(element) {
    last += 1;
    kept.set(last, new WeakRef(element));
    kept.delete(last - KEPT);
    return last;
  }

  function gone() {
    return new callslip.Failure({
      code: 'element_not_found',
      message: 'The element was removed from the page before the action.',
      hint: 'Look at the page again: analyze page.',
    });
  }

  /** The element of a key, as long as it is in the page. */
  function element(key) {
    const found = kept.get(key)?.deref();
    if (!found?.isConnected) throw gone();
    return found;
  }

  /** The description of an element in answers: `e30 button Place order`. */
  function say(one) {
    const role = roles.of(one);
    const name = guard.inner(guard.cut(names.of(one, role ?? 'click'), NAME_CHARS));
    const number = refs.of(one);
    const word = role ?? place(one);
    return [number ? `e${number}` : '', word, name].filter(Boolean).join(' ');
  }

  function matches(selector) {
    try {
      return shadow.queryAll(selector);
    } catch {
      throw new callslip.Failure({
        code: 'invalid_params',
        message: 'selector: must be a ref such as e12, or a valid CSS selector',
      });
    }
  }

  /** `{found, shown, key, lines}`: `key` is that of the first visible element, else of the first. */
  function search(selector) {
    const found = matches(selector);
    const shown = found.filter((each) => hitTest.boxOf(each) && !hiddenBecause(each));
    const first = shown[0] ?? found[0];
    return {
      found: found.length,
      shown: shown.length,
      key: first && keep(first),
      lines: (first === shown[0] ? shown : found).slice(0, NAMED).map(say),
    };
  }

  /** The key of the element of a ref. */
  function ofRef(number) {
    const found = refs.element(number);
    if (!found) throw gone();
    return keep(found);
  }

  function place(one) {
    const id = guard.inner(guard.cut(names.clean(one.id), NAME_CHARS));
    return `${one.localName}${id ? `#${id}` : ''}`;
  }

  /** The reason why the element is not visible, or undefined. */
  function hiddenBecause(one) {
    if (one.checkVisibility({ checkVisibilityCSS: true })) {
      return hitTest.boxOf(one) ? undefined : `${place(one)} has no size`;
    }
    for (let at = one; at; at = shadow.parentOf(at)) {
      const { display, contentVisibility } = getComputedStyle(at);
      if (display === 'none') return `display: none on ${place(at)}`;
      if (contentVisibility === 'hidden') return `content-visibility: hidden on ${place(at)}`;
    }
    let at = one;
    for (let up = shadow.parentOf(at); up && getComputedStyle(up).visibility !== 'visible';) {
      at = up;
      up = shadow.parentOf(at);
    }
    return `visibility: ${getComputedStyle(one).visibility} on ${place(at)}`;
  }

  function disabledBecause(one) {
    if (one.matches(':disabled')) {
      const fieldset = one.closest('fieldset:disabled');
      return one.disabled || !fieldset ? 'it is disabled' : `${place(fieldset)} around it is disabled`;
    }
    return states.isDisabled(one) ? 'aria-disabled' : undefined;
  }

  function problem(code, message, hint) {
    return { problem: { code, message, hint, mayHaveExecuted: false } };
  }

  /**
   * The label of a checkbox or similar input that is hidden, which is used in its place; else the element
   * itself.
   */
  function standIn(one) {
    const isTick = one instanceof HTMLInputElement && ['checkbox', 'radio', 'file'].includes(one.type);
    if (!isTick || !hiddenBecause(one)) return one;
    return [...one.labels].find((label) => !hiddenBecause(label)) ?? one;
  }

  function moved(one) {
    const { x, y, width, height } = hitTest.boxOf(one);
    const box = [x, y, width, height].map(Math.round).join();
    const before = boxes.get(one);
    const now = performance.now();
    boxes.set(one, { box, now });
    if (callslip.quiet?.still(LOOKS_APART_MS)) return false;
    return before?.box !== box || now - before.now < LOOKS_APART_MS;
  }

  /**
   * Checks whether an action can be carried out now: `{ready, x, y, moved, said}`, or `{problem}`. `need`
   * is `mouse` (visible, enabled, not covered), `edit` (visible, enabled, takes text), `field` (enabled),
   * `keys` (visible, not disabled by the browser, so that it can have the focus) or `see` (visible).
   * `force` ignores that it is disabled or covered; `at` is a point relative to its corner.
   */
  function look(key, { need, force = false, at = null }) {
    const own = element(key);
    const one = need === 'mouse' ? standIn(own) : own;
    const said = say(own);
    if (need !== 'field' || callslip.keyDefaults.isTextField(one)) {
      const hidden = hiddenBecause(one);
      if (hidden) return problem('element_hidden', `${said} cannot be seen: ${hidden}.`);
    }
    const mayBeDisabled = force || need === 'see' || (need === 'keys' && !one.matches(':disabled'));
    const disabled = !mayBeDisabled && disabledBecause(one);
    if (disabled) return problem('element_disabled', `${said} is disabled: ${disabled}.`);
    if (need === 'edit' && !isEditable(one)) return notEditable(one, said);
    if (need !== 'mouse') return { ready: true, said };
    const { x, y, cover } = hitTest.reach(one, at);
    const hasMoved = moved(one);
    if (force || !cover) return { ready: true, x, y, moved: hasMoved, said };
    const style = getComputedStyle(one);
    if (style.pointerEvents === 'none') {
      return problem('element_disabled', `${said} takes no mouse: pointer-events: none.`);
    }
    const message = `${said} is covered by ${hitTest.describe(cover, one)}.`;
    return problem('element_covered', message, 'Close what covers it first; how: force clicks anyway.');
  }

  /** An element with a tabindex may take keys by its own script, such as a terminal. */
  function isEditable(one) {
    if (one.isContentEditable) return true;
    if (one.hasAttribute('tabindex') && !one.matches('input, textarea')) return true;
    return callslip.keyDefaults.isTextField(one) && !one.readOnly;
  }

  function notEditable(one, said) {
    const message = `${said} cannot be edited: it is`;
    if (one.readOnly) return problem('not_editable', `${message} read-only.`);
    return { ...problem('not_editable', `${message} no field that takes text.`), final: true };
  }

  /** Scrolls the element into view if necessary. */
  function show(key) {
    scrolling.intoViewIfNeeded(element(key));
    return { said: say(element(key)) };
  }

  return { disabledBecause, element, hiddenBecause, isEditable, keep, look, matches, ofRef, say, search, show };
})();
