/* global callslip */
/**
 * Runs in each frame of a page. The effects of keys in fields that offer a choice: range, number, select
 * and radio buttons. Chromium performs none of them for synthetic events, so this does.
 */
callslip.keyChoices = (() => {
  /** How far PageUp and PageDown go in a closed list. */
  const PAGE_OPTIONS = 3;

  /** Letters typed in quicker succession belong to one word, in ms. */
  const WORD_PAUSE_MS = 1000;

  let typed = { text: '', at: 0, list: null };

  function changed(element) {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
    return true;
  }

  function isRightToLeft(element) {
    return getComputedStyle(element).direction === 'rtl';
  }

  function range(element, key) {
    const least = element.min === '' ? 0 : Number(element.min);
    const most = Math.max(least, element.max === '' ? 100 : Number(element.max));
    const hasNoStep = element.step === 'any';
    const step = hasNoStep ? (most - least) / 100 : Number(element.step) || 1;
    const page = Math.max((most - least) / 10, step);
    const right = isRightToLeft(element) ? -step : step;
    const now = element.valueAsNumber;
    const next = {
      ArrowUp: now + step,
      ArrowDown: now - step,
      ArrowRight: now + right,
      ArrowLeft: now - right,
      PageUp: now + page,
      PageDown: now - page,
      Home: least,
      End: most,
    }[key];
    if (next === undefined) return false;
    // Sums of fractions such as 0.1 end in digits that no slider shows.
    const rounded = Number(Math.min(most, Math.max(least, next)).toPrecision(12));
    callslip.values.set(element, String(rounded));
    return element.valueAsNumber === now || changed(element);
  }

  function number(element, key) {
    if (key !== 'ArrowUp' && key !== 'ArrowDown') return false;
    if (element.readOnly) return true;
    const before = element.value;
    try {
      if (key === 'ArrowUp') element.stepUp();
      else element.stepDown();
    } catch {
      // A field with step=any has no step of its own; the browser's arrows change it by one.
      const by = key === 'ArrowUp' ? 1 : -1;
      callslip.values.set(element, String((element.valueAsNumber || 0) + by));
    }
    const after = element.value;
    if (after === before) return true;
    callslip.values.set(element, before);
    if (!callslip.editing.ask('insertText', { data: after })) return true;
    callslip.values.set(element, after);
    return changed(element);
  }

  function canBeChosen(option) {
    return !option.disabled && !option.parentElement.matches('optgroup:disabled') && !option.hidden;
  }

  function choose(list, option) {
    if (!option || (option.selected && list.selectedOptions.length === 1)) return true;
    for (const each of list.options) each.selected = each === option;
    return changed(list);
  }

  /**
   * The option the given number of places away, including disabled ones in the count; at the end of the
   * list, the last one that can be chosen.
   */
  function stepTo(list, places) {
    const way = Math.sign(places);
    const options = [...list.options];
    let at = list.selectedIndex;
    if (at < 0 && way < 0) at = options.length;
    let left = Math.abs(places);
    let found;
    for (let next = at + way; next >= 0 && next < options.length; next += way) {
      left -= 1;
      if (!canBeChosen(options[next])) continue;
      found = options[next];
      if (left <= 0) break;
    }
    return found;
  }

  function select(list, key) {
    const isOpen = list.multiple || list.size > 1;
    const page = isOpen ? Math.max(1, (list.size || 4) - 1) : PAGE_OPTIONS;
    const places = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (!isOpen) Object.assign(places, { ArrowRight: 1, ArrowLeft: -1 });
    if (key === 'Home') return choose(list, [...list.options].find(canBeChosen));
    if (key === 'End') return choose(list, [...list.options].findLast(canBeChosen));
    return key in places && choose(list, stepTo(list, places[key]));
  }

  /** Chooses the next option whose label begins with the latest typed letters. */
  function selectByText(list, character) {
    const now = performance.now();
    const goesOn = typed.list === list && now - typed.at < WORD_PAUSE_MS;
    typed = { text: (goesOn ? typed.text : '') + character.toLowerCase(), at: now, list };
    const options = [...list.options].filter(canBeChosen);
    const at = options.findIndex((option) => option.selected);
    const isOneLetter = [...typed.text].every((letter) => letter === typed.text[0]);
    const wanted = isOneLetter ? typed.text[0] : typed.text;
    const start = at + (isOneLetter ? 1 : 0);
    const turned = [...options.slice(start), ...options.slice(0, start)];
    const found = turned.find(({ label }) => label.trim().toLowerCase().startsWith(wanted));
    return found ? choose(list, found) : true;
  }

  function radio(element, key) {
    const right = isRightToLeft(element) ? -1 : 1;
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: right, ArrowLeft: -right }[key];
    if (step === undefined) return false;
    const root = element.form ?? element.getRootNode();
    const inGroup = (each) => each.type === 'radio' && each.name === element.name
      && each.form === element.form && !each.matches(':disabled') && each.checkVisibility();
    const all = root instanceof HTMLFormElement ? [...root.elements]
      : [...root.querySelectorAll('input')];
    const group = element.name === '' ? [element] : all.filter(inGroup);
    const next = group.at((group.indexOf(element) + step) % group.length);
    if (next && next !== element) {
      callslip.focus.give(next);
      next.click();
    }
    return true;
  }

  /** True if the key has a meaning in this field, and has had its effect. */
  function act(element, { key, ctrlKey, altKey, metaKey }) {
    if (ctrlKey || altKey || metaKey) return false;
    if (element instanceof HTMLSelectElement) return select(element, key);
    if (!(element instanceof HTMLInputElement)) return false;
    if (element.type === 'range') return range(element, key);
    if (element.type === 'number') return number(element, key);
    return element.type === 'radio' && radio(element, key);
  }

  return { act, changed, selectByText };
})();
