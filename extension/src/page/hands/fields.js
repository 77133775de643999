/* global callslip, callslipCutText */
/** Runs in each frame of a page. Fills in fields of every kind, so that the page notices. */
callslip.fields = (() => {
  const { editing, focus, held, keyChoices, keyDefaults, mouse, roles, shadow, states, target, values } = callslip;
  const TICKS = ['checkbox', 'switch', 'radio', 'menuitemcheckbox', 'menuitemradio'];

  /** How much of the label of an option is reported, and of how many options. */
  const LABEL_CHARS = 80;
  const LABELS = 5;

  /** The decimal separator of the browser's locale. */
  const DECIMAL = new Intl.NumberFormat().format(1.5).charAt(1);

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  function failure(code, message, hint) {
    return new callslip.Failure({ code, message, hint, mayHaveExecuted: false });
  }

  function kindOf(element) {
    if (element instanceof HTMLSelectElement) return 'select';
    const role = roles.of(element);
    if (TICKS.includes(role) || element.hasAttribute('aria-pressed')) return 'tick';
    if (held.isForm(element)) return 'form';
    if (element.isContentEditable && !focus.isField(element)) return 'rich';
    return keyDefaults.isTextField(element) ? 'text' : undefined;
  }

  function field(key) {
    const element = target.element(key);
    return element instanceof HTMLLabelElement && element.control ? element.control : element;
  }

  /** The requested options of a list, by label or by value; throws if one does not exist. */
  function optionsOf(list, wanted, by, named) {
    if (wanted.length > 1 && !list.multiple) {
      throw failure('invalid_params', 'values: may name one option, as the element takes one');
    }
    const open = [...list.options].filter((each) => !each.disabled);
    const find = (name) => {
      if (by === 'value') return open.find(({ value }) => value === name);
      const label = (option) => normal(option.label || option.text);
      const exact = open.find((each) => label(each) === normal(name));
      if (exact || by === 'label') return exact;
      const lower = normal(name).toLowerCase();
      return open.find(({ value }) => value === name)
        ?? open.find((each) => label(each).toLowerCase() === lower);
    };
    return wanted.map((name) => {
      const option = find(String(name));
      if (option) return option;
      const text = ({ value, label }) => JSON.stringify(callslip.guard.cut(by === 'value' ? value : normal(label), LABEL_CHARS));
      const names = [...list.options].slice(0, named).map(text).join(', ');
      const more = list.options.length > named ? ', …' : '';
      throw failure('option_not_found', `No option of ${target.say(list)} is named ${name}.`,
        `There are: ${names}${more}. A disabled option cannot be chosen.`);
    });
  }

  function chooseOnly(list, options) {
    focus.give(list);
    for (const each of list.options) each.selected = options.includes(each);
    keyChoices.changed(list);
  }

  /** Chooses one option, as a click on it does. */
  function choose(option) {
    const list = option.closest('select');
    focus.give(list);
    if (list.multiple) option.selected = !option.selected;
    else option.selected = true;
    keyChoices.changed(list);
  }

  /** The action `select`: `wanted` is `{values}` or `{label}`. */
  function select(key, wanted, named) {
    const list = field(key);
    if (!(list instanceof HTMLSelectElement)) {
      throw failure('invalid_params', 'selector: must match a select element');
    }
    const asked = wanted.values ?? [wanted.label];
    const options = optionsOf(list, asked, wanted.values ? 'value' : 'label', named);
    callslip.scrolling.intoViewIfNeeded(list);
    chooseOnly(list, options);
    if (states.isSecret(list)) return { said: target.say(list), value_left_out: true };
    const chosen = [...list.selectedOptions];
    const { clean } = callslip.names;
    const { cut, inner } = callslip.guard;
    const labels = chosen.slice(0, LABELS).map(({ label }) => inner(cut(clean(label), LABEL_CHARS))).join(', ');
    return {
      said: target.say(list),
      values: chosen.map(({ value }) => value),
      labels: chosen.length > LABELS ? `${labels} and ${chosen.length - LABELS} more` : labels,
    };
  }

  /** The radio button of the same group whose name or value is the text, or the element itself. */
  function tickOf(element, value) {
    if (typeof value !== 'string' || ['true', 'false'].includes(value)) return element;
    const role = roles.of(element);
    const group = element instanceof HTMLInputElement && element.name
      ? [...element.getRootNode().querySelectorAll('input')]
        .filter((each) => each.name === element.name && each.form === element.form)
      : [...(element.closest('[role=radiogroup]')?.querySelectorAll('[role=radio]') ?? [element])];
    const name = normal(value).toLowerCase();
    const found = group.find((each) => each.value === value)
      ?? group.find((each) => normal(callslip.names.of(each, role)).toLowerCase() === name);
    if (found) return found;
    const names = group.map((each) => JSON.stringify(callslip.names.of(each, role))).join(', ');
    throw failure('option_not_found', `${target.say(element)} has no choice named ${value}.`, `There are: ${names}.`);
  }

  function isTicked(element) {
    if (element instanceof HTMLInputElement) return element.checked;
    return ['aria-checked', 'aria-pressed'].some((name) => element.getAttribute(name) === 'true');
  }

  function disabled(element) {
    const reason = target.disabledBecause(element);
    if (reason) throw failure('element_disabled', `${target.say(element)} is disabled: ${reason}.`);
  }

  /** Throws if the field cannot take the value; returns the description of the field. It changes nothing. */
  function check(key, value, named) {
    const element = field(key);
    const said = target.say(element);
    const kind = kindOf(element);
    const isText = ['string', 'number'].includes(typeof value);
    const wrong = (what) => failure('invalid_params', `fields: ${said} takes ${what}, not ${held.given(element, value)}.${['text', 'form'].includes(kind) ? ` ${held.holding(element)}` : ''}`);
    disabled(element);
    if (!kind) {
      const hint = element.type === 'file' ? 'upload puts files into it.' : 'Click it, and then what it shows.';
      throw failure('not_editable', `${said} cannot be filled in.`, hint);
    }
    if (element.readOnly) throw failure('not_editable', `${said} cannot be edited: it is read-only.`);
    if (kind === 'select') {
      const list = Array.isArray(value) ? value : [value];
      if (typeof value === 'boolean') throw wrong('the name of an option');
      optionsOf(element, list, 'either', named);
    } else if (kind === 'tick') {
      if (typeof value !== 'boolean' && typeof value !== 'string') throw wrong('true or false');
      disabled(tickOf(element, value));
    } else if (!isText) {
      throw wrong('a text');
    } else if (kind !== 'rich') {
      const wanted = held.wish(element, String(value));
      if (wanted) throw wrong(wanted);
    }
    return { said };
  }

  function tick(element, value) {
    const one = tickOf(element, value);
    const wanted = one !== element || (value !== false && value !== 'false');
    if (isTicked(one) !== wanted) {
      const shown = target.hiddenBecause(one) ? [...one.labels ?? []].find((label) => !target.hiddenBecause(label)) : one;
      if (shown) {
        const { x, y } = callslip.hitTest.reach(shown, null);
        mouse.click(target.keep(shown), { x, y });
      } else {
        one.click();
      }
    }
    if (one instanceof HTMLInputElement && one.checked !== wanted) {
      const message = `${target.say(one)} stays ${one.checked ? 'checked' : 'unchecked'}: the page does not let it change.`;
      throw new callslip.Failure({ code: 'execution_failed', message, mayHaveExecuted: true });
    }
  }

  /** Puts a value into a field that is not filled by typing. */
  function put(element, text) {
    const said = target.say(element);
    focus.give(element);
    mustBeEnabled(element, said);
    held.ready(element);
    if (element.value === text) return;
    values.set(element, text);
    held.wrote(element);
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  }

  /** As much of a text as fits into the field when it replaces `replaced` characters. */
  function fitting(element, text, replaced) {
    // A number field may have that attribute, but there it has no meaning.
    if (element.maxLength < 0 || element.type === 'number') return text;
    const room = Math.max(0, element.maxLength - element.value.length + replaced);
    return callslipCutText(text, room);
  }

  /**
   * Inserts a text at the selection, as typing does: with trusted events, and it can be undone; an empty
   * text erases the selection. The page may prevent it, or do it itself. Throws if the focus has moved
   * elsewhere, because the browser would write there. `other` has the members of the event that the page
   * gets instead of the browser's, because the text was not typed; the page has been asked then. Returns
   * whether the page has left it to the browser.
   */
  function insert(element, text, other) {
    callslip.keys.mustHaveFocus(element);
    const isErasing = text === '';
    if (isErasing && keyDefaults.isEmptySelection(element)) return true;
    const before = held.textOf(element);
    const { selectionStart = null, selectionEnd } = element;
    const inputType = isErasing ? 'deleteContentBackward' : 'insertText';
    const isByKey = isErasing && !other && kindOf(element) === 'rich';
    if (!other && !isByKey) {
      if (!editing.ask(inputType, isErasing ? {} : { text, data: text })) {
        if (held.textOf(element) !== before) held.wrote(element);
        return false;
      }
      callslip.keys.mustHaveFocus(element);
    }
    // The browser fires an event for the insertion even if the text does not change, or only part of it
    // fits.
    let isTold = false;
    let { data } = other ?? {};
    const hear = (event) => {
      if (!event.isTrusted || !shadow.contains(event.composedPath()[0], element)) return;
      isTold = true;
      held.wrote(element);
      if (!other) return;
      event.stopImmediatePropagation();
      if (data && selectionStart === null) ({ data } = event);
    };
    addEventListener('input', hear, { capture: true });
    if (isByKey) callslip.keys.erase(element);
    else editing.run(inputType, text);
    removeEventListener('input', hear, { capture: true });
    if (isTold) {
      // A field may have taken only the beginning of the text.
      if (data && selectionStart !== null) data = element.value.slice(selectionStart, element.selectionStart);
      if (other) element.dispatchEvent(new InputEvent('input', { ...other, data }));
    } else if (held.textOf(element) !== before) {
      held.wrote(element);
    } else if (focus.isField(element) && keyDefaults.isEditable(element)) {
      insertBySetter(element, text, [selectionStart, selectionEnd], other);
    }
    return true;
  }

  /** The same, if the browser does not do it. */
  function insertBySetter(element, text, [selectionStart, selectionEnd], { inputType = 'insertText' } = {}) {
    const before = element.value;
    const all = selectionStart === null ? [0, before.length] : [selectionStart, selectionEnd];
    const data = fitting(element, text, all[1] - all[0]);
    const next = before.slice(0, all[0]) + data + before.slice(all[1]);
    if (next === before || (next !== '' && held.sanitized(element, next) === '')) return;
    values.set(element, next);
    held.wrote(element);
    const typed = { bubbles: true, composed: true, inputType, data };
    element.dispatchEvent(new InputEvent('input', typed));
  }

  function selectAll(element) {
    if ('select' in element) element.select();
    else getSelection().selectAllChildren(element);
  }

  /**
   * Fills in a field. If the answer has `isOpen`, `outcome` must determine whether the field holds the
   * value.
   */
  async function write(key, value, named) {
    const element = field(key);
    callslip.scrolling.intoViewIfNeeded(element);
    const said = target.say(element);
    const kind = kindOf(element);
    const turn = callslip.turns.begin(Infinity, () => `${said} had not been filled in`);
    const isOpen = !['select', 'tick'].includes(kind);
    const text = String(value).replace(/\r\n?/g, '\n');
    if (isOpen) held.begin(element, text);
    if (kind === 'select') chooseOnly(element, optionsOf(element, [value].flat(), 'either', named));
    else if (kind === 'tick') tick(element, value);
    else if (kind === 'form') put(element, text);
    else {
      const step = (act, more) => turn.step(element, () => {
        mustBeEnabled(element, said);
        callslip.keys.mustHaveFocus(element);
        act(element, text);
      }, more);
      callslip.keys.giveFocus(element);
      await step(selectAll);
      const content = () => [held.textOf(element), element.selectionStart, element.selectionEnd].join();
      const before = content();
      let isLeft;
      await step(() => {
        held.ready(element);
        isLeft = insert(element, text);
      }, { isLast: true });
      if (!isLeft && kind === 'text') {
        await callslip.turns.settled();
        // A page that has refused the text may take its characters, as keys write them.
        const characters = content() === before ? text : '';
        for (const character of characters) await step(() => insert(element, character));
      }
    }
    held.look(element);
    return { said, isOpen };
  }

  function mustBeEnabled(element, said) {
    const why = target.disabledBecause(element);
    if (why) throw new callslip.Failure({
      code: 'element_disabled',
      message: `${said} took the focus, and is disabled since: ${why}. Nothing was written into it.`,
      hint: 'Look at what the page shows now: analyze page.',
      mayHaveExecuted: true,
    });
  }

  /**
   * Begins to type a text; throws if the type of the field makes that impossible. True if the text is
   * already there: a field such as a date is not typed key by key.
   */
  function beginTyped(element, text, clear) {
    held.begin(element);
    if (!focus.isField(element) || !keyDefaults.isEditable(element)) return false;
    const before = clear ? '' : element.value;
    const isForm = kindOf(element) === 'form';
    const value = text !== '' && !held.wish(element, text) ? text : before + text;
    let wanted = isForm ? held.wish(element, value) : undefined;
    if (element.type === 'number') {
      // The typed text may be the beginning or the end of a number, and Enter after it is not part of it.
      const part = text.split(/[\n\t]/)[0].trim().replaceAll(DECIMAL, '.');
      wanted = held.wish(element, `${part}0`) && held.wish(element, `${before}${part}0`);
    }
    if (wanted) {
      throw failure('invalid_params', `text: ${target.say(element)} takes ${wanted}, not ${held.given(element, text)}. ${held.holding(element)}`);
    }
    if (isForm) put(element, value);
    return isForm;
  }

  return { beginTyped, check, choose, insert, kindOf, select, selectAll, write };
})();
