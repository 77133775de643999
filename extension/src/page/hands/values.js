/* global callslip */
/** Runs in each frame of a page. Sets values so that the frameworks of pages notice. */
callslip.values = (() => {
  const PROTOTYPES = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement];

  /**
   * Sets a property by the browser's own setter: a framework that has replaced the setter on the element
   * then detects that it did not set the new value itself.
   */
  function set(element, value, member = 'value') {
    const type = PROTOTYPES.find((each) => element instanceof each);
    Object.getOwnPropertyDescriptor(type.prototype, member).set.call(element, value);
  }

  return { set };
})();
