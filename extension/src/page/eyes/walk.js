/* global callslip, callslipCutText */
/** Walks through this frame as rendered, across shadow trees, and writes its outline. */
callslip.walk = (() => {
  /** Scripts can nest elements deeper than a parser does, and deeper than the stack allows. */
  const DEEPEST = 700;
  const { HEADING_CHARS, NAMING, ROW_CHARS, ROW_NODES } = callslip.bounds;
  const { read } = callslip.reading;
  const MANY_CHILDREN = 50;
  const GRAPHIC_LEAST = 48;
  const HEADED_CHARS = 200;
  /** A longer text would be truncated as a name. */
  const NAME_BESIDE_CHARS = 100;
  const IN_ROW = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);
  const BREAKS_ROW = 'table, ul, ol, h1, h2, h3, h4, h5, h6, iframe, textarea, [role=list], '
    + '[role=grid]';
  const LISTS = new Set(['list', 'table', 'grid', 'treegrid', 'feed', 'listbox', 'tree', 'menu',
    'radiogroup']);
  const { ITEMS } = callslip.acts;

  /** Walks the rendered tree, and writes its lines. */
  class Walk extends callslip.acts.Acts {
    children(element, context) {
      callslip.shadow.eachChild(element, (child) => {
        if (this.lines.isFull()) return true;
        this.visit(child, context);
        return false;
      });
    }

    visit(node, context) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (!context.mute && !context.unseen) this.lines.text(node.data, context.element);
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      const { names } = callslip;
      if (names.isHidden(node) || isFolded(node)) return;
      if (node.localName === 'br') {
        this.lines.text(' ');
        return;
      }
      const wanted = this.roots.has(node);
      if (wanted) this.lines.enter();
      this.element(node, context);
      if (wanted) this.lines.leave();
    }

    element(element, outer) {
      if (outer.level > DEEPEST) return;
      const style = callslip.names.styleOf(element);
      const inline = style.display.startsWith('inline') || style.display === 'contents';
      const context = {
        element: inline ? outer.element : element,
        unseen: style.visibility !== 'visible',
        cursor: style.cursor,
        mute: outer.mute,
        inner: outer.inner,
        named: outer.named,
        level: outer.level + 1,
      };
      if (['legend', 'caption'].includes(element.localName) && element.parentElement === outer.named) {
        context.mute = true;
      }
      if (this.view !== 'text' && context.cursor === outer.cursor && this.isNameBeside(element)) context.mute = true;
      if (!inline) this.separate();
      else if (style.display !== 'inline' && style.display !== 'contents') this.space(context);
      this.asRole(element, callslip.roles.of(element), context, outer);
      if (!inline) this.separate();
      else if (style.display !== 'inline' && style.display !== 'contents') this.space(context);
    }

    /** True for a text that is already shown as the name of an element with a ref right next to it. */
    isNameBeside(element) {
      const { id } = element;
      if (!id || element.childElementCount > 0 || this.roots.has(element)) return false;
      if (callslip.roles.of(element) !== null) return false;
      if (!element.getAttributeNames().every((name) => name === 'id' || name === 'class')) return false;
      if (element.textContent.length > NAME_BESIDE_CHARS) return false;
      const { previousElementSibling: before, nextElementSibling: after } = element;
      return [before, after].some((each) => each
        && each.getAttribute('aria-labelledby')?.split(/\s+/, NAMING).includes(id)
        && this.isToldWith(each, element));
    }

    /** True if the shown name of `each` contains all words of the element. */
    isToldWith(each, element) {
      const { names, roles } = callslip;
      const role = roles.of(each);
      // A label is shown as the name of its field.
      return roles.ACTED.has(role) && each.localName !== 'label'
        && !names.isHidden(each) && !names.isUnseen(each)
        && element.getRootNode().getElementById?.(element.id) === element
        && this.name(each, role).includes(names.clean(element.textContent));
    }

    separate() {
      if (this.lines.inRow()) this.lines.text(' ');
      else this.lines.flush();
    }

    space({ mute }) {
      if (!mute) this.lines.text(' ');
    }

    asRole(element, role, context, outer) {
      const { roles } = callslip;
      if (context.unseen) return this.children(element, context);
      if (element.localName === 'label') return this.label(element, context, outer);
      if (element.localName === 'svg') return this.graphic(element, context);
      const acted = roles.ACTED.has(role) ? role
        : role !== 'row' && this.handled(element, role, context, outer);
      if (acted === 'listbox' && element.localName !== 'select') {
        return this.group(element, role, context);
      }
      if (acted) {
        this.act(element, acted, context);
        return IN_ROW.has(role) ? this.lines.endCell() : undefined;
      }
      if (context.inner) return this.children(element, context);
      if (role === 'img') return this.image(element, role);
      if (roles.LANDMARKS[role]) return this.landmark(element, role, context);
      if (role === 'heading' && !this.lines.inRow()) return this.heading(element, context);
      if (role === 'row' && this.isOneLine(element)) return this.row(element, context, outer);
      if (IN_ROW.has(role) && this.lines.inRow()) {
        this.children(element, context);
        return this.lines.endCell();
      }
      if (roles.GROUPS.has(role) && role !== 'article') return this.group(element, role, context);
      if (role === 'listitem') return this.item(element, context);
      if (['alert', 'status', 'log', 'progressbar', 'meter', 'tooltip'].includes(role)) {
        return this.note(element, role, context);
      }
      return this.list(element, role, context, () => this.children(element, context));
    }

    /** Runs `work`, with the items of the element counted if it is a list of any kind. */
    list(element, role, context, work) {
      const isItem = ITEMS.has(role);
      const many = LISTS.has(role) || role === 'rowgroup'
        || (element.childElementCount > MANY_CHILDREN && !this.lines.inRow());
      if (isItem) this.lines.nextItem();
      if (!many || this.lines.inRow()) return work();
      this.lines.openList();
      if (!LISTS.has(role) && role !== 'rowgroup') {
        for (const child of callslip.shadow.childrenOf(element)) {
          if (this.lines.isFull()) break;
          if (child.nodeType === Node.ELEMENT_NODE) this.lines.nextItem();
          this.visit(child, context);
        }
      } else {
        work();
      }
      return this.lines.closeList();
    }

    landmark(element, role, context) {
      const by = element.getAttribute('aria-labelledby');
      const label = by && element.getRootNode().getElementById?.(by);
      const name = label && element.contains(label) ? '' : this.name(element, role);
      const word = callslip.roles.LANDMARKS[role];
      const kind = ['main', 'dialog', 'alertdialog'].includes(role) ? 'main' : 'landmark';
      this.within.push(`${role} ${name || this.name(element, role)}`);
      // A region with a heading is named by that.
      this.holder(element, role === 'region' && !name ? null : word, name, kind, context, role);
      this.within.pop();
    }

    group(element, role, context) {
      const name = this.name(element, role);
      // A group without a name only shows where its content ends.
      const named = name || !['group', 'radiogroup', 'tabpanel', 'toolbar'].includes(role);
      this.holder(element, named ? role : null, name, 'group', context, role);
    }

    holder(element, word, name, kind, context, role) {
      if (this.lines.inRow()) return this.children(element, context);
      const text = word && `${word}${name ? ` ${callslip.guard.inner(name)}` : ''}`;
      this.lines.open(text, kind, element);
      if (text) this.places.push(text);
      const inner = this.withoutLabel(element, context);
      this.list(element, role, context, () => this.children(element, inner));
      if (text) this.places.pop();
      return this.lines.close();
    }

    /** The legend and the caption are the name of their container, and are not repeated. */
    withoutLabel(element, context) {
      const hasLabel = ['fieldset', 'table'].includes(element.localName);
      return hasLabel ? { ...context, named: element } : context;
    }

    heading(element, context) {
      const said = Number(element.getAttribute('aria-level'));
      const own = Number(/^h([1-6])$/.exec(element.localName)?.[1] ?? 2);
      const level = said >= 1 && said <= 9 ? said : own;
      const { text, whole } = read(element, HEADING_CHARS);
      this.headed = callslipCutText(text, HEADED_CHARS);
      // A text this long is not a heading.
      if (!whole) return this.children(element, context);
      return this.lines.heading(level, element, () => this.children(element, context));
    }

    isOneLine(row) {
      if (this.lines.inRow() || !read(row, ROW_CHARS, ROW_NODES).whole) return false;
      return row.querySelector(BREAKS_ROW) === null;
    }

    row(element, context, outer) {
      this.lines.nextItem();
      const act = this.rowAct(element, context, outer);
      this.lines.row(element, () => {
        if (act) {
          this.put(act);
          this.lines.endCell();
        }
        this.children(element, context);
      });
    }

    item(element, context) {
      if (this.lines.inRow()) return this.children(element, context);
      this.lines.nextItem();
      this.lines.open(null, 'item', element);
      this.children(element, context);
      return this.lines.close();
    }

    image(element, role) {
      const name = this.name(element, role);
      if (!name || this.view === 'text') return;
      this.put({ act: `img ${callslip.guard.inner(name)}`, refs: [], element, inline: true });
    }

    graphic(element, context) {
      const name = this.name(element, 'img');
      const { width, height } = element.getBoundingClientRect();
      const large = width >= GRAPHIC_LEAST && height >= GRAPHIC_LEAST;
      if (large && !context.inner && element.childElementCount > 0) {
        this.act(element, 'graphic', context, ` ${Math.round(width)}×${Math.round(height)}`);
      } else if (!context.inner) {
        this.image(element, 'img');
      }
    }

    /** Status messages and progress. */
    note(element, role, context) {
      const isBar = role === 'progressbar' || role === 'meter';
      if (isBar) {
        const name = this.name(element, role);
        const value = callslip.states.valueOf(element, role, name);
        const said = name ? ` ${callslip.guard.inner(name)}` : '';
        return this.put({ act: `${role}${said}${value}`, refs: [], element });
      }
      if (this.lines.inRow()) return this.children(element, context);
      this.lines.open(role, 'note', element);
      this.children(element, context);
      return this.lines.close();
    }
  }

  /** True for the content that a closed `details` hides. */
  function isFolded(element) {
    const parent = element.parentElement;
    if (parent?.localName !== 'details' || parent.open) return false;
    return element.localName !== 'summary' || parent.querySelector(':scope > summary') !== element;
  }

  return { Walk, MANY_CHILDREN };
})();
