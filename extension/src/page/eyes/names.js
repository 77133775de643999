/* global callslip, callslipCutText */
/** The accessible names of elements, in the order of precedence of the W3C accname specification. */
callslip.names = (() => {
  const { Allowance, attribute: said, read } = callslip.reading;
  const { NAMING, TEXT_CHARS } = callslip.bounds;

  /** The rest of the allowance for the current name, and the parts written so far. */
  let allowance = new Allowance();
  let parts = [];

  /**
   * Control characters, directional marks, zero-width characters, tag characters, and the private use area
   * of icon fonts.
   */
  const CLEAN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e'
    + '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\ue000-\\uf8ff]|\\udb40[\\udc00-\\udc7f]', 'g');
  /** Matches text that needs cleaning. */
  const UNCLEAN = /[^ -~]| {2}/;
  const SPACE = /[\s\u00a0]+/g;

  /** Roles whose content is not part of the name of an element around them. */
  const APART = new Set(['search', 'navigation', 'dialog', 'alertdialog', 'menu', 'menubar', 'tree',
    'tablist', 'toolbar', 'grid', 'treegrid', 'radiogroup', 'feed']);

  /** Results that stay the same during one look at the page. */
  let seen = null;

  /** Runs `work`, which changes nothing in the page, with styles, labels and some names cached meanwhile. */
  function withStyles(work) {
    seen = { styles: new Map(), labels: new Map(), names: new Map() };
    try {
      return work();
    } finally {
      seen = null;
    }
  }

  function styleOf(element) {
    if (!seen) return getComputedStyle(element);
    let style = seen.styles.get(element);
    if (!style) {
      const { display, visibility, cursor } = getComputedStyle(element);
      style = { display, visibility, cursor };
      seen.styles.set(element, style);
    }
    return style;
  }

  /** One line of text without characters that could disguise it. */
  function clean(text) {
    if (!UNCLEAN.test(text)) return text.trim();
    return text.replace(SPACE, ' ').replace(CLEAN, '').replace(SPACE, ' ').trim();
  }

  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'datalist']);

  function isSkipped(element) {
    return SKIPPED.has(element.localName) && element.namespaceURI !== 'http://www.w3.org/2000/svg';
  }

  /** True for elements that the outline ignores: not rendered, or aria-hidden. */
  function isHidden(element) {
    if (isSkipped(element)) return true;
    if (element.hasAttributes()) {
      if (element.getAttribute('aria-hidden') === 'true') return true;
      if (element.getAttribute('hidden') === 'until-found') return true;
    }
    return styleOf(element).display === 'none';
  }

  function isUnseen(element) {
    return styleOf(element).visibility !== 'visible';
  }

  function pseudo(element, which) {
    if (!seen) return pseudoNow(element, which);
    const style = styleOf(element);
    style[which] ??= pseudoNow(element, which);
    return style[which];
  }

  function pseudoNow(element, which) {
    const { content } = getComputedStyle(element, which);
    if (content === 'none' || content === 'normal') return '';
    const [, text] = /^"((?:[^"\\]|\\.)*)"/.exec(content) ?? [];
    return text ? text.replace(/\\(.)/g, '$1') : '';
  }

  const HOLDING = new Set(['textbox', 'searchbox', 'combobox', 'listbox', 'slider', 'spinbutton', 'progressbar',
    'meter', 'scrollbar']);

  /** The contribution of a control within a label to the name: its value. */
  function embedded(element, role) {
    if (!HOLDING.has(role)) return null;
    if (callslip.states.isSecret(element)) return '';
    if (['textbox', 'searchbox'].includes(role)) return element.value ?? read(element).text;
    if (role === 'combobox' || role === 'listbox') {
      return element.localName === 'select' ? chosenIn(element) : element.value ?? '';
    }
    return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow')
      ?? String(element.value ?? '');
  }

  function chosenIn({ selectedOptions }) {
    const texts = [];
    for (const { text } of selectedOptions) {
      if (!allowance.take()) break;
      texts.push(text);
    }
    return texts.join(' ');
  }

  function write(text) {
    if (text) parts.push(allowance.text(text));
  }

  /** The text that `work` writes, as one line. */
  function written(work) {
    const outer = parts;
    parts = [];
    work();
    const text = clean(parts.join(''));
    parts = outer;
    return text;
  }

  /** Writes the text content of an element. `how.hidden`: it is read although it is not visible. */
  function writeContent(element, how, visited) {
    const shows = how.hidden || !isUnseen(element);
    if (shows) write(pseudo(element, '::before'));
    callslip.shadow.eachChild(element, (child) => {
      if (!allowance.take()) return true;
      if (child.nodeType === Node.ELEMENT_NODE) writeChild(child, how, visited);
      else if (child.nodeType === Node.TEXT_NODE && shows) write(child.data);
      return false;
    });
    if (shows) write(pseudo(element, '::after'));
  }

  function writeChild(child, how, visited) {
    const { display } = styleOf(child);
    const isApart = child.localName === 'br' || (display !== 'inline' && display !== 'contents');
    if (isApart) parts.push(' ');
    if (child.localName !== 'br') writeName(child, how, visited);
    if (isApart) parts.push(' ');
  }

  /** Writes the contribution of an element to the name of one around it. */
  function writeName(element, how, visited) {
    if (visited.has(element)) return;
    if (!how.hidden && isHidden(element)) return;
    if (isSkipped(element)) return;
    visited.add(element);
    const label = said(element, 'aria-label');
    const role = callslip.roles.of(element);
    const value = how.embedded ? embedded(element, role) : null;
    if (value !== null) return write(value);
    if (label.trim()) return write(label);
    if (APART.has(role)) return;
    // A figure is named by its caption, or not at all.
    if (element.localName === 'figure') return write(native(element, role, visited));
    if (element.localName === 'svg') return write(titleOf(element));
    const own = native(element, role, visited);
    if (own) return write(own);
    const { chars } = allowance;
    writeContent(element, how, visited);
    if (allowance.chars === chars) write(said(element, 'title'));
  }

  function referred(element) {
    const ids = said(element, 'aria-labelledby');
    if (!ids) return '';
    const root = element.getRootNode();
    const texts = ids.trim().split(/\s+/, NAMING).map((id) => {
      const target = root.getElementById?.(id);
      return target && allowance.take() ? nameByOther(target, element) : '';
    });
    return texts.filter(Boolean).join(' ');
  }

  /** The name of another element that labels this one; many elements may have the same label. */
  function nameByOther(target, element) {
    const isAlike = target !== element && !target.contains(element);
    if (!isAlike) return nameFor(target, element);
    let name = seen?.names.get(target);
    if (name === undefined) {
      // A shared name must not be truncated because the first of the elements has used up its allowance.
      const outer = allowance;
      allowance = new Allowance();
      name = nameFor(target, element);
      allowance = outer;
      seen?.names.set(target, name);
    }
    allowance.chars -= name.length;
    return name;
  }

  function nameFor(target, element) {
    const hidden = isHidden(target) || isUnseen(target);
    const visited = new Set(target === element ? [] : [element]);
    return written(() => writeName(target, { hidden, embedded: target !== element }, visited));
  }

  /** The browser searches the whole document for the labels of each field; this does it once. */
  function labelsIn(root) {
    const labels = new Map();
    for (const label of root.querySelectorAll('label')) {
      const { control } = label;
      if (!control) continue;
      if (!labels.has(control)) labels.set(control, []);
      labels.get(control).push(label);
    }
    return labels;
  }

  function labelsOf(element, visited) {
    const root = element.getRootNode();
    if (seen && !seen.labels.has(root)) seen.labels.set(root, labelsIn(root));
    const labels = seen ? seen.labels.get(root).get(element) : element.labels;
    if (!labels?.length) return '';
    const texts = [];
    visited.add(element);
    for (const label of labels) {
      if (!allowance.take()) break;
      const hidden = isHidden(label) || isUnseen(label);
      texts.push(written(() => writeName(label, { embedded: true, hidden }, visited)));
    }
    return texts.filter(Boolean).join(' ');
  }

  function childOf(element, tag) {
    for (let child = element.firstElementChild; child; child = child.nextElementSibling) {
      if (child.localName === tag) return child;
      if (!allowance.take()) return null;
    }
    return null;
  }

  function childText(element, tag, visited) {
    const child = childOf(element, tag);
    return child ? written(() => writeName(child, {}, visited)) : '';
  }

  function titleOf(svg) {
    const title = childOf(svg, 'title');
    return title ? read(title).text : '';
  }

  /** The names that HTML and SVG define, except by content. */
  function native(element, role, visited) {
    const attribute = (name) => said(element, name).trim();
    switch (element.localName) {
      case 'input': {
        const labels = labelsOf(element, visited);
        if (['submit', 'reset', 'button'].includes(element.type)) {
          const standard = { submit: 'Submit', reset: 'Reset' }[element.type] ?? '';
          return labels || callslipCutText(element.value, TEXT_CHARS).trim() || standard || attribute('title');
        }
        if (element.type === 'image') {
          return labels || attribute('alt') || attribute('title') || 'Submit';
        }
        if (element.type === 'file') return labels || attribute('title') || 'Choose File';
        return labels || attribute('title') || attribute('placeholder');
      }
      case 'textarea':
        return labelsOf(element, visited) || attribute('title') || attribute('placeholder');
      case 'select': case 'meter': case 'output': case 'progress':
        return labelsOf(element, visited) || attribute('title');
      case 'button': return labelsOf(element, visited);
      case 'fieldset': return childText(element, 'legend', visited) || attribute('title');
      case 'figure': return childText(element, 'figcaption', visited) || attribute('title');
      case 'table':
        return childText(element, 'caption', visited) || attribute('summary') || attribute('title');
      case 'img': case 'area': return attribute('alt') || attribute('title');
      case 'svg': return titleOf(element);
      case 'optgroup': return attribute('label');
      case 'iframe': case 'frame': return attribute('title') || attribute('name');
      default: return '';
    }
  }

  /** The name of an element with this role. */
  function of(element, role) {
    allowance = new Allowance();
    const visited = new Set([element]);
    const direct = referred(element) || clean(said(element, 'aria-label'))
      || clean(native(element, role, visited));
    if (direct) return direct;
    if (callslip.roles.NAMED_BY_CONTENT.has(role)) {
      const content = written(() => writeContent(element, { embedded: true }, visited));
      if (content) return content;
    }
    const attribute = (which) => clean(said(element, which));
    const takesText = ['textbox', 'searchbox', 'combobox'].includes(role);
    return attribute('title') || (takesText ? attribute('aria-placeholder') : '');
  }

  return { of, clean, isHidden, isUnseen, styleOf, withStyles };
})();
