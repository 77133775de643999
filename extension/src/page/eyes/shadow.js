/* global callslip */
/** Shadow trees, open and closed. The browser's own, such as that of a video, are ignored. */
callslip.shadow = (() => {
  /** Besides custom elements, these can have a shadow tree, as the DOM standard lists them. */
  const HOSTS = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3',
    'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);

  /**
   * The shadow root of an element, or null. The call is slow, so it is skipped for elements that cannot
   * have one.
   */
  function rootOf(element) {
    const { localName } = element;
    if (!HOSTS.has(localName) && !localName.includes('-')) return null;
    if (!(element instanceof HTMLElement)) return null;
    return element.shadowRoot
      ?? globalThis.chrome?.dom?.openOrClosedShadowRoot?.(element) ?? null;
  }

  /** The rendered children of an element: those of its shadow tree, those assigned to a slot, or its own. */
  function childrenOf(element) {
    const root = rootOf(element);
    if (root) return root.childNodes;
    if (element.localName === 'slot') {
      const assigned = element.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    return element.childNodes;
  }

  /** Calls `visit` with each of these, which is faster than listing them, until it returns true. */
  function eachChild(element, visit) {
    const root = rootOf(element);
    const assigned = !root && element.localName === 'slot' ? element.assignedNodes() : [];
    if (assigned.length > 0) {
      assigned.some(visit);
      return;
    }
    for (let child = (root ?? element).firstChild; child; child = child.nextSibling) {
      if (visit(child)) return;
    }
  }

  /** The element around another one as rendered, across the borders of shadow trees. */
  function parentOf(node) {
    if (node.assignedSlot) return node.assignedSlot;
    const parent = node.parentNode;
    if (parent instanceof ShadowRoot) return parent.host;
    return parent instanceof Element ? parent : null;
  }

  /** True if `inner` is `outer`, or within it, in any shadow tree. */
  function contains(outer, inner) {
    for (let at = inner; at; at = parentOf(at)) {
      if (at === outer) return true;
    }
    return false;
  }

  /** The document, and every shadow tree below it. */
  function allRoots() {
    const roots = [document];
    for (const root of roots) {
      for (const element of root.querySelectorAll('*')) {
        const inner = rootOf(element);
        if (inner) roots.push(inner);
      }
    }
    return roots;
  }

  /** The parts of one selector between its spaces: `a > b c` is `a > b` and `c`. */
  function steps(selector) {
    const found = [''];
    let nested = 0;
    let quote = '';
    for (const [place, sign] of [...selector].entries()) {
      if (quote) quote = sign === quote && selector[place - 1] !== '\\' ? '' : quote;
      else if (sign === '"' || sign === '\'') quote = sign;
      else if ('[('.includes(sign)) nested += 1;
      else if ('])'.includes(sign)) nested -= 1;
      const outside = !quote && nested === 0;
      const joins = /[>+~]\s*$/.test(found.at(-1)) || /^\s*[>+~]/.test(selector.slice(place));
      if (outside && /\s/.test(sign) && !joins) found.push('');
      else found[found.length - 1] += sign;
    }
    return found.filter((step) => step.trim());
  }

  /** True if the element matches the last step and is, across borders, below the others. */
  function isBelow(element, parts) {
    if (!element.matches(parts.at(-1))) return false;
    const above = parts.slice(0, -1);
    if (above.length === 0) return true;
    for (let at = hostOrParent(element); at; at = hostOrParent(at)) {
      if (isBelow(at, above)) return true;
    }
    return false;
  }

  function hostOrParent(element) {
    return element.parentElement ?? element.getRootNode().host ?? null;
  }

  /**
   * All elements that match a selector, in the document and in every shadow tree below it. A descendant by
   * a space in the selector may be in a shadow tree of its ancestor.
   */
  function queryAll(selector) {
    const direct = [...document.querySelectorAll(selector)];
    const roots = allRoots();
    if (roots.length === 1) return direct;
    const found = new Set(roots.flatMap((root) => [...root.querySelectorAll(selector)]));
    const parts = steps(selector);
    // A list of selectors is not taken apart: each of them stays within one tree.
    if (parts.length < 2 || selector.includes(',')) return [...found];
    for (const root of roots.slice(1)) {
      for (const element of root.querySelectorAll(parts.at(-1))) {
        if (!found.has(element) && isBelow(element, parts)) found.add(element);
      }
    }
    return [...found];
  }

  return { rootOf, childrenOf, eachChild, parentOf, contains, queryAll };
})();
