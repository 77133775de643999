/* global callslip, callslipCutText */
/** The part of the walk that writes the elements that can be acted on, and gives them refs. */
callslip.acts = (() => {
  const { read, attribute } = callslip.reading;
  const { PLACES, TEXT_CHARS } = callslip.bounds;
  const NAME_CHARS = 200;
  const CLICK_CHARS = 100;
  const URL_CHARS = 200;
  const EDITOR_CHARS = 120;
  const ITEMS = new Set(['listitem', 'row', 'option', 'article', 'treeitem', 'menuitem', 'radio']);

  const MOVED = new Set(['move', 'grab', '-webkit-grab', 'all-scroll']);
  const HOLDERS = new Set(['table', 'list', 'rowgroup', 'grid', 'treegrid', 'menu', 'menubar',
    'tablist', 'tree', 'radiogroup']);

  /** Elements that can be acted on; an element that contains one is not named by all of its content. */
  const ACTS = 'a[href], button, input, select, textarea, [role=button], [role=link], [role][tabindex], '
    + '[tabindex]:not([tabindex^="-"])';
  const BLOCKS = 'div, li, p + p, a, table, pre';

  /** Writes to `lines`; a subclass defines `children(element, context)`. */
  class Acts {
    constructor({ view = 'all', roots = new Set() }) {
      this.view = view;
      this.roots = roots;
      this.aboveRoots = allAbove(roots);
      this.lines = callslip.lines.create({ view });
      this.places = new Places();
      /** Landmarks with their names, even if those are shown by a heading, and the last heading. */
      this.within = new Places();
      this.headed = '';
      this.owners = [];
    }

    name(element, role) {
      return callslip.guard.cut(callslip.names.of(element, role), NAME_CHARS);
    }

    /** A label is shown with its field, unless that is not visible: then the label represents it. */
    label(element, context, outer) {
      const field = element.control;
      if (!field) return this.list(element, null, context, () => this.children(element, context));
      const { isHidden, isUnseen } = callslip.names;
      const box = () => field.getBoundingClientRect();
      const gone = isHidden(field) || isUnseen(field) || hiddenAbove(field, element)
        || (box().width === 0 && box().height === 0);
      if (gone && ['checkbox', 'radio', 'file'].includes(field.type)) {
        return this.act(element, callslip.roles.of(field), context, '', field);
      }
      if (gone) {
        if (this.handled(element, null, context, outer)) return this.act(element, 'click', context);
        return this.children(element, context);
      }
      return this.children(element, { ...context, mute: true, cursor: 'pointer' });
    }

    /** `click` or `drag` for an element that seems to be made for that, without a role that states it. */
    handled(element, role, context, outer) {
      const { cursor: around } = outer;
      if (context.cursor === around && !element.hasAttributes() && !HOLDERS.has(role)) return null;
      if (context.mute && !context.inner && element.localName !== 'label') return null;
      if (holdsOthers(element, role, context.cursor)) {
        // A hand cursor over a whole container refers to each item in it; the same is true of a list in an
        // element that is clicked to open it.
        context.cursor = context.cursor === 'pointer' && HOLDERS.has(role) ? 'auto' : around;
        return null;
      }
      if (element.draggable && element.localName !== 'img') return 'drag';
      if (context.cursor !== around && MOVED.has(context.cursor)) return 'drag';
      if (context.inner) return null;
      if (element.hasAttribute('onclick') || element.hasAttribute('onmousedown')) return 'click';
      if (context.cursor === 'pointer' && around !== 'pointer') return 'click';
      if (!element.hasAttribute('tabindex')) return null;
      return role === 'gridcell' || (element.tabIndex >= 0 && role === null) ? 'click' : null;
    }

    /** The act that precedes the cells of a row that can itself be clicked. */
    rowAct(element, { cursor }, outer) {
      const isClick = element.hasAttribute('onclick')
        || (cursor === 'pointer' && outer.cursor !== 'pointer');
      if (!isClick || this.view === 'text') return null;
      const name = callslip.guard.cut(callslip.names.clean(read(element).text), CLICK_CHARS);
      const ref = this.refOf(element, { role: 'click', name });
      return { act: `${ref} click`, refs: [ref], element, inside: this.marksWithin(element) };
    }

    act(element, role, context, extra = '', field = element) {
      const { states, guard } = callslip;
      const isLoose = role === 'click' || role === 'drag';
      const whole = isLoose ? callslip.names.of(element, role) : this.name(field, role);
      const holdsActs = isLoose && (whole.length > CLICK_CHARS || this.actsWithin(element));
      if (isLoose && !whole && !holdsActs && !this.hasSize(element)) {
        return this.children(element, context);
      }
      const name = holdsActs ? clickName(element) : whole;
      const words = states.of(field, role);
      const isDocument = role === 'textbox' && isLongEditor(element);
      const valueOf = () => states.valueOf(field, role, name, this.roots.has(element));
      const value = isDocument ? '' : extra || guard.inner(valueOf());
      const said = name ? ` ${guard.inner(name)}` : '';
      const state = words.map((word) => ` [${word}]`).join('');
      const text = `${role}${said}${state}${value}${this.urlOf(element)}`;
      const ref = this.refOf(element, { role, name });
      const part = {
        act: this.view === 'text' ? `${name}${value}` : `${ref} ${text}`,
        refs: [ref],
        element,
        inline: (role === 'link' || isLoose) && !holdsActs,
        nested: context.inner ? 1 : 0,
        inside: this.marksWithin(element),
      };
      if (this.view === 'text') return this.asText(part, element, role, context, holdsActs);
      if (role === 'iframe') {
        return this.put({ ...part, frame: this.frameOf(element), inline: false });
      }
      if (ITEMS.has(role)) this.lines.nextItem();
      this.put(part);
      if (isDocument) return this.under(element, context);
      if (element.localName === 'select' || element.isContentEditable) return undefined;
      const nested = { ...context, cursor: callslip.names.styleOf(element).cursor };
      if (holdsActs) return this.under(element, nested);
      if (['graphic', 'video', 'audio', 'canvas'].includes(role)) {
        return role === 'graphic' ? this.children(element, { ...nested, element }) : undefined;
      }
      if (element.childElementCount === 0 && !callslip.shadow.rootOf(element)) return undefined;
      return this.children(element, { ...nested, mute: true, inner: true });
    }

    under(element, context) {
      if (this.lines.inRow()) return this.children(element, context);
      this.lines.open(null, 'under', element);
      this.children(element, context);
      return this.lines.close();
    }

    frameOf(element) {
      this.owners.push(element);
      return callslip.frame_path.keyOf(element);
    }

    /** For a view without refs: links are words among others, and fields have lines of their own. */
    asText({ act }, element, role, context, holdsActs) {
      if (holdsActs || role === 'graphic') return this.children(element, context);
      if (role === 'iframe') {
        return this.put({ act: '', refs: [], element, frame: this.frameOf(element) });
      }
      const isText = role === 'link' && read(element).text.trim() !== '';
      if (isText || (role === 'textbox' && isLongEditor(element))) {
        return this.children(element, context);
      }
      if (role === 'link' || this.lines.inRow()) return this.lines.text(` ${act} `, element);
      return act && this.put({ act: callslip.guard.start(act), refs: [], element });
    }

    put(part) {
      this.lines.act(part);
    }

    /**
     * The text of a ref, or a placeholder for one without a number: a mark that the page's own text cannot
     * contain.
     */
    refOf(element, { role, name }) {
      const { refs } = callslip;
      const description = {
        role, name, landmark: this.places.text, within: this.within.text, heading: this.headed,
      };
      const number = refs.of(element);
      if (number === 0) return `\u0001${refs.enqueue(element, description)}\u0002`;
      refs.remember(number, element, description);
      return `e${number}`;
    }

    urlOf(element) {
      if (this.view !== 'urls') return '';
      const given = element.getAttribute('href')?.length ?? 0;
      // A relative address, when resolved, can be as long as that of its page.
      if (given + document.baseURI.length > callslip.bounds.URL_CHARS * 2) return given ? ' → …' : '';
      if (!element.href?.startsWith?.('http')) return '';
      const { origin, pathname, search, hash } = new URL(element.href);
      // If a link is among words, a bracket ends it.
      const rest = `${pathname}${search}${hash}`.replaceAll(']', '%5D');
      const shown = origin === location.origin ? rest : origin + rest;
      return ` → ${callslip.guard.cut(shown, URL_CHARS)}`;
    }

    actsWithin(element) {
      return element.querySelector(ACTS) !== null;
    }

    hasSize(element) {
      const { width, height } = element.getBoundingClientRect();
      return width > 4 && height > 4;
    }

    marksWithin(element) {
      return this.aboveRoots.has(element);
    }
  }

  /**
   * The texts of the containers, the innermost last; `text` is the same string for everything in one
   * container.
   */
  class Places {
    list = [];
    text = '';

    push(word) {
      this.list.push(word);
      this.text = this.list.slice(-PLACES).join(' / ');
    }

    pop() {
      this.list.pop();
      this.text = this.list.slice(-PLACES).join(' / ');
    }
  }

  /** All elements that are one of the roots or contain one, in any shadow tree. */
  function allAbove(roots) {
    const above = new Set();
    for (const root of roots) {
      for (let at = root; at && !above.has(at); at = callslip.shadow.parentOf(at)) above.add(at);
    }
    return above;
  }

  /** True for a container of items that can each be clicked, rather than one clickable element. */
  function holdsOthers(element, role, cursor) {
    if (element === document.body || element === document.documentElement) return true;
    if (role && (callslip.roles.LANDMARKS[role] || HOLDERS.has(role))) return true;
    if (cursor !== 'pointer' || element.hasAttribute('onclick')) return false;
    if (element.childElementCount < 3) return false;
    const [first, ...others] = element.children;
    return others.every(({ localName }) => localName === first.localName)
      && callslip.names.styleOf(first).display !== 'inline';
  }

  /** True for an editor that contains more than a short value: its content is shown like other text. */
  function isLongEditor(element) {
    return element.isContentEditable
      && (read(element, TEXT_CHARS).text.length > EDITOR_CHARS || element.querySelector(BLOCKS) !== null);
  }

  /** True if an element between the field and the label, or above the field, is not shown. */
  function hiddenAbove(field, label) {
    const { parentOf } = callslip.shadow;
    for (let at = parentOf(field); at && at !== label; at = parentOf(at)) {
      if (callslip.names.isHidden(at)) return true;
    }
    return false;
  }

  /** The label of a container, not its whole content. */
  function clickName(element) {
    const which = element.hasAttribute('aria-label') ? 'aria-label' : 'title';
    return callslipCutText(callslip.names.clean(attribute(element, which)), NAME_CHARS);
  }

  return { Acts, ITEMS, NAME_CHARS };
})();
