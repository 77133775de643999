/* global callslip */
/** Runs in each frame of a page. Knows what fields can hold, what they held, and what they hold once written. */
callslip.held = (() => {
  const { focus, states, target } = callslip;

  /** Kinds of input that take a text of a certain form, with an example of it. */
  const FORMS = {
    date: '2026-11-24', time: '09:30', month: '2026-11', week: '2026-W48', color: '#1a2b3c',
    'datetime-local': '2026-11-24T09:30', range: 'a number',
  };

  /** How much of a value is told in words. */
  const VALUE_CHARS = 80;

  /** How much of a value is in the answer of a fill: as much as of an attribute. */
  const ANSWER_CHARS = 200;

  /**
   * What is being written: `{element, before, wanted, isSecret, isEdited}`. `before` is what the element held;
   * `wanted` is undefined for what is typed; `isEdited`: whether an earlier edit was not told yet. Later also
   * `found`: what it held with the focus; `wasIn`: whether it has held anything else than before; `isBrowsers`:
   * whether the browser itself makes of the text what was there before; `last`: what it held when it was last
   * looked at.
   */
  let writing;

  /** What an element made of the value that it was given last: `{wanted, text}`. */
  const lastMade = new WeakMap();

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  /** The letters and digits of a text without their forms: wide ones, capitals, ß for SS. */
  const plain = (text) => text.normalize('NFKD').replace(/[^\p{L}\p{M}\p{N}]/gu, '').toLowerCase().toUpperCase();

  /** Those that are left where a page leaves the accents out, too. */
  const bare = (text) => plain(text).replace(/\p{M}/gu, '');

  const hasDigit = (text) => /\p{N}/u.test(text);

  /** The digits of the one number in a text; undefined where there are several, as in a date or a fraction. */
  function onlyNumber(text) {
    const numbers = text.normalize('NFKD').match(/\p{N}+(?:[.,'’\s]\p{N}+)*/gu) ?? [];
    const digits = numbers.length === 1 ? numbers[0].replace(/\P{N}/gu, '') : '';
    return /^[0-9]+$/.test(digits) ? digits : undefined;
  }

  /** True where both are one number, with whatever unit, and that is another one. */
  function isOtherNumber(text, other) {
    const [one, two] = [onlyNumber(text), onlyNumber(other)];
    return one !== undefined && two !== undefined && one !== two;
  }

  /** True where all letters of a text are in another one. */
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

  /** What a field makes of a text before the page sees it: a date in its own form, or nothing. */
  function sanitized(element, text) {
    const probe = element.cloneNode();
    probe.value = '';
    probe.value = text;
    return probe.value;
  }

  /** What a field wants, in words, where its type makes a text impossible; undefined where it does not. */
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
      // The browser takes +5 and 5. only as people type them, and 0x10 never. A maxlength has no meaning here.
      const number = parseFloat(text);
      return text.trim() === '' || (Number.isFinite(number) && number === Number(text)) ? undefined : 'a number';
    }
    return maxLength >= 0 && held.length > maxLength ? `at most ${maxLength} characters` : undefined;
  }

  function textOf(element) {
    if (focus.isField(element) || element instanceof HTMLSelectElement) return element.value;
    // An emptied editor keeps a line break that holds its caret; nobody typed it.
    return (element.innerText ?? '').replace(/\n$/, '');
  }

  /** True where nobody is to be told what an element holds, also if it was so only as the writing began. */
  function isSecret(element) {
    return states.isSecret(element) || (writing?.element === element && writing.isSecret);
  }

  const quoted = (text) => JSON.stringify(callslip.guard.inner(callslip.guard.cut(text, VALUE_CHARS)));
  const given = (element, value) => (isSecret(element) ? 'what was given' : quoted(String(value)));

  /** What a field holds now, in a sentence. */
  function holding(element) {
    if (isSecret(element)) return 'What it holds is not shown.';
    const text = textOf(element);
    return text.trim() === '' ? 'It is empty.' : `It holds ${quoted(text)}.`;
  }

  /** To be called before anything is written, or the focus given. */
  function begin(element, wanted) {
    const isEdited = focus.isEdited(element);
    writing = { element, wanted, before: textOf(element), isSecret: states.isSecret(element), isEdited };
  }

  /** To be called as the element has the focus, and nothing is written yet. */
  function ready(element) {
    if (writing?.element === element) writing.found = textOf(element);
  }

  /** To be called as the browser has written, if possible before the page hears of it. */
  function wrote(element) {
    focus.edit(element);
    if (writing?.element === element && textOf(element) === writing.before) writing.isBrowsers = true;
  }

  /** To be called once the page has heard of it. */
  function look(element) {
    if (writing?.element === element && textOf(element) !== writing.before) writing.wasIn = true;
  }

  function isSame({ element, wanted }) {
    const form = focus.isField(element) ? String : normal;
    return form(textOf(element)) === form(wanted);
  }

  /** True where an element holds what it was given, but for signs, capitals and the form of its type. */
  function isKept(now) {
    const { element, wanted } = now;
    if (wanted === undefined || isSame(now)) return true;
    const text = textOf(element);
    if (focus.isField(element) && text === sanitized(element, wanted)) return true;
    return (wanted === '' || plain(wanted) !== '') && plain(text) === plain(wanted);
  }

  /** True where an element holds what it made of the same value before. */
  function isMade({ element, wanted }) {
    const known = lastMade.get(element);
    return known?.wanted === wanted && known.text === textOf(element);
  }

  /**
   * True where an element has held nothing else than before, and that is nothing that a page may make of
   * what it was given. Where both is possible, it is false: a page may take a value, and show the same as before.
   * With digits in both a page may have reckoned, as 2:30 PM of 14:30, or 0.5 of 1/2; not another number of one.
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
   * True where nothing more is to be expected: it holds what it was given, or the same as at the last look.
   * One that is as it was, or empty, may wait for the page to write the value itself.
   */
  function isSettled(now) {
    const { element, before, last } = now;
    const text = textOf(element);
    now.last = text;
    if (isKept(now) || isMade(now) || !element.isConnected) return true;
    return text === last && text !== before && text.trim() !== '';
  }

  /**
   * Tells the page of a change, where there is one of which it has not been told: as the browser does for people,
   * what the field held with the focus counts. An earlier edit is told by the browser where this one was refused.
   */
  function tell(now, wasRefused) {
    const { element, before, found = before, isEdited } = now;
    const isAsFound = textOf(element) === found;
    if (!isAsFound || (isEdited && !wasRefused)) focus.commit(element);
    else if (isEdited) return;
    else if (wasRefused || isKept(now) || isMade(now)) focus.forget(element);
    else focus.hold(element);
  }

  /** What a field holds then, for the answer: never what is nobody's business. */
  function report(element) {
    return isSecret(element) ? { value_left_out: true } : { value: textOf(element) };
  }

  /**
   * What has come of what was written: `{isOpen: true}` where the field holds something else, and this is not
   * the last look; else what it holds once the page was told of the change, or the refusal.
   */
  async function outcome(key, isLast) {
    if (!writing) return {};
    const now = writing;
    const { element, wanted } = now;
    look(element);
    if (!isSettled(now) && !isLast) return { isOpen: true };
    const wasRefused = isRefused(now);
    // A text that is typed key by key is complete once the field is left.
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
