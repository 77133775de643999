/* global callslip */
/** The roles of elements: those that HTML defines, or those that the page sets. */
callslip.roles = (() => {
  const INPUTS = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
    radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file',
    password: 'password', date: 'date', 'datetime-local': 'datetime', month: 'month', week: 'week',
    time: 'time', color: 'color',
  };

  const TAGS = {
    article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button',
    canvas: 'canvas', caption: 'caption', datalist: 'listbox', details: 'group', dialog: 'dialog',
    fieldset: 'group', figure: 'figure', form: 'form', h1: 'heading', h2: 'heading', h3: 'heading',
    h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', iframe: 'iframe', frame: 'iframe',
    li: 'listitem', main: 'main', menu: 'list', meter: 'meter', nav: 'navigation', ol: 'list',
    optgroup: 'group', option: 'option', output: 'status', progress: 'progressbar',
    search: 'search', summary: 'button', table: 'table', tbody: 'rowgroup', textarea: 'textbox',
    tfoot: 'rowgroup', th: 'columnheader', thead: 'rowgroup', tr: 'row', ul: 'list', video: 'video',
    audio: 'audio', dd: 'definition', dt: 'term',
  };

  /** Roles that can be acted on, and therefore get a ref. */
  const ACTED = new Set([
    'button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'checkbox', 'radio',
    'switch', 'slider', 'spinbutton', 'scrollbar', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
    'tab', 'treeitem', 'file', 'password', 'date', 'datetime', 'month', 'week', 'time', 'color',
    'iframe', 'canvas', 'video', 'audio', 'click', 'drag', 'graphic',
  ]);

  /** Roles that are named by their content. */
  const NAMED_BY_CONTENT = new Set([
    'button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem',
    'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab',
    'tooltip', 'treeitem', 'click', 'drag',
  ]);

  const LANDMARKS = {
    banner: 'header', navigation: 'nav', main: 'main', contentinfo: 'footer',
    complementary: 'aside', search: 'search', form: 'form', region: 'region', dialog: 'dialog',
    alertdialog: 'dialog',
  };

  /** Other roles that have a line of their own around their content. */
  const GROUPS = new Set([
    'group', 'radiogroup', 'toolbar', 'menu', 'menubar', 'tablist', 'tabpanel', 'tree', 'listbox',
    'feed', 'article', 'table', 'grid', 'treegrid',
  ]);

  const KNOWN = new Set([
    ...ACTED, ...NAMED_BY_CONTENT, ...Object.keys(LANDMARKS), ...GROUPS, 'alert', 'status', 'log',
    'list', 'listitem', 'rowgroup', 'img', 'none', 'presentation', 'progressbar', 'meter', 'timer',
    'separator', 'figure', 'definition', 'term', 'note', 'math', 'marquee', 'document', 'generic',
    'application', 'blockquote', 'caption', 'paragraph', 'tooltip', 'directory',
  ]);

  const SECTIONS = 'article, aside, main, nav, section, [role=article], [role=complementary], '
    + '[role=main], [role=navigation], [role=region]';

  function isEditable(element) {
    if (!element.isContentEditable) return false;
    return !callslip.shadow.parentOf(element)?.isContentEditable;
  }

  function ofInput(element) {
    if (element.type === 'hidden') return null;
    const takesText = ['text', 'search', 'email', 'tel', 'url'].includes(element.type);
    if (element.list && takesText) return 'combobox';
    return INPUTS[element.type] ?? 'textbox';
  }

  function isFocusable(element) {
    return element.hasAttribute('tabindex')
      || element.matches('a[href], button, input, select, textarea, summary');
  }

  function implicit(element) {
    const tag = element.localName;
    switch (tag) {
      case 'a': case 'area': return element.hasAttribute('href') ? 'link' : null;
      case 'input': return ofInput(element);
      case 'select': return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
      case 'img': return element.getAttribute('alt') === '' && !element.title ? null : 'img';
      case 'svg': return 'img';
      case 'header': return element.closest(SECTIONS) ? null : 'banner';
      case 'footer': return element.closest(SECTIONS) ? null : 'contentinfo';
      case 'section': return hasLabel(element) ? 'region' : null;
      case 'td': return element.closest('[role=grid], [role=treegrid]') ? 'gridcell' : 'cell';
      case 'th': return element.scope === 'row' ? 'rowheader' : 'columnheader';
      case 'summary': return element.parentElement?.localName === 'details' ? 'button' : null;
      case 'object': return element.contentWindow ? 'iframe' : null;
      case 'embed': return 'iframe';
      default: return TAGS[tag] ?? null;
    }
  }

  function hasLabel(element) {
    const names = ['aria-label', 'aria-labelledby', 'title'];
    return names.some((name) => element.getAttribute(name)?.trim());
  }

  /** The role that the page itself sets, or null. */
  function explicit(element) {
    if (!element.hasAttributes()) return null;
    const given = element.getAttribute('role');
    if (!given) return null;
    return given.trim().toLowerCase().split(/\s+/).find((role) => KNOWN.has(role)) ?? null;
  }

  /** The role of an element, or null if it has no meaningful one. */
  function of(element) {
    const given = explicit(element);
    if (given === 'none' || given === 'presentation' || given === 'generic') {
      return isFocusable(element) ? implicit(element) : null;
    }
    if (given) return given;
    const own = implicit(element);
    if (own === null && isEditable(element)) return 'textbox';
    return own;
  }

  return { of, ACTED, NAMED_BY_CONTENT, LANDMARKS, GROUPS, KNOWN, isEditable };
})();
