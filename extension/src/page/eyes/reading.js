/* global callslip, callslipCutText */
/** Reads texts of the page within bounds.js, and counts what that takes. */
callslip.reading = (() => {
  const { ALL_NODES, LATE_NODES, SPACE_CHARS, TEXT_CHARS, TEXT_NODES } = callslip.bounds;

  /** Nodes that were read for texts in this look. */
  let spent = 0;

  /** What one text may take. */
  class Allowance {
    constructor(chars = TEXT_CHARS, nodes = TEXT_NODES) {
      this.nodes = spent < ALL_NODES ? nodes : Math.min(nodes, LATE_NODES);
      this.chars = chars;
      this.whole = true;
    }

    /** False, and no longer `whole`, where no further node may be read. */
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

  /** What nobody sees; a picture's script and style, too, which have a style of their own. */
  function isLeftOut(element) {
    const { localName } = element;
    return localName === 'style' || localName === 'script' || callslip.names.isHidden(element);
  }

  /** The node behind one and all that is in it, which is left out. */
  function behind(walker) {
    let node = walker.nextSibling();
    while (!node && walker.parentNode()) node = walker.nextSibling();
    return node;
  }

  /** `{text, whole}`: the text in an element as it is shown, and whether that is all of it. */
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

    /** An attribute as far as it is read; empty where there is none. */
    attribute: (element, name) => callslipCutText(element.getAttribute(name) ?? '', TEXT_CHARS),

    /** A new look begins. */
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
