/**
 * Runs among the page's own scripts, in each frame of a tab in which a command runs, before them
 * where the document begins meanwhile. As long as it is armed it stands in for what would stop a
 * script of the page until a person has answered (alert, confirm, prompt), tells of windows that the
 * browser did not open, and counts errors. Then it puts back what was there, and is gone: the page
 * has the browser's own functions, and nothing that listens.
 *
 * It is no module and leaves no name in the page. It tells page/relay.js by events, with a name that it
 * makes up, and is told by others of that name: first how to answer, as `detail`, which arms it, and at
 * last `null`. A page could have replaced all that is used here, so it uses what was there when it
 * began, and what is none of the page's.
 */
(() => {
  const HERE = 'callslip-here';

  /** A page that asks again until it likes the answer is stopped after so many dialogs. */
  const DIALOGS = 100;
  /** The longest text that is told, in UTF-16 units. */
  const TEXT_CHARS = 2_000;

  /** The first way that stands the test. */
  function working(ways, test) {
    for (let at = 0; at < ways.length; at += 1) {
      try {
        if (test(ways[at])) return ways[at];
      } catch {
        // The next one may.
      }
    }
    return undefined;
  }

  function orNone(look) {
    try {
      return look();
    } catch {
      return undefined;
    }
  }

  const { CustomEvent: Message, Proxy: Stand, URL: Address } = window;
  const { apply: ownApply } = orNone(() => Reflect) ?? {};
  const { toString } = orNone(() => Function.prototype) ?? {};
  const probe = {};
  const apply = working([ownApply], (way) => way((each) => each === probe, null, [probe]) === true)
    ?? ((target, self, values) => target(...values));
  const event = working([
    (type, detail) => new Message(type, { cancelable: true, detail }),
    (type, detail) => {
      const made = document.createEvent('CustomEvent');
      made.initCustomEvent(type, false, true, detail);
      return made;
    },
  ], (way) => way('callslip', 'probe').detail === 'probe');
  const { addEventListener, removeEventListener, dispatchEvent } = document;
  const dispatch = (type, detail) => apply(dispatchEvent, document, [event(type, detail)]);
  const hasProxy = working([Stand], (way) => new way(() => 1, { __proto__: null, apply: () => probe })() === probe);

  /** By what a prompt and a confirm are answered: `accept`, `dismiss`, or the text for a prompt. */
  let answer = 'dismiss';
  let armed = false;
  let dialogs = 0;
  const name = `callslip-${orNone(() => Math.random()) ?? ''}`;
  const told = `${name}-told`;

  function tell(what) {
    orNone(() => dispatch(told, what));
  }

  /** As page/cut_text.js does, which leaves a name in the page. */
  function cut(text) {
    if (text.length <= TEXT_CHARS) return text;
    const last = text[TEXT_CHARS - 1];
    const end = last >= '\ud800' && last <= '\udbff' ? TEXT_CHARS - 1 : TEXT_CHARS;
    let short = '';
    for (let at = 0; at < end; at += 1) short += text[at];
    return short;
  }

  function textOf(value) {
    return value === undefined ? '' : cut(`${value}`);
  }

  function askedFor(kind, text, value) {
    dialogs += 1;
    if (dialogs > DIALOGS) throw new Error(`The page has shown ${DIALOGS} dialogs.`);
    const accepted = kind === 'alert' || answer !== 'dismiss';
    tell({ kind: 'dialog', dialog: kind, text: textOf(text), accepted, value });
    return accepted;
  }

  const standIns = {
    __proto__: null,
    alert(target, self, values) {
      askedFor('alert', values[0]);
    },
    confirm(target, self, values) {
      return askedFor('confirm', values[0]);
    },
    prompt(target, self, values) {
      const value = answer === 'accept' ? textOf(values[1]) : answer;
      return askedFor('prompt', values[0], answer === 'dismiss' ? undefined : value) ? value : null;
    },
    open(target, self, values) {
      const opened = apply(target, self, values);
      // Windows that know nothing of their opener are not shown to it, even where they were opened.
      if (!opened) tell({ kind: 'not_opened', url: addressOf(values[0]) });
      return opened;
    },
  };

  function addressOf(url) {
    try {
      return url ? cut(new Address(`${url}`, document.baseURI).href) : 'about:blank';
    } catch {
      return cut(`${url}`);
    }
  }

  /** What it stands in for, by name: the function that was there, and the one that is now. */
  const replaced = { __proto__: null };

  function replace(holder, name, stand) {
    const original = holder[name];
    if (typeof original !== 'function') return;
    const trap = (target, self, values) => (armed ? stand(target, self, values) : apply(target, self, values));
    const standIn = hasProxy ? new Stand(original, { __proto__: null, apply: trap })
      : function standIn(...values) { return trap(original, this, values); };
    replaced[name] = { holder, original, standIn };
    holder[name] = standIn;
  }

  /** A page's own function is not in the way of anything, and is left alone. */
  function isNative(name) {
    const text = orNone(() => apply(toString, window[name], []));
    const own = orNone(() => apply(toString, cut, []));
    const ending = '{ [native code] }';
    const endsSo = (given) => {
      for (let at = 1; at <= ending.length; at += 1) {
        if (given[given.length - at] !== ending[ending.length - at]) return false;
      }
      return true;
    };
    // Where nothing can tell it is taken for the browser's.
    return typeof own !== 'string' || endsSo(own) || typeof text !== 'string' || endsSo(text);
  }

  function countError(target, self, values) {
    tell({ kind: 'error' });
    return apply(target, self, values);
  }

  function hearError({ message }) {
    if (message !== undefined && !message) return;
    tell({ kind: 'error' });
  }

  const listen = (way) => {
    orNone(() => apply(way, window, ['error', hearError]));
    orNone(() => apply(way, window, ['unhandledrejection', hearError]));
  };

  function arm() {
    armed = true;
    dialogs = 0;
    for (const name in standIns) if (isNative(name)) replace(window, name, standIns[name]);
    replace(console, 'error', countError);
    listen(addEventListener);
  }

  function disarm() {
    armed = false;
    for (const name in replaced) {
      const { holder, original, standIn } = replaced[name];
      if (holder[name] === standIn) holder[name] = original;
    }
    listen(removeEventListener);
    apply(removeEventListener, document, [name, obey]);
  }

  function obey(order) {
    const { detail } = order;
    if (typeof detail !== 'string') return disarm();
    answer = detail;
    if (!armed) arm();
  }

  apply(addEventListener, document, [name, obey]);
  // Nobody waits for it, or another one is there.
  if (dispatch(HERE, name)) apply(removeEventListener, document, [name, obey]);
})();
