/**
 * Runs among the page's own scripts, in each frame of a tab in which a command runs, before them
 * where the document begins meanwhile. As long as it is armed it stands in for what would stop a
 * script of the page until a person has answered (alert, confirm, prompt), tells of windows that the
 * browser did not open, and counts errors. Disarmed, it has put back what was there: the page has
 * the browser's own functions.
 *
 * It is no module and leaves no name in the page. Orders come as events of the document, from
 * page/relay.js, and what is to be told goes back as such; a page that looks for them finds them.
 */
(() => {
  const ORDER = 'callslip-order';
  const TOLD = 'callslip-told';

  /** How long it stays armed before anybody has confirmed that a command runs in this tab, in ms. */
  const UNCONFIRMED_MS = 1_000;
  /** A page that asks again until it likes the answer is stopped after so many dialogs. */
  const DIALOGS = 100;
  /** The longest text that is told, in UTF-16 units. */
  const TEXT_CHARS = 2_000;

  const { stringify, parse } = JSON;
  const { setTimeout: later, clearTimeout: never, CustomEvent: Message } = window;
  const dispatch = document.dispatchEvent.bind(document);
  const names = ['alert', 'confirm', 'prompt', 'open'];

  // Whoever is there already has the order to say so.
  if (!dispatch(new Message(ORDER, { cancelable: true, detail: '{}' }))) return;

  /** By what a prompt and a confirm are answered: `accept`, `dismiss`, or the text for a prompt. */
  let answer = globalThis[Symbol.for('callslip.accept')] ? 'accept' : 'dismiss';
  delete globalThis[Symbol.for('callslip.accept')];
  let armed = false;
  let dialogs = 0;
  let timer;

  function tell(what) {
    dispatch(new Message(TOLD, { detail: stringify(what) }));
  }

  /** As page/cut_text.js does, which leaves a name in the page. */
  function cut(text) {
    return text.slice(0, text.codePointAt(TEXT_CHARS - 1) > 0xffff ? TEXT_CHARS - 1 : TEXT_CHARS);
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
    alert(target, self, [text]) {
      askedFor('alert', text);
    },
    confirm(target, self, [text]) {
      return askedFor('confirm', text);
    },
    prompt(target, self, [text, preset]) {
      const value = answer === 'accept' ? textOf(preset) : answer;
      return askedFor('prompt', text, answer === 'dismiss' ? undefined : value) ? value : null;
    },
    open(target, self, values) {
      const opened = Reflect.apply(target, self, values);
      // Windows that know nothing of their opener are not shown to it, even where they were opened.
      if (!opened) tell({ kind: 'not_opened', url: addressOf(values[0]) });
      return opened;
    },
  };

  function addressOf(url) {
    try {
      return url ? cut(new URL(`${url}`, document.baseURI).href) : 'about:blank';
    } catch {
      return cut(`${url}`);
    }
  }

  /** What it stands in for, by name: the function that was there, and the one that is now. */
  const replaced = new Map();

  function replace(holder, name, apply) {
    const original = holder[name];
    if (typeof original !== 'function') return;
    const standIn = new Proxy(original, {
      apply: (target, self, values) =>
        (armed ? apply(target, self, values) : Reflect.apply(target, self, values)),
    });
    replaced.set(name, { holder, original, standIn });
    holder[name] = standIn;
  }

  /** A page's own function is not in the way of anything, and is left alone. */
  function isNative(name) {
    return /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(window[name]));
  }

  function countError(target, self, values) {
    tell({ kind: 'error' });
    return Reflect.apply(target, self, values);
  }

  function hearError({ message }) {
    if (message !== undefined && !message) return;
    tell({ kind: 'error' });
  }

  function arm() {
    if (armed) return;
    armed = true;
    dialogs = 0;
    for (const name of names) if (isNative(name)) replace(window, name, standIns[name]);
    replace(console, 'error', countError);
    window.addEventListener('error', hearError);
    window.addEventListener('unhandledrejection', hearError);
  }

  function disarm() {
    armed = false;
    for (const [name, { holder, original, standIn }] of replaced) {
      if (holder[name] === standIn) holder[name] = original;
    }
    replaced.clear();
    window.removeEventListener('error', hearError);
    window.removeEventListener('unhandledrejection', hearError);
  }

  document.addEventListener(ORDER, (event) => {
    event.preventDefault();
    const { ms, dialog } = parse(event.detail);
    if (ms === undefined) return;
    never(timer);
    if (dialog !== undefined) answer = dialog;
    if (ms <= 0) return disarm();
    arm();
    timer = later(disarm, ms);
  });

  arm();
  timer = later(disarm, UNCONFIRMED_MS);
})();
