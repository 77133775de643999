/* global callslip, callslipCutText */
/**
 * The numbers of elements, as in `e12`. A number belongs to one element and stays with it for as
 * long as the element lives; it is never given a second time. The numbers come from the counter of
 * the tab (../../ref_book.js), so elements first get in line for them: `begin`, `enqueue`, `settle`.
 */
callslip.refs = (() => {
  const { ADDRESSES, REMEMBERED } = callslip.bounds;
  const { reading } = callslip;

  /** How much of the row or item around an element tells it from those of other rows. */
  const CONTEXT_CHARS = 200;
  const ROWS = 'tr, li, article, [role=row], [role=listitem], [role=option]';
  const PARTS = 'body, main, nav, header, footer, aside, section, form, [role=main], [role=navigation], [role=region]';
  const CONTROLS = 'button, a, input, select, textarea, script, style, [role=button], [role=link]';

  /** How many nodes are gone through for that. */
  const CONTEXT_NODES = 200;

  /** What is asked in these is another question each time, however alike it looks. */
  const QUESTIONS = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true]';

  /** How many elements a refusal names at the most, and how much of a name. */
  const CANDIDATES = 5;
  const NAMED_CHARS = 80;

  const numbers = new WeakMap();
  const elements = new Map();
  const described = new Map();
  let waiting = [];
  let turn = 0;

  /** How many numbers there may be until those of gone elements are looked for. */
  let room = REMEMBERED * 2;

  /** Numbers for the addresses that this document has had. */
  const addresses = new Map();
  let address;

  /** What is said around elements, by what is around them; of this turn. */
  const contexts = new Map();

  /** The number of an element; 0 where it has none. */
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
    // All of those that are left may be there: then to look for others again is no use for a while.
    room = Math.max(REMEMBERED, elements.size) * 2;
  }

  /** The element of a number, as long as it is in the document. */
  function element(number) {
    const found = elements.get(number)?.deref();
    return found?.isConnected ? found : undefined;
  }

  /** What an element was when it was last looked at: `{role, name, landmark}`, or undefined. */
  function describe(number) {
    return described.get(number);
  }

  function remember(number, description) {
    const born = described.get(number)?.born ?? turn;
    described.set(number, Object.assign(description, { born, seen: turn }));
  }

  const keyOf = ({ role, name, landmark, within, heading, context, page }) =>
    JSON.stringify([role, name, landmark, within, heading, context, page]);

  /** What two elements are alike in: which page it is counts, and what is said around them. */
  function complete(each, description) {
    const { parentElement: parent } = each;
    const row = parent?.closest(ROWS);
    address ??= addressNow();
    return Object.assign(description, {
      context: contextOf(row ?? callslip.shadow.parentOf(each)),
      // Where nobody has read what is said around it, nothing can be known to be the same.
      asks: reading.isUsedUp() || isAsked(each),
      page: address,
    });
  }

  /** The same number for as long as the document has the same address, and when it has it again. */
  function addressNow() {
    const place = /^#!?\//.test(location.hash) ? location.hash : '';
    const whole = location.pathname + location.search + place;
    const number = addresses.get(whole) ?? turn;
    addresses.delete(whole);
    addresses.set(whole, number);
    if (addresses.size > ADDRESSES) addresses.delete(addresses.keys().next().value);
    return number;
  }

  /** The beginning of the text in an element; `without` a selector of what does not count. */
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

  /** Names of buttons alone say nothing of what they are for: the words above them do. */
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

  /** A new line of elements that wait for numbers; answers its mark, for `settle`. */
  function begin() {
    waiting = [];
    turn += 1;
    address = undefined;
    contexts.clear();
    return turn;
  }

  /** The place in line of an element that has no number yet, from 0. */
  function enqueue(element, description) {
    return waiting.push({ element, description: complete(element, description) }) - 1;
  }

  /** Remembers which of those seen in this turn were one of their kind. */
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
   * What is there in the place of a number whose element has gone, once the page was looked at again:
   * `{was, only, candidates}`. `only` is the number of the one element that is the same in all: it
   * came after the other was last seen, neither had its like, and neither is in a dialog. Whatever else could be meant is
   * among the `candidates`, a list of texts.
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

  /** Gives those in line their numbers, from `first` on. A later `begin` has made it void: false. */
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
    /** What all is that is there, `{ref, role, name, landmark}`. */
    all: () => [...described].filter(([number]) => element(number))
      .map(([number, { role, name, landmark }]) => ({ ref: `e${number}`, role, name, landmark })),
    /** Whether its element is there. */
    lives: (number) => element(number) !== undefined,
    /** How many are in line. */
    waiting: () => waiting.length,
  };
})();
