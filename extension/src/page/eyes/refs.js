/* global callslip, callslipCutText */
/**
 * The numbers of elements, as in `e12`. A number belongs to one element and stays with it as long as the
 * element lives; it is never reused. The numbers come from the counter of the tab (../../ref_book.js), so
 * elements first wait for them: `begin`, `enqueue`, `settle`.
 */
callslip.refs = (() => {
  const { ADDRESSES, REMEMBERED } = callslip.bounds;
  const { reading } = callslip;

  /** How much text of the row or item around an element distinguishes it from those of other rows. */
  const CONTEXT_CHARS = 200;
  const ROWS = 'tr, li, article, [role=row], [role=listitem], [role=option]';
  const PARTS = 'body, main, nav, header, footer, aside, section, form, [role=main], [role=navigation], [role=region]';
  const CONTROLS = 'button, a, input, select, textarea, script, style, [role=button], [role=link]';

  /** How many nodes are read for that. */
  const CONTEXT_NODES = 200;

  /** Each dialog is a different question, however similar it looks. */
  const QUESTIONS = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true]';

  /** How many elements an error names at most, and how much of a name. */
  const CANDIDATES = 5;
  const NAMED_CHARS = 80;

  const numbers = new WeakMap();
  const elements = new Map();
  const described = new Map();
  let waiting = [];
  let turn = 0;

  /** When there are this many numbers, those of removed elements are dropped. */
  let room = REMEMBERED * 2;

  /** Numbers for the addresses that this document has had. */
  const addresses = new Map();
  let address;

  /** The text around elements, by the surrounding element; of this turn. */
  const contexts = new Map();

  /** The number of an element; 0 if it has none. */
  function of(element) {
    return numbers.get(element) ?? 0;
  }

  function give(element, number) {
    if (of(element)) return of(element);
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
    if (elements.size > room) forgetOldest();
    return number;
  }

  function forgetOldest() {
    for (const [number, place] of elements) {
      if (elements.size <= REMEMBERED) break;
      if (place.deref()?.isConnected) continue;
      elements.delete(number);
      described.delete(number);
    }
    // All that are left may still be in the page; then another search is useless for a while.
    room = Math.max(REMEMBERED, elements.size) * 2;
  }

  /** The element of a number, as long as it is in the document. */
  function element(number) {
    const found = elements.get(number)?.deref();
    return found?.isConnected ? found : undefined;
  }

  /** The description of an element at the last look: `{role, name, landmark}`, or undefined. */
  function describe(number) {
    return described.get(number);
  }

  function remember(number, description) {
    const born = described.get(number)?.born ?? turn;
    described.set(number, Object.assign(description, { born, seen: turn }));
  }

  const keyOf = ({ role, name, landmark, within, heading, context, page }) =>
    JSON.stringify([role, name, landmark, within, heading, context, page]);

  /**
   * Adds to a description the members by which two elements are compared: the page and the surrounding
   * text.
   */
  function complete(each, description) {
    const { parentElement: parent } = each;
    const row = parent?.closest(ROWS);
    address ??= addressNow();
    return Object.assign(description, {
      context: contextOf(row ?? callslip.shadow.parentOf(each)),
      // If the text around it was not read, it cannot be identified with another element.
      asks: reading.isUsedUp() || isAsked(each),
      page: address,
    });
  }

  /** The same number while the document has the same address, and when it has it again. */
  function addressNow() {
    const place = /^#!?\//.test(location.hash) ? location.hash : '';
    const whole = location.pathname + location.search + place;
    const number = addresses.get(whole) ?? turn;
    addresses.delete(whole);
    addresses.set(whole, number);
    if (addresses.size > ADDRESSES) addresses.delete(addresses.keys().next().value);
    return number;
  }

  /** The beginning of the text in an element; `without` is a selector of elements to ignore. */
  function textIn(element, without) {
    const allowance = new reading.Allowance(CONTEXT_CHARS, CONTEXT_NODES);
    let text = '';
    const visit = (node) => {
      if (!allowance.take()) return true;
      if (node.nodeType === Node.TEXT_NODE) text += `${allowance.text(node.data).trim()} `;
      else if (node.nodeType === Node.ELEMENT_NODE && !(without && node.matches(without))) callslip.shadow.eachChild(node, visit);
      return false;
    };
    callslip.shadow.eachChild(element, visit);
    return callslipCutText(text, CONTEXT_CHARS).replace(/\s+/g, ' ').trim();
  }

  /** Names of buttons alone do not show what they apply to: the words above them do. */
  function contextOf(element) {
    if (!element || reading.isUsedUp()) return '';
    if (!contexts.has(element)) {
      const says = element.matches(`${PARTS}, ${ROWS}`) || textIn(element, CONTROLS) !== '';
      contexts.set(element, says ? textIn(element) : contextOf(callslip.shadow.parentOf(element)));
    }
    return contexts.get(element);
  }

  function isAsked(element) {
    for (let at = element; at; at = at.getRootNode().host) {
      if (at.closest(QUESTIONS)) return true;
    }
    return false;
  }

  /** Begins a new queue of elements that wait for numbers; returns its mark, for `settle`. */
  function begin() {
    waiting = [];
    turn += 1;
    address = undefined;
    contexts.clear();
    return turn;
  }

  /** The position in the queue of an element that has no number yet, from 0. */
  function enqueue(element, description) {
    return waiting.push({ element, description: complete(element, description) }) - 1;
  }

  /** Records which of the elements seen in this turn were unique. */
  function count() {
    contexts.clear();
    const keys = new Map();
    for (const each of described.values()) {
      if (each.seen !== turn) continue;
      const key = keyOf(each);
      if (keys.has(key)) keys.get(key).only = each.only = false;
      else keys.set(key, Object.assign(each, { only: true }));
    }
  }

  const text = ({ role, name }) => {
    const { cut, inner } = callslip.guard;
    return `${role}${name ? ` ${inner(cut(name, NAMED_CHARS))}` : ''}`;
  };

  /**
   * The replacement for an element that is gone, determined after another look at the page: `{was, only,
   * candidates}`. `only` is the number of the one element that is the same in every respect: it appeared
   * after the other was last seen, both were unique, and neither is in a dialog. All other possible
   * elements are among the `candidates`, a list of texts.
   */
  function instead(number) {
    const was = described.get(number);
    if (!was) return { candidates: [] };
    const there = [...described].filter(([other]) => other !== number && element(other));
    const isSame = ([, each]) => each.role === was.role && each.name === was.name;
    const same = there.filter(isSame);
    const twins = same.filter(([, each]) => keyOf(each) === keyOf(was));
    const [twin] = twins;
    const fits = was.only && twins.length === 1 && twin[1].born > was.seen && twin[1].seen === turn
      && !was.asks && !twin[1].asks;
    const isLike = ([, each]) => each.role === was.role && each.born > was.seen;
    const others = there.filter((each) => !isSame(each) && isLike(each));
    const candidate = ([other, each]) =>
      `e${other} ${text(each)}${each.landmark ? ` (${each.landmark})` : ''}`;
    return {
      was: text(was),
      only: fits ? twin[0] : undefined,
      candidates: [...same, ...others].slice(0, CANDIDATES).map(candidate),
    };
  }

  /**
   * Assigns numbers to the queued elements, from `first` on. Returns false if a later `begin` has made the
   * queue void.
   */
  function settle(mark, first) {
    if (mark !== turn) return false;
    for (const [place, { element: each, description }] of waiting.entries()) {
      remember(give(each, first + place), description);
    }
    waiting = [];
    count();
    return true;
  }

  return {
    of, give, element, describe, begin, enqueue, settle, count, instead,
    remember: (number, each, description) => remember(number, complete(each, description)),
    /** The elements in the page that have a number, `{ref, role, name, landmark}`. */
    all: () => [...described].filter(([number]) => element(number))
      .map(([number, { role, name, landmark }]) => ({ ref: `e${number}`, role, name, landmark })),
    /** Whether the element of the number is in the page. */
    lives: (number) => element(number) !== undefined,
    /** How many elements wait for a number. */
    waiting: () => waiting.length,
  };
})();
