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

  /**
   * What is being written: `{element, before, wanted, isSecret, wasIn}`. `before` is what the element held;
   * `wanted` is undefined for what is typed.
   */
  let writing;

  /** What an element made of the value that it was given last: `{wanted, text}`. */
  const lastMade = new WeakMap();

  const normal = (text) => text.replace(/\s+/g, ' ').trim();

  /** The letters and digits of a text, which are left whatever form a page gives it. */
  const bare = (text) => text.replace(/[^\p{L}\p{M}\p{N}]/gu, '').toLowerCase();

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
    writing = { element, wanted, before: textOf(element), isSecret: states.isSecret(element), wasIn: false };
  }

  function wrote(element) {
    focus.edit(element);
    if (writing?.element === element) writing.wasIn = true;
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
    return (wanted === '' || bare(wanted) !== '') && bare(text) === bare(wanted);
  }

  /** True where an element holds what it held before, which is not what it was given, nor what it makes of that. */
  function isRefused(now) {
    const { element, before, wanted, wasIn } = now;
    const text = textOf(element);
    if (!element.isConnected || text !== before || isKept(now)) return false;
    const known = lastMade.get(element);
    const isMade = known?.wanted === wanted && known.text === text;
    const isEmptied = text.trim() === '' && wasIn;
    return !isMade && !isEmptied && !(wanted === '' && !focus.isField(element));
  }

  /** What a field holds then, for the answer: never what is nobody's business. */
  function report(element) {
    return isSecret(element) ? { value_left_out: true } : { value: textOf(element) };
  }

  /**
   * What has come of what was written: `{isOpen: true}` where the field holds something else, and this is not
   * the last look; else what it holds once the page was told of the change, or the refusal. A field that held
   * something new until then has not refused it: the page may have taken that, and put the old value back.
   */
  async function outcome(key, isLast) {
    if (!writing) return {};
    const now = writing;
    const { element, wanted } = now;
    if (!isKept(now) && !isLast && element.isConnected) return { isOpen: true };
    const wasRefused = isRefused(now);
    // A text that is typed key by key is complete once the field is left.
    if (wanted !== undefined || isForm(element)) {
      focus.commit(element);
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
    return holds.value_left_out ? {} : { ...holds, made: `value ${quoted(text)}` };
  }

  function notKept(element) {
    return new callslip.Failure({
      code: 'value_refused',
      message: `${target.say(element)} does not keep the value. ${holding(element)}`,
      hint: 'Look at what the page says that the field takes.',
      mayHaveExecuted: true,
    });
  }

  return { begin, given, holding, isForm, isSecret, outcome, report, sanitized, textOf, wish, wrote };
})();
