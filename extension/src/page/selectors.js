'use strict';
/**
 * Selectors that find an element again, even after a reload of the page. It is not a module: the browser
 * runs it in the extension's own world of a page, where it defines `callslipSelectors`.
 */
globalThis.callslipSelectors = (() => {
  /** Attributes that authors use to distinguish elements, the most distinctive first. */
  const TELLING = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'name',
    'aria-label', 'for', 'href', 'alt', 'title', 'placeholder'];

  /** Longer values are texts or addresses with parameters, which change. */
  const TELLING_CHARS = 80;

  /** There is often only one of these, and it is stable. */
  const LANDMARKS = ['main', 'header', 'footer', 'nav', 'aside', 'form', 'h1'];

  /** Ids with a long number, a hash or a colon are generated, and differ at the next load. */
  const GENERATED = /\d{4,}|[0-9a-f]{8,}|^[:\d]|:r\w+:/i;

  /** Classes that look like words; those of style compilers end in meaningless letters. */
  const WORDS = /^[a-z]{3,}([-_]+[a-z]{2,})*$/i;

  function quoted(value) {
    return `"${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
  }

  /** Selectors that may identify the element by themselves, the best first. */
  function* namesOf(element) {
    const tag = CSS.escape(element.localName);
    const id = element.getAttribute('id');
    if (id && !GENERATED.test(id)) yield `#${CSS.escape(id)}`;
    for (const attribute of TELLING) {
      const value = element.getAttribute(attribute);
      if (value && value.length <= TELLING_CHARS) yield `${tag}[${attribute}=${quoted(value)}]`;
    }
    for (const name of element.classList) {
      if (WORDS.test(name)) yield `${tag}.${name}`;
    }
    if (LANDMARKS.includes(tag)) yield tag;
  }

  /** The element among its siblings: the tag, with its number if there are several. */
  function stepTo(element) {
    const tag = CSS.escape(element.localName);
    const siblings = [...(element.parentElement?.children ?? [element])];
    const alike = siblings.filter(({ localName }) => localName === element.localName);
    return alike.length === 1 ? tag : `${tag}:nth-of-type(${alike.indexOf(element) + 1})`;
  }

  /**
   * A selector that matches this element of the document and no other: a name of its own, or the path from
   * the nearest ancestor that has one, or else from the root. `matches(selector)` returns the list of
   * matches. Undefined for an element in a shadow tree.
   */
  function selectorOf(element, matches = (text) => document.querySelectorAll(text)) {
    const isOnly = (selector) => {
      const found = matches(selector);
      return found.length === 1 && found[0] === element;
    };
    const steps = [];
    for (let at = element; at; at = at.parentElement) {
      const tail = steps.map((step) => ` > ${step}`).join('');
      for (const name of namesOf(at)) {
        if (isOnly(name + tail)) return name + tail;
      }
      steps.unshift(stepTo(at));
    }
    const path = steps.join(' > ');
    return isOnly(path) ? path : undefined;
  }

  return { selectorOf };
})();
