/**
 * Runs in pages whose console was requested, before their own scripts and among them, because console.* of
 * another world is a different console. It is not a module, so its limits are here. The page can see and
 * change the record: like all data from a page, it must not be trusted. It tolerates functions that the
 * page has replaced: it uses those that existed when it began, and if they were already replaced,
 * alternatives that behave like the browser's own. Its value is true if it has begun a record, and false if
 * there was one.
 */
(() => {
  const KEY = 'callslip.console';
  if (window[KEY]?.entries) return false;

  /** Entries per page, and the longest text of one in UTF-16 units: at most 400,000 units. */
  const ENTRIES = 200;
  const TEXT_CHARS = 2_000;
  /** How much of an object is shown: only its top, as in a console. */
  const DEPTH = 2;
  const MEMBERS = 20;

  /** The first result of the given ways that passes the test. */
  function working(ways, test) {
    for (let at = 0; at < ways.length; at += 1) {
      try {
        const found = ways[at]();
        if (test(found)) return found;
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

  /**
   * Like instanceof, but runs no page code: a function created here has no Symbol.hasInstance from the
   * page.
   */
  function isA(value, prototype) {
    const Kind = function Kind() {};
    Kind.prototype = prototype;
    return value instanceof Kind;
  }

  const probe = {};
  const apply = working([() => Reflect.apply], (way) => way((each) => each === probe, null, [probe]) === true)
    ?? ((target, self, values) => target(...values));
  const protoOf = working(
    [() => Object.getPrototypeOf, () => Reflect.getPrototypeOf, () => (value) => value.__proto__],
    (way) => way({ __proto__: probe }) === probe,
  );
  const descriptorOf = working(
    [() => Object.getOwnPropertyDescriptor, () => Reflect.getOwnPropertyDescriptor],
    (way) => way({ a: probe }, 'a').value === probe && way({ __proto__: { a: 1 } }, 'a') === undefined,
  );
  const lists = orNone(() => protoOf([]));
  const isArray = working([() => Array.isArray, () => (value) => isA(value, lists)],
    (way) => way([]) === true && way({ __proto__: null, length: 0 }) === false);
  const timeOf = working([() => Date.now, () => () => performance.timeOrigin + performance.now()],
    (way) => typeof way() === 'number');
  const CaptureProxy = working([() => Proxy], (way) => new way(() => 1, { apply: () => probe })() === probe);
  const symbolText = orNone(() => String);

  /**
   * Error.prototype, found through an error of the browser itself; and its getter of stacks, if it has one.
   */
  let errors;
  let stackGetter;
  try {
    null.a;
  } catch (error) {
    errors = orNone(() => protoOf(protoOf(error)));
    stackGetter = orNone(() => descriptorOf(error, 'stack').get);
  }

  /** Element.prototype: the last prototype of elements before that of nodes, which the document shares. */
  const elements = orNone(() => {
    let last;
    for (let next = protoOf(document.documentElement); !isA(document, next); next = protoOf(next)) last = next;
    return last;
  }) ?? orNone(() => Element.prototype);
  const isKind = (value, prototype) => orNone(() => isA(value, prototype)) === true;

  const record = { entries: [], dropped: false, since: orNone(timeOf) };
  const define = working([() => Object.defineProperty, () => Reflect.defineProperty], (way) => {
    const holder = {};
    way(holder, 'a', { value: probe });
    return holder.a === probe;
  });
  if (define) define(window, KEY, { value: record });
  else window[KEY] = record;

  /** As in page/cut_text.js, which would define a name in the page. */
  function cut(text) {
    if (text.length <= TEXT_CHARS) return text;
    const last = text[TEXT_CHARS - 1];
    const end = last >= '\ud800' && last <= '\udbff' ? TEXT_CHARS - 1 : TEXT_CHARS;
    let short = '';
    for (let at = 0; at < end; at += 1) short += text[at];
    return short;
  }

  function add(level, text, source) {
    const { entries } = record;
    if (entries.length >= ENTRIES) {
      for (let at = 1; at < entries.length; at += 1) entries[at - 1] = entries[at];
      entries.length = ENTRIES - 1;
      record.dropped = true;
    }
    const entry = { time: orNone(timeOf), level, text: cut(text) };
    entries[entries.length] = source ? { ...entry, source: cut(source) } : entry;
  }

  const ESCAPES = { __proto__: null, '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

  function quoted(text) {
    const short = cut(text);
    let shown = '';
    for (let at = 0; at < short.length; at += 1) shown += ESCAPES[short[at]] ?? short[at];
    return `"${shown}"`;
  }

  /** Runs no page code: it reads no getters and calls no toJSON. */
  function show(value, depth) {
    if (typeof value === 'string') return depth === DEPTH ? value : quoted(value);
    if (typeof value === 'function') return '[function]';
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'symbol') return orNone(() => symbolText(value)) ?? '[symbol]';
    if (typeof value !== 'object' || value === null) return `${value}`;
    if (isKind(value, errors)) return shownError(value);
    if (isKind(value, elements)) return `<${value.localName}>`;
    const isList = isArray?.(value) === true;
    if (depth === 0) return isList ? '[…]' : '{…}';
    return isList ? shownArray(value, depth) : shownObject(value, depth);
  }

  function shownError(error) {
    const { value, get } = descriptorOf(error, 'stack') ?? {};
    const stack = get && get === stackGetter ? error.stack : value;
    return typeof stack === 'string' ? stack : `${error.name}: ${error.message}`;
  }

  function shownArray(array, depth) {
    let members = '';
    for (let at = 0; at < array.length && at < MEMBERS; at += 1) {
      members += `${at > 0 ? ', ' : ''}${show(array[at], depth - 1)}`;
    }
    return `[${members}${array.length > MEMBERS ? ', …' : ''}]`;
  }

  function shownObject(object, depth) {
    if (!descriptorOf) return '{…}';
    let members = '';
    let count = 0;
    for (const key in object) {
      const found = descriptorOf(object, key);
      if (!found) continue;
      count += 1;
      if (count > MEMBERS) return `{${members}, …}`;
      members += `${count > 1 ? ', ' : ''}${key}: ${found.get ? '(…)' : show(found.value, depth - 1)}`;
    }
    return `{${members}}`;
  }

  /** Recording must never make a page fail. */
  function addSafely(level, values, source) {
    try {
      let text = '';
      for (let at = 0; at < values.length; at += 1) text += `${at > 0 ? ' ' : ''}${show(values[at], DEPTH)}`;
      add(level, text, source);
    } catch {
      record.dropped = true;
    }
  }

  function wrapped(original, level) {
    const trap = (target, self, values) => {
      addSafely(level, values);
      return apply(target, self, values);
    };
    return CaptureProxy ? new CaptureProxy(original, { __proto__: null, apply: trap })
      : function heard(...values) { return trap(original, this, values); };
  }

  for (const level in { __proto__: null, debug: 0, log: 0, info: 0, warn: 0, error: 0 }) {
    const original = console[level];
    if (typeof original === 'function') console[level] = wrapped(original, level);
  }
  orNone(() => {
    window.addEventListener('error', ({ message, error, filename, lineno, colno }) => {
      // Without a message it is an image or a script that failed to load; network reports those.
      const source = `${filename}:${lineno}:${colno}`;
      if (message) addSafely('error', ['Uncaught', error ?? message], source);
    });
    window.addEventListener('unhandledrejection', ({ reason }) => {
      addSafely('error', ['Uncaught (in promise)', reason]);
    });
  });
  return true;
})();
