/**
 * Runs among the page's own scripts, in each frame of a tab in which a command runs, and before those
 * scripts if the document begins meanwhile. While armed, it replaces the functions that would stop a script
 * of the page until a person answers (alert, confirm, prompt), reports windows that the browser did not
 * open, and counts errors. Then it restores the originals and is gone: the page has the browser's own
 * functions, and no listener remains.
 *
 * It is not a module and leaves no name in the page. It reports to page/relay.js by events, under a name
 * that it generates, and receives others under that name: first the answer to dialogs, as `detail`, which
 * arms it, and at the end `null`. A page may have replaced everything that is used here, so it uses the
 * functions that existed when it began, if they behave like the browser's own.
 */
(() => {
  const HERE = 'callslip-here';

  /** A page that repeats a dialog until it likes the answer is stopped after this many dialogs. */
  const DIALOGS = 100;
  /** The longest reported text, in UTF-16 units. */
  const TEXT_CHARS = 2_000;

  /** The first way that passes the test. */
  function working(ways, test) {
    for (let at = 0; at < ways.length; at += 1) {
      try {
        if (test(ways[at])) return ways[at];
      } catch {
        // The next one may pass.
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

  /** The answer to a prompt and a confirm: `accept`, `dismiss`, or the text for a prompt. */
  let answer = 'dismiss';
  let armed = false;
  let dialogs = 0;
  const name = `callslip-${orNone(() => Math.random()) ?? ''}`;
  const told = `${name}-told`;

  function tell(what) {
    orNone(() => dispatch(told, what));
  }

  /** As in page/cut_text.js, which would define a name in the page. */
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
      // `open` returns null for a window without access to its opener, even if it was opened.
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

  /** The replaced functions by name: the original, and its stand-in. */
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

  /** A page's own function blocks nothing, and is left alone. */
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
    // If this cannot be determined, the function is assumed to be the browser's.
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
  // No relay expects it, or another instance is already there.
  if (dispatch(HERE, name)) apply(removeEventListener, document, [name, obey]);
})();
