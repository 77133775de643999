/* global callslipCutText, callslipSecretFields, callslipSelectors */
/**
 * Shared code of the functions of this folder. It is not a module: the browser runs it in the extension's
 * own world of a page, where it defines `callslipElements` for the function that runs next. It uses the
 * definitions of cut_text.js, selectors.js and secret_fields.js.
 */
globalThis.callslipElements = (() => {
  const ATTRIBUTES = ['id', 'name', 'type', 'role', 'href', 'src', 'alt', 'title', 'placeholder',
    'aria-label', 'checked', 'disabled'];
  const { isSecret } = callslipSecretFields;
  const UNSEEN = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD']);

  function isSelector(selector) {
    try {
      document.createDocumentFragment().querySelector(selector);
      return true;
    } catch {
      return false;
    }
  }

  /** The answer of a page function to a selector that is none. */
  function wrongSelector() {
    const message = 'selector: must be a valid CSS selector';
    return { url: location.href, error: { code: 'invalid_params', message, mayHaveExecuted: false } };
  }

  function normal(text) {
    return text.replace(/\s+/g, ' ').trim().toLowerCase();
  }

  function ownText(element) {
    const isButton = element.matches('input[type=button], input[type=submit], input[type=reset]');
    return isButton ? element.value : '';
  }

  /** The innermost elements whose text contains the words, in document order. */
  function innermostWith(words) {
    const found = [];
    function visit(element) {
      if (UNSEEN.has(element.tagName)) return { text: '', within: false };
      let text = ownText(element);
      let within = false;
      const place = found.length;
      for (const child of element.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) text += child.data;
        if (child.nodeType !== Node.ELEMENT_NODE) continue;
        const inner = visit(child);
        text += inner.text;
        within ||= inner.within;
      }
      if (!within && normal(text).includes(words)) {
        found.splice(place, 0, element);
        within = true;
      }
      return { text, within };
    }
    if (document.documentElement) visit(document.documentElement);
    return found;
  }

  /** All elements that match the selector and contain the text; either may be null. */
  function matching(selector, text) {
    if (text === null) return [...document.querySelectorAll(selector)];
    const words = normal(text);
    if (selector === null) return innermostWith(words);
    const holds = (element) => normal(element.textContent + ownText(element)).includes(words);
    return [...document.querySelectorAll(selector)].filter(holds);
  }

  function isVisible(element) {
    const { width, height } = element.getBoundingClientRect();
    const shown = { checkOpacity: true, checkVisibilityCSS: true };
    return width > 0 && height > 0 && element.checkVisibility(shown);
  }

  /** The bounds in CSS pixels of the page, independent of its scroll position. */
  function boundsOf(element) {
    const { left, top, width, height } = element.getBoundingClientRect();
    const rounded = (value) => Math.round(value * 10) / 10;
    return {
      x: rounded(left + scrollX),
      y: rounded(top + scrollY),
      width: rounded(width),
      height: rounded(height),
    };
  }

  function textOf(element, limitChars) {
    const text = element.innerText ?? element.textContent;
    return callslipCutText((text || ownText(element)).trim(), limitChars);
  }

  function describe(element, { textChars, attributeChars }) {
    const attributes = {};
    for (const name of ATTRIBUTES) {
      const value = element.getAttribute(name);
      if (value !== null) attributes[name] = callslipCutText(value, attributeChars);
    }
    if ('value' in element && typeof element.value === 'string' && !isSecret(element)) {
      attributes.value = callslipCutText(element.value, attributeChars);
    }
    return {
      selector: callslipSelectors.selectorOf(element),
      tag: element.localName,
      text: textOf(element, textChars),
      visible: isVisible(element),
      bounds: boundsOf(element),
      attributes,
    };
  }

  function intoView(element) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  }

  return { isSelector, wrongSelector, matching, boundsOf, describe, intoView };
})();
