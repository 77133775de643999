/* global callslip */
/**
 * Runs in each frame of a page. Determines where the Tab key goes from an element: to another one of this
 * frame, into a frame in it, or out of it (the service worker goes on there: tab_key.js).
 */
callslip.tabOrder = (() => {
  const { focus, shadow } = callslip;
  const SHOWN = { checkVisibilityCSS: true };

  /** All elements as rendered, through shadow trees. */
  function* elementsOf(node) {
    for (const child of shadow.childrenOf(node)) {
      if (child.nodeType !== Node.ELEMENT_NODE) continue;
      yield child;
      yield* elementsOf(child);
    }
  }

  /** Of radio buttons with one name only the checked one, or else the first, is a stop. */
  function standsForGroup(element, seen) {
    if (element.type !== 'radio' || !(element instanceof HTMLInputElement) || !element.name) return true;
    if (element.checked) return true;
    const group = [...(element.form?.elements ?? element.getRootNode().querySelectorAll('input'))]
      .filter((each) => each.type === 'radio' && each.name === element.name
        && each.form === element.form);
    if (group.some((each) => each.checked && !each.matches(':disabled'))) return false;
    const key = group[0];
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  }

  /** An editable element is a stop although its `tabIndex` does not say so. */
  function isEditor(element) {
    return element.isContentEditable && !element.parentElement?.isContentEditable
      && !element.hasAttribute('tabindex');
  }

  function stops() {
    const groups = new Set();
    const isStop = (element) => (element.tabIndex >= 0 || isEditor(element)) && !element.matches(':disabled, [inert] *')
      && !(element.matches('details:not([open]) > :not(summary)'))
      && element.checkVisibility(SHOWN) && standsForGroup(element, groups);
    const found = [...elementsOf(document.documentElement)].filter(isStop);
    const first = found.filter(({ tabIndex }) => tabIndex > 0);
    first.sort((one, other) => one.tabIndex - other.tabIndex);
    return [...first, ...found.filter(({ tabIndex }) => tabIndex <= 0)];
  }

  const isNowhere = (from) => [null, document.body, document.documentElement].includes(from);

  /** The stop after an element, even if that is not a stop itself; undefined after the last one. */
  function next(list, from, isBack) {
    if (isNowhere(from)) return list.at(isBack ? -1 : 0);
    const at = list.indexOf(from);
    if (at >= 0) return list[at + (isBack ? -1 : 1)];
    const follows = (stop) =>
      from.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING;
    return isBack ? list.findLast((stop) => !follows(stop)) : list.find(follows);
  }

  /**
   * Moves the focus to the stop after an element; from `null`, where the key comes from the frame around
   * this one, to the first. If the next stop is in another frame, nothing here has the focus then, and it
   * returns `{into}`, the key of that frame's element, or `{isOut: true}`. After the last stop of the page
   * comes its first.
   */
  function move(from, isBack) {
    const isTop = window === window.top;
    const list = stops();
    const stop = next(list, from, isBack) ?? (isTop ? next(list, null, isBack) : undefined);
    if (stop && !stop.contentWindow) {
      focus.give(stop);
      // A field reached with the Tab key has its text selected.
      if (stop instanceof HTMLInputElement && callslip.keyDefaults.isTextField(stop)) stop.select();
      return undefined;
    }
    if (!stop && isTop) return undefined;
    if (list.length === 0 && from === null && window.frameElement) {
      // A frame without stops is one itself, unless another process of the browser shows it.
      window.focus();
      return undefined;
    }
    focus.move(() => focus.focused().blur());
    return stop ? { into: callslip.frame_path.keyOf(stop) } : { isOut: true };
  }

  return { move };
})();
