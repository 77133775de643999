/* global callslip, callslipCutText */
/** Reads texts of the page within the limits of bounds.js, and counts the nodes read. */
callslip.reading = (() => {
  const { ALL_NODES, LATE_NODES, SPACE_CHARS, TEXT_CHARS, TEXT_NODES } = callslip.bounds;

  /** Nodes that were read for texts in this look. */
  let spent = 0;

  /** The nodes and characters that one text may use. */
  class Allowance {
    constructor(chars = TEXT_CHARS, nodes = TEXT_NODES) {
      this.nodes = spent < ALL_NODES ? nodes : Math.min(nodes, LATE_NODES);
      this.chars = chars;
      this.whole = true;
    }

    /** False, and no longer `whole`, if no further node may be read. */
    take() {
      if (this.nodes <= 0 || this.chars < 0) this.whole = false;
      if (!this.whole) return false;
      this.nodes -= 1;
      spent += 1;
      return true;
    }

    /** As much of a text as may be read. */
    text(text) {
      const most = Math.max(0, this.chars) + SPACE_CHARS;
      const part = callslipCutText(text, most);
      this.chars -= part.trim().length;
      if (part !== text || this.chars < 0) this.whole = false;
      return part;
    }
  }

  /**
   * Invisible elements, including the script and style elements of an SVG picture, which have a style of
   * their own.
   */
  function isLeftOut(element) {
    const { localName } = element;
    return localName === 'style' || localName === 'script' || callslip.names.isHidden(element);
  }

  /** The node after the current one, skipping its content. */
  function behind(walker) {
    let node = walker.nextSibling();
    while (!node && walker.parentNode()) node = walker.nextSibling();
    return node;
  }

  /** `{text, whole}`: the displayed text of an element, and whether that is all of it. */
  function read(element, chars, nodes) {
    const allowance = new Allowance(chars, nodes);
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    let text = '';
    let node = walker.nextNode();
    while (node && allowance.take()) {
      const isText = node.nodeType === Node.TEXT_NODE;
      if (isText) text += allowance.text(node.data);
      node = isText || !isLeftOut(node) ? walker.nextNode() : behind(walker);
    }
    return { text, whole: allowance.whole };
  }

  return {
    Allowance,
    read,

    /** An attribute, as far as it is read; empty if it is missing. */
    attribute: (element, name) => callslipCutText(element.getAttribute(name) ?? '', TEXT_CHARS),

    /** Must be called at the beginning of a look. */
    begin() {
      spent = 0;
    },

    isUsedUp: () => spent >= ALL_NODES,
    spend(nodes) {
      spent += nodes;
    },
    spent: () => spent,
  };
})();
