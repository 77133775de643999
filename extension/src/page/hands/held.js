/* global callslip */
/**
 * Runs in each frame of a page. Determines what fields can hold, what they held, and what they hold after
 * writing.
 */
callslip.held = (() => {
  const { focus, states, target } = callslip;

  /** Types of input that take a text of a certain form, with an example of it. */
  const FORMS = {
    date: '2026-11-24', time: '09:30', month: '2026-11', week: '2026-W48', color: '#1a2b3c',
    'datetime-local': '2026-11-24T09:30', range: 'a number',
  };

  /** How much of a value is reported in messages. */
  const VALUE_CHARS = 80;

  /** How much of a value is in the answer of a fill: as much as of an attribute. */
  const ANSWER_CHARS = 200;

  /**
   * The current write: `{element, before, wanted, isSecret, isEdited}`. `before` is the earlier value of
   * the element; `wanted` is undefined for typed text; `isEdited`: whether an earlier edit has not been
   * reported to the page yet. Added later: `found`: the value once the element had the focus; `wasIn`:
   * whether its value was ever different from `before`; `isBrowsers`: whether the browser itself turns the
   * text into the earlier value; `last`: the value at the last look.
   */
  let writing;

  /** The value that an element made of the last value given to it: `{wanted, text}`. */
  const lastMade = new WeakMap();

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  /** The letters and digits of a text, independent of their forms: full width, capitals, ß for SS. */
  const plain = (text) => text.normalize('NFKD').replace(/[^\p{L}\p{M}\p{N}]/gu, '').toLowerCase().toUpperCase();

  /** The same without accents, for pages that remove those too. */
  const bare = (text) => plain(text).replace(/\p{M}/gu, '');

  const hasDigit = (text) => /\p{N}/u.test(text);

  /** The digits of the only number in a text; undefined if there are several, as in a date or a fraction. */
  function onlyNumber(text) {
    const numbers = text.normalize('NFKD').match(/\p{N}+(?:[.,'’\s]\p{N}+)*/gu) ?? [];
    const digits = numbers.length === 1 ? numbers[0].replace(/\P{N}/gu, '') : '';
    return /^[0-9]+$/.test(digits) ? digits : undefined;
  }

  /** True if each text contains exactly one number, with any unit, and the numbers differ. */
  function isOtherNumber(text, other) {
    const [one, two] = [onlyNumber(text), onlyNumber(other)];
    return one !== undefined && two !== undefined && one !== two;
  }

  /** True if all letters of a text are in another one. */
  function isMadeOf(text, other) {
    const left = new Map();
    for (const letter of other) left.set(letter, (left.get(letter) ?? 0) + 1);
    return [...text].every((letter) => {
      const count = left.get(letter) ?? 0;
      left.set(letter, count - 1);
      return count > 0;
    });
  }

  function isForm(element) {
    return element instanceof HTMLInputElement && element.type in FORMS;
  }

  /**
   * The value that a field makes of a text before the page sees it: a date in its own form, or an empty
   * value.
   */
  function sanitized(element, text) {
    const probe = element.cloneNode();
    probe.value = '';
    probe.value = text;
    return probe.value;
  }

  /** A description of what the field takes, if its type makes the text impossible; else undefined. */
  function wish(element, text) {
    const { type, maxLength = -1 } = element;
    const held = sanitized(element, text);
    if (type === 'range') {
      const steps = element.step && element.step !== 'any' ? ` in steps of ${element.step}` : '';
      const fits = text.trim() !== '' && Number(held) === Number(text);
      return fits ? undefined : `a range from ${element.min || 0} to ${element.max || 100}${steps}`;
    }
    if (type in FORMS) {
      const fits = type === 'color' ? held === text.toLowerCase() : text === '' || held !== '';
      return fits ? undefined : `a ${type}, such as ${FORMS[type]}`;
    }
    if (type === 'number') {
      // The browser takes +5 and 5. only when they are typed, and 0x10 never. A maxlength has no meaning
      // here.
      const number = parseFloat(text);
      return text.trim() === '' || (Number.isFinite(number) && number === Number(text)) ? undefined : 'a number';
    }
    return maxLength >= 0 && held.length > maxLength ? `at most ${maxLength} characters` : undefined;
  }

  function textOf(element) {
    if (focus.isField(element) || element instanceof HTMLSelectElement) return element.value;
    // An empty editor keeps a line break for its caret, which is not part of the text.
    return (element.innerText ?? '').replace(/\n$/, '');
  }

  /**
   * True if the value of an element must not be reported, even if it was secret only when the write began.
   */
  function isSecret(element) {
    return states.isSecret(element) || (writing?.element === element && writing.isSecret);
  }

  const quoted = (text) => JSON.stringify(callslip.guard.inner(callslip.guard.cut(text, VALUE_CHARS)));
  const given = (element, value) => (isSecret(element) ? 'what was given' : quoted(String(value)));

  /** The current value of a field, in a sentence. */
  function holding(element) {
    if (isSecret(element)) return 'What it holds is not shown.';
    const text = textOf(element);
    return text.trim() === '' ? 'It is empty.' : `It holds ${quoted(text)}.`;
  }

  /** Must be called before anything is written, and before the element gets the focus. */
  function begin(element, wanted) {
    const isEdited = focus.isEdited(element);
    writing = { element, wanted, before: textOf(element), isSecret: states.isSecret(element), isEdited };
  }

  /** Must be called when the element has the focus, and nothing is written yet. */
  function ready(element) {
    if (writing?.element === element) writing.found = textOf(element);
  }

  /** Must be called when the browser has written, if possible before the page is notified. */
  function wrote(element) {
    focus.edit(element);
    if (writing?.element === element && textOf(element) === writing.before) writing.isBrowsers = true;
  }

  /** Must be called once the page has been notified. */
  function look(element) {
    if (writing?.element === element && textOf(element) !== writing.before) writing.wasIn = true;
  }

  function isSame({ element, wanted }) {
    const form = focus.isField(element) ? String : normal;
    return form(textOf(element)) === form(wanted);
  }

  /** True if an element holds the given value, apart from punctuation, capitals and the form of its type. */
  function isKept(now) {
    const { element, wanted } = now;
    if (wanted === undefined || isSame(now)) return true;
    const text = textOf(element);
    if (focus.isField(element) && text === sanitized(element, wanted)) return true;
    return (wanted === '' || plain(wanted) !== '') && plain(text) === plain(wanted);
  }

  /** True if an element holds what it made of the same value before. */
  function isMade({ element, wanted }) {
    const known = lastMade.get(element);
    return known?.wanted === wanted && known.text === textOf(element);
  }

  /**
   * True if an element has held no value other than the earlier one, and that cannot be what a page made of
   * the given value. If both are possible, it is false: a page may accept a value, and show the same as
   * before. If both contain digits, the page may have converted the value, such as 14:30 to 2:30 PM, or 1/2
   * to 0.5; but not one number to a different one.
   */
  function isRefused(now) {
    const { element, before, wanted, wasIn, isBrowsers } = now;
    if (!element.isConnected || wasIn || isBrowsers || textOf(element) !== before) return false;
    if (isKept(now) || isMade(now) || wanted === '') return false;
    const [shown, asked] = [bare(before), bare(wanted)];
    if (shown === '' || isMadeOf(shown, asked) || (asked !== '' && isMadeOf(asked, shown))) return false;
    return !hasDigit(shown) || !hasDigit(asked) || isOtherNumber(before, wanted);
  }

  /**
   * True if no further change is to be expected: the element holds the given value, or the same as at the
   * last look. If it is unchanged or empty, the page may yet write the value itself.
   */
  function isSettled(now) {
    const { element, before, last } = now;
    const text = textOf(element);
    now.last = text;
    if (isKept(now) || isMade(now) || !element.isConnected) return true;
    return text === last && text !== before && text.trim() !== '';
  }

  /**
   * Reports a change to the page, unless the page has been notified of it: as in the browser for typed
   * text, the value when the field got the focus counts. If this write was rejected, the browser reports an
   * earlier edit.
   */
  function tell(now, wasRefused) {
    const { element, before, found = before, isEdited } = now;
    const isAsFound = textOf(element) === found;
    if (!isAsFound || (isEdited && !wasRefused)) focus.commit(element);
    else if (isEdited) return;
    else if (wasRefused || isKept(now) || isMade(now)) focus.forget(element);
    else focus.hold(element);
  }

  /** The resulting value of a field, for the answer: never a secret. */
  function report(element) {
    return isSecret(element) ? { value_left_out: true } : { value: textOf(element) };
  }

  /**
   * The result of the write: `{isOpen: true}` if the field holds another value, and this is not the last
   * look; else the value after the page was notified of the change, or the rejection.
   */
  async function outcome(key, isLast) {
    if (!writing) return {};
    const now = writing;
    const { element, wanted } = now;
    look(element);
    if (!isSettled(now) && !isLast) return { isOpen: true };
    const wasRefused = isRefused(now);
    // A text that is typed key by key is complete only when the field is left.
    if (wanted !== undefined || isForm(element)) {
      tell(now, wasRefused);
      await callslip.turns.settled();
    }
    const refusal = wasRefused && isRefused(now) ? notKept(element) : undefined;
    const holds = report(element);
    if (writing === now) writing = undefined;
    if (refusal) throw refusal;
    if (wanted === undefined) return holds;
    if (isSame(now)) return {};
    const text = textOf(element);
    lastMade.set(element, { wanted, text });
    if (holds.value_left_out) return {};
    return { value: callslip.guard.cut(text, ANSWER_CHARS), made: `value ${quoted(text)}` };
  }

  function notKept(element) {
    return new callslip.Failure({
      code: 'value_refused',
      message: `${target.say(element)} does not keep the value. ${holding(element)}`,
      hint: 'Look at what the page says that the field takes.',
      mayHaveExecuted: true,
    });
  }

  return { begin, given, holding, isForm, isSecret, look, outcome, ready, report, sanitized, textOf, wish, wrote };
})();
