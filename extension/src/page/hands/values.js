/* global callslip */
/** Runs in each frame of a page. Sets values so that the frameworks of pages notice. */
callslip.values = (() => {
  const PROTOTYPES = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement];

  /**
   * Sets a member by the browser's own setter: a framework that replaced it on the element sees the
   * new value as one that it has not set itself.
   */
  function set(element, value, member = 'value') {
    const type = PROTOTYPES.find((each) => element instanceof each);
    Object.getOwnPropertyDescriptor(type.prototype, member).set.call(element, value);
  }

  return { set };
})();
