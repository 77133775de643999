/* global callslip, callslipCutText */
/** Runs in each frame of a page. Selects text, as dragging the mouse over it does. */
callslip.textRange = (() => {
  const { focus, hitTest, mouse, scrolling, shadow, states, target } = callslip;
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']);

  /** The visible text in a root, as one line, with the position of each of its characters. */
  function textIn(root) {
    const places = [];
    let text = '';
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        for (let at = 0; at < node.length; at += 1) {
          const isSpace = /\s/.test(node.data[at]);
          if (isSpace && (text === '' || text.endsWith(' '))) continue;
          text += isSpace ? ' ' : node.data[at];
          places.push([node, at]);
        }
      } else if (node.nodeType !== Node.ELEMENT_NODE || (!SKIPPED.has(node.tagName)
        && (node === root || node.checkVisibility({ checkVisibilityCSS: true })))) {
        const isBlock = node.nodeType === Node.ELEMENT_NODE && /^(block|flex|grid|list-item|table)/.test(getComputedStyle(node).display);
        if (isBlock && text !== '' && !text.endsWith(' ')) {
          text += ' ';
          places.push(places.at(-1));
        }
        for (const child of shadow.childrenOf(node)) walk(child);
      }
    };
    walk(root);
    return { text, places };
  }

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  function rangeOf(root, wanted) {
    const { text, places } = textIn(root);
    const words = normal(wanted);
    let at = text.indexOf(words);
    if (at < 0) at = text.toLowerCase().indexOf(words.toLowerCase());
    if (at < 0 || words === '') return null;
    const range = document.createRange();
    range.setStart(...places[at]);
    const [node, last] = places[at + words.length - 1];
    range.setEnd(node, last + 1);
    return range;
  }

  /** The key of the body, if the text is in this frame; else null. */
  function find(text) {
    const root = document.body ?? document.documentElement;
    return root && rangeOf(root, text) ? target.keep(root) : null;
  }

  function notThere(element, text) {
    return new callslip.Failure({
      code: 'element_not_found',
      message: `${target.say(element)} does not contain the text ${JSON.stringify(callslipCutText(text, 200))}.`,
      hint: 'It must be there as it is shown; leave text out to select all of the element.',
    });
  }

  /** Drags over the content of a range: presses the button at its start, and releases it at its end. */
  function draw(range) {
    const holder = range.startContainer.parentElement ?? document.documentElement;
    scrolling.intoViewIfNeeded(holder);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    const [first, last] = [boxes[0], boxes.at(-1)];
    const select = () => {
      const { startContainer, startOffset, endContainer, endOffset } = range;
      getSelection().setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
    };
    if (!first) return select();
    const from = { x: first.left + 1, y: first.top + first.height / 2 };
    const to = { x: last.right - 1, y: last.top + last.height / 2 };
    const begin = hitTest.at(from.x, from.y) ?? holder;
    const compatible = (mouse.moveTo(begin, from.x, from.y), mouse.down(begin, from.x, from.y));
    select();
    const end = hitTest.at(to.x, to.y) ?? holder;
    mouse.moveTo(end, to.x, to.y, { buttons: 1 });
    mouse.up(end, to.x, to.y, { compatible });
    return select();
  }

  /**
   * Selects the whole content of an element with a secret value. The content is neither reported nor
   * searched.
   */
  function selectSecret(element, text) {
    const said = target.say(element);
    if (text !== null) {
      throw new callslip.Failure({
        code: 'invalid_params',
        message: `text: must be omitted, because nothing is reported about ${said}`,
      });
    }
    focus.give(element);
    callslip.fields.selectAll(element);
    return { said };
  }

  /**
   * Selects a text within an element, or without `text` its whole content. Returns `{said, text}`, where
   * `text` is the resulting selection; it is omitted for a field with a secret value.
   */
  function select(key, text) {
    const element = target.element(key);
    if (states.isSecret(element)) return selectSecret(element, text);
    const said = target.say(element);
    if (focus.isField(element)) {
      const at = text === null ? 0 : element.value.indexOf(text);
      if (at < 0) throw notThere(element, text);
      focus.give(element);
      if (text === null) element.select();
      else element.setSelectionRange(at, at + text.length);
      const { value, selectionStart, selectionEnd } = element;
      return { said, text: value.slice(selectionStart ?? 0, selectionEnd ?? undefined) };
    }
    let range;
    if (text === null) {
      range = document.createRange();
      range.selectNodeContents(element);
    } else {
      range = rangeOf(element, text);
    }
    if (!range) throw notThere(element, text);
    draw(range);
    return { said, text: String(getSelection()) || String(range) };
  }

  return { find, select };
})();
