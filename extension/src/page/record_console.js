/**
 * Runs in pages of which somebody has asked for the console, before their own scripts and among
 * them, because console.* of another world is another console. It is no module, so its limits stand
 * here. The page can see and change what it keeps: nothing of it is to be trusted, like all that a
 * page says. Its value is true where the record begins, and false where there was one.
 */
(() => {
  const KEY = Symbol.for('callslip.console');
  if (window[KEY]) return false;

  /** Entries per page, and the longest text of one in UTF-16 units: 400,000 units at the most. */
  const ENTRIES = 200;
  const TEXT_CHARS = 2_000;
  /** How much of an object is shown: a console shows its top, too. */
  const DEPTH = 2;
  const MEMBERS = 20;

  const record = { entries: [], dropped: false, since: new Date().toISOString() };
  Object.defineProperty(window, KEY, { value: record });

  /** As page/cut_text.js does, which leaves a name in the page. */
  function cut(text) {
    return text.slice(0, text.codePointAt(TEXT_CHARS - 1) > 0xffff ? TEXT_CHARS - 1 : TEXT_CHARS);
  }

  function add(level, text, source) {
    const entry = { time: new Date().toISOString(), level, text: cut(text) };
    record.entries.push(source ? { ...entry, source: cut(source) } : entry);
    if (record.entries.length <= ENTRIES) return;
    record.entries.shift();
    record.dropped = true;
  }

  /** Runs no code of the page: it reads no getters and calls no toJSON. */
  function show(value, depth) {
    if (typeof value === 'string') return depth === DEPTH ? value : JSON.stringify(value);
    if (typeof value === 'function') return '[function]';
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return shownError(value);
    if (value instanceof Element) return `<${value.localName}>`;
    if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}';
    return Array.isArray(value) ? shownArray(value, depth) : shownObject(value, depth);
  }

  /** The browser's own getter of stacks, where it has one; else a stack is a plain value. */
  const stackGetter = Object.getOwnPropertyDescriptor(new Error(), 'stack')?.get;

  function shownError(error) {
    const { value, get } = Object.getOwnPropertyDescriptor(error, 'stack') ?? {};
    const stack = get && get === stackGetter ? Reflect.apply(get, error, []) : value;
    return typeof stack === 'string' ? stack : Error.prototype.toString.call(error);
  }

  function shownArray(array, depth) {
    const members = array.slice(0, MEMBERS).map((member) => show(member, depth - 1));
    if (array.length > MEMBERS) members.push('…');
    return `[${members.join(', ')}]`;
  }

  function shownObject(object, depth) {
    const keys = Object.keys(object);
    const members = keys.slice(0, MEMBERS).map((key) => {
      const { value, get } = Object.getOwnPropertyDescriptor(object, key) ?? {};
      return `${key}: ${get ? '(…)' : show(value, depth - 1)}`;
    });
    if (keys.length > MEMBERS) members.push('…');
    return `{${members.join(', ')}}`;
  }

  /** Recording must never be the reason why a page fails. */
  function addSafely(level, values, source) {
    try {
      add(level, values.map((value) => show(value, DEPTH)).join(' '), source);
    } catch {
      record.dropped = true;
    }
  }

  for (const level of ['debug', 'log', 'info', 'warn', 'error']) {
    const original = console[level];
    console[level] = new Proxy(original, {
      apply(target, self, values) {
        addSafely(level, values);
        return Reflect.apply(target, self, values);
      },
    });
  }
  window.addEventListener('error', ({ message, error, filename, lineno, colno }) => {
    // Without a message it is an image or a script that did not load; network tells about those.
    const source = `${filename}:${lineno}:${colno}`;
    if (message) addSafely('error', ['Uncaught', error ?? message], source);
  });
  window.addEventListener('unhandledrejection', ({ reason }) => {
    addSafely('error', ['Uncaught (in promise)', reason]);
  });
  return true;
})();
