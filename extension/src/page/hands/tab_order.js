/* global callslip */
/** Runs in each frame of a page. Determines where the Tab key goes from an element. */
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

  /** The stop after an element, even if that is not a stop itself. */
  function next(list, from, isBack) {
    const at = list.indexOf(from);
    if (at >= 0) return list.at((at + (isBack ? -1 : 1)) % list.length);
    const follows = (stop) =>
      from.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (from === document.body || from === document.documentElement) return list.at(isBack ? -1 : 0);
    return isBack
      ? list.findLast((stop) => !follows(stop)) ?? list.at(-1)
      : list.find(follows) ?? list[0];
  }

  function move(from, isBack) {
    const stop = next(stops(), from, isBack);
    if (!stop) return;
    focus.give(stop);
    // A field reached with the Tab key has its text selected.
    if (stop instanceof HTMLInputElement && callslip.keyDefaults.isTextField(stop)) stop.select();
  }

  return { move };
})();
