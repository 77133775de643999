/* global callslip, callslipCutText */
/** Runs in each frame of a page. Fills in fields of every kind, so that the page notices. */
callslip.fields = (() => {
  const { focus, keyChoices, keyDefaults, mouse, roles, states, target, values } = callslip;
  const TICKS = ['checkbox', 'switch', 'radio', 'menuitemcheckbox', 'menuitemradio'];

  /** Kinds of input that take a text of a certain form, with an example of it. */
  const FORMS = {
    date: '2026-11-24', time: '09:30', month: '2026-11', week: '2026-W48', color: '#1a2b3c',
    'datetime-local': '2026-11-24T09:30', range: 'a number',
  };

  /** How much of the label of an option is told, and how many of several. */
  const LABEL_CHARS = 80;
  const LABELS = 5;

  /** How much of a value is told, and of what a field says of itself. */
  const VALUE_CHARS = 80;
  const WISHES = ['type', 'inputmode', 'pattern', 'min', 'max', 'step', 'maxlength', 'placeholder', 'title'];

  /**
   * What is being written: `{element, before, wanted, typed, ours, last, wasIn, wasEmptied}`. `before` is
   * what the element held, `ours` what we made of that: undefined once the page has made something else of it.
   * `typed` is what was added, where it was typed.
   */
  let writing;

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  function failure(code, message, hint) {
    return new callslip.Failure({ code, message, hint, mayHaveExecuted: false });
  }

  function kindOf(element) {
    if (element instanceof HTMLSelectElement) return 'select';
    const role = roles.of(element);
    if (TICKS.includes(role) || element.hasAttribute('aria-pressed')) return 'tick';
    if (element instanceof HTMLInputElement && element.type in FORMS) return 'form';
    if (element.isContentEditable) return 'rich';
    return keyDefaults.isTextField(element) ? 'text' : undefined;
  }

  function field(key) {
    const element = target.element(key);
    return element instanceof HTMLLabelElement && element.control ? element.control : element;
  }

  /** The options of a list that are wanted, by label or by value; refuses what is not there. */
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

  /** What a field makes of a text before the page sees it: a date in its own form, or nothing. */
  function sanitized(element, text) {
    const probe = element.cloneNode();
    probe.value = '';
    probe.value = text;
    return probe.value;
  }

  function fits(element, text) {
    const held = sanitized(element, text);
    if (element.type === 'color') return held === text.toLowerCase();
    if (element.type === 'range') return text.trim() !== '' && Number(held) === Number(text);
    return text === '' || held !== '';
  }

  /** How many characters a field has room for, or -1. A number may have that attribute, without any meaning. */
  const roomOf = ({ type, maxLength = -1 }) => (type === 'number' ? -1 : maxLength);

  /** What a field wants, in words, where it cannot hold a text; undefined where it can. */
  function wish(element, text) {
    const { type } = element;
    const room = roomOf(element);
    if (type === 'range') {
      const steps = element.step && element.step !== 'any' ? ` in steps of ${element.step}` : '';
      return fits(element, text) ? undefined : `a range from ${element.min || 0} to ${element.max || 100}${steps}`;
    }
    if (type in FORMS) return fits(element, text) ? undefined : `a ${type}, such as ${FORMS[type]}`;
    if (type === 'number') return fits(element, text.trim()) ? undefined : 'a number';
    if (room >= 0 && text.length > room) return `at most ${room} characters`;
    return element instanceof HTMLInputElement && text.includes('\n') ? 'a text of one line' : undefined;
  }

  const textOf = (element) => ('value' in element ? element.value : element.innerText);
  const quoted = (text) => JSON.stringify(callslip.guard.inner(callslip.guard.cut(text, VALUE_CHARS)));

  /** What was given for a field, unless that is nobody's business. */
  function given(element, value) {
    return states.isSecret(element) ? 'what was given' : quoted(String(value));
  }

  /** What a field holds now, in a sentence. */
  function holding(element) {
    if (states.isSecret(element)) return 'What it holds is not shown.';
    const text = textOf(element);
    return text.trim() === '' ? 'It is empty.' : `It holds ${quoted(text)}.`;
  }

  /** Begins to write a text. `outcome` says what has come of it. */
  function begin(element, wanted, typed) {
    const before = textOf(element);
    writing = { element, before, wanted, typed, ours: before, last: before, wasIn: typed !== undefined, wasEmptied: false };
  }

  /**
   * The same for a text that is typed; `isAtEnd` tells that the caret is known to be there. Answers whether
   * its outcome says anything: with the key Enter the page may have gone on, and editors have a form of
   * their own for what is typed.
   */
  function beginTyped(element, text, { isAtEnd, clear }) {
    const isJudged = kindOf(element) === 'text' && !text.includes('\n');
    if (!isJudged) {
      writing = undefined;
      return false;
    }
    const { value, selectionStart, selectionEnd } = element;
    const { length } = value;
    const all = clear ? [0, length] : [selectionStart ?? length, selectionEnd ?? length];
    const isKnown = isAtEnd || selectionStart !== null;
    begin(element, isKnown ? value.slice(0, all[0]) + text + value.slice(all[1]) : text, text);
    return true;
  }

  /** To be called before something is written: notes what the page has done since. */
  function look(element) {
    if (writing?.element !== element) return;
    const text = textOf(element);
    if (text !== writing.ours) writing.ours = undefined;
    if (text === '' && writing.last !== '') writing.wasEmptied = true;
  }

  /** To be called once something is written; `isOurs` tells that the page has not made anything else of it yet. */
  function wrote(element, isOurs) {
    if (writing?.element !== element) return;
    writing.ours = isOurs && writing.ours !== undefined ? textOf(element) : undefined;
    writing.wasIn = true;
  }

  /** True where the value is what the browser makes of `before` when a text is put in, or as much of it as has room. */
  function isInserted(element, before, [start, end], text) {
    const { value = '' } = element;
    if (start === null) return [text, before + text, before, ''].includes(value);
    const [head, tail] = [before.slice(0, start), before.slice(end)];
    if (value === head + text + tail) return true;
    const isFull = value.length === roomOf(element);
    return isFull && value.startsWith(head) && value.endsWith(tail) && text.startsWith(value.slice(start, value.length - tail.length));
  }

  /** True where an element holds what was written into it, in whatever form the page gives it. */
  function isKept({ element, before, wanted, typed = wanted }) {
    const text = textOf(element);
    const isTooLong = roomOf(element) >= 0 && wanted.length > roomOf(element);
    return text === wanted || (!isTooLong && [wanted, typed].some((each) => callslip.sameText(text, each, before)));
  }

  /**
   * What has come of what was written: `{isOpen: true}` where it is not there, and this is not the last
   * look; else what the field holds, or the refusal. What the page has emptied since may be what the text was
   * for: it was sent, say.
   */
  async function outcome(key, isLast) {
    if (!writing) return {};
    const { element, before, wanted, typed, wasIn, wasEmptied } = writing;
    const isLeft = !element.isConnected || wasEmptied || (typed !== undefined && focus.focused() !== element);
    const text = textOf(element);
    const isNew = kindOf(element) === 'rich' && text !== before;
    if (!isLeft && !isKept(writing)) {
      if (!isLast) return { isOpen: true };
      const isEmptied = wasIn && text.trim() === '' && wanted !== '' && !wish(element, wanted);
      if (!isEmptied && !isNew) throw await refused();
    }
    writing = undefined;
    if (states.isSecret(element)) return report(element);
    const made = text.trim() === '' ? 'the page has emptied it' : `holds ${quoted(text)}`;
    return { ...report(element), ...(normal(text) !== normal(wanted) && { made }) };
  }

  /** Gives a field back what it held, where nobody but we have changed it; answers the refusal. */
  async function refused() {
    const { element, before, wanted, ours } = writing;
    writing = undefined;
    const made = textOf(element);
    if (made === ours && 'value' in element) {
      values.set(element, before);
      element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      await callslip.turns.settled();
    }
    const needs = wish(element, wanted);
    const shown = states.isSecret(element) ? 'something else' : made === '' ? 'nothing' : quoted(made);
    const why = needs ? `takes ${needs}` : `does not keep the value: the page made ${shown} of it`;
    const says = WISHES.filter((name) => element.hasAttribute(name)).map((name) => `${name} ${quoted(element.getAttribute(name))}`);
    return new callslip.Failure({
      code: 'value_refused',
      message: `${target.say(element)} ${why}. ${holding(element)}`,
      hint: says.length > 0 ? `The field says of itself: ${says.join(', ')}.` : 'Look at what the page says that the field takes.',
      mayHaveExecuted: true,
    });
  }

  function disabled(element) {
    const reason = target.disabledBecause(element);
    if (reason) throw failure('element_disabled', `${target.say(element)} is disabled: ${reason}.`);
  }

  /** Refuses what the field cannot take; answers what it is called. Nothing is changed by it. */
  function check(key, value, named) {
    const element = field(key);
    const said = target.say(element);
    const kind = kindOf(element);
    const isText = ['string', 'number'].includes(typeof value);
    const wrong = (what) => failure('invalid_params', `fields: ${said} takes ${what}, not ${given(element, value)}.${['text', 'form'].includes(kind) ? ` ${holding(element)}` : ''}`);
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
      const wanted = wish(element, String(value));
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

  /** Puts a value into a field whose text nobody types, and tells the page. */
  function put(element, text) {
    focus.give(element);
    begin(element, sanitized(element, text));
    if (element.value === text) return;
    values.set(element, text);
    wrote(element, true);
    keyChoices.changed(element);
  }

  /** As much of a text as the field has room for when it replaces some of what is there. */
  function fitting(element, text, replaced) {
    if (roomOf(element) < 0) return text;
    const room = Math.max(0, element.maxLength - element.value.length + replaced);
    return callslipCutText(text, room);
  }

  /** Puts a text where the selection is, as typing does: trusted events, and it can be undone. */
  function insert(element, text) {
    const before = textOf(element);
    const { selectionStart = null, selectionEnd } = element;
    // The browser tells of what it inserts, also where that was there already, or is all there is room for.
    let isTold = false;
    const hear = ({ isTrusted }) => {
      if (isTrusted && !isTold) wrote(element, isInserted(element, before, [selectionStart, selectionEnd], text));
      isTold = true;
    };
    look(element);
    addEventListener('input', hear, { capture: true });
    if (text === '') {
      const isEmpty = keyDefaults.isEmptySelection(element);
      if (!isEmpty && element.isContentEditable) callslip.keys.erase();
      else if (!isEmpty) document.execCommand('delete');
    } else {
      document.execCommand('insertText', false, text);
    }
    removeEventListener('input', hear, { capture: true });
    if (!isTold && textOf(element) === before && 'value' in element) insertBySetter(element, text, [selectionStart, selectionEnd]);
    if (writing?.element === element) writing.last = textOf(element);
  }

  /** The same where the browser does not do it. */
  function insertBySetter(element, text, [selectionStart, selectionEnd]) {
    const before = element.value;
    const all = selectionStart === null ? [0, before.length] : [selectionStart, selectionEnd];
    const data = fitting(element, text, all[1] - all[0]);
    const next = before.slice(0, all[0]) + data + before.slice(all[1]);
    if (next === before || (next !== '' && sanitized(element, next) === '')) return;
    values.set(element, next);
    wrote(element, true);
    const typed = { bubbles: true, composed: true, inputType: 'insertText', data };
    element.dispatchEvent(new InputEvent('input', typed));
  }

  function selectAll(element) {
    if ('select' in element) element.select();
    else getSelection().selectAllChildren(element);
  }

  /** Fills a field in. With `isOpen` in the answer, `outcome` has to say whether it holds the value. */
  async function write(key, value, named) {
    const element = field(key);
    callslip.scrolling.intoViewIfNeeded(element);
    const said = target.say(element);
    const kind = kindOf(element);
    const turn = callslip.turns.begin(Infinity, () => `${said} had not been filled in`);
    focus.watchFirst(element);
    if (kind === 'select') chooseOnly(element, optionsOf(element, [value].flat(), 'either', named));
    else if (kind === 'tick') tick(element, value);
    else if (kind === 'form') put(element, String(value));
    else {
      callslip.keys.giveFocus(element);
      const why = target.disabledBecause(element);
      if (why) throw becameDisabled(said, why);
      const text = element.type === 'number' ? String(value).trim() : String(value);
      await turn.step(element, () => selectAll(element));
      begin(element, text);
      await turn.step(element, () => insert(element, text));
    }
    return { said, isOpen: !['select', 'tick'].includes(kind) };
  }

  function becameDisabled(said, why) {
    return new callslip.Failure({
      code: 'element_disabled',
      message: `${said} took the focus, and is disabled since: ${why}. Nothing was written into it.`,
      hint: 'Look at what the page shows now: analyze page.',
      mayHaveExecuted: true,
    });
  }

  /** Tells the page that the field that was filled in last has changed, as leaving it does. */
  function leave(key) {
    focus.commit(field(key));
  }

  /** What a field holds then, for the answer: never what is nobody's business. */
  function report(element) {
    if (states.isSecret(element)) return { value_left_out: true };
    if ('value' in element) return { value: element.value };
    // An emptied editor keeps a line break that holds its caret; nobody typed it.
    return { value: (element.innerText ?? '').replace(/\n$/, '') };
  }

  /** Puts a text that is typed into a field that takes only certain ones, as a person does who chooses it. */
  function putTyped(element, text, clear) {
    const value = clear || fits(element, text) ? text : element.value + text;
    const wanted = wish(element, value);
    if (wanted) {
      throw failure('invalid_params', `text: ${target.say(element)} takes ${wanted}, not ${given(element, text)}. ${holding(element)}`);
    }
    put(element, value);
  }

  return {
    beginTyped, check, choose, insert, kindOf, leave, outcome, putTyped, report, select, selectAll, write,
  };
})();
