/**
 * Runs in the page, among its own scripts. The script may be an expression, a program whose last statement
 * is its value, or a function body that uses `return` or `await`; it is compiled in that order before any
 * of it runs, so that no part of it runs twice. `data` is JSON text: the function serializes the value in
 * the page, because the browser would drop a value that it cannot copy.
 *
 * A page may have replaced every named object. Therefore whatever syntax alone can do calls nothing, and
 * everything else uses the first of several ways that passes a test against the browser's own behavior.
 */
export async function evaluateScript(script, limitBytes) {
  const url = location.href;
  // Without a prototype: a page that adds `then` to all objects could otherwise replace the result.
  const failed = (code, message, mayHaveExecuted, hint) => ({
    __proto__: null,
    url,
    error: { code, message, mayHaveExecuted, hint },
  });

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

  /**
   * `isA(value, prototype)` runs no page code: a function created here has no Symbol.hasInstance from the
   * page.
   */
  function isA(value, prototype) {
    const Kind = function Kind() {};
    Kind.prototype = prototype;
    return value instanceof Kind;
  }

  function orNone(look) {
    try {
      return look();
    } catch {
      return undefined;
    }
  }

  const probe = {};
  const protoOf = working(
    [(value) => Object.getPrototypeOf(value), (value) => value.__proto__, (value) => Reflect.getPrototypeOf(value)],
    (way) => way({ __proto__: probe }) === probe,
  );
  const isArray = working(
    [(value) => Array.isArray(value), (value) => isA(value, protoOf([]))],
    (way) => way([]) === true && way({ __proto__: null, length: 0 }) === false,
  );
  const digits = (number, width) => {
    let text = `${number}`;
    while (text.length < width) text = `0${text}`;
    return text;
  };
  const isoOf = working([
    (date) => date.toISOString(),
    (date) => `${digits(date.getUTCFullYear(), 4)}-${digits(date.getUTCMonth() + 1, 2)}-${digits(date.getUTCDate(), 2)}T${
      digits(date.getUTCHours(), 2)}:${digits(date.getUTCMinutes(), 2)}:${digits(date.getUTCSeconds(), 2)}.${
      digits(date.getUTCMilliseconds(), 3)}Z`,
  ], (way) => way(new Date(951782400123)) === '2000-02-29T00:00:00.123Z');
  const isDate = (value) => orNone(() => isA(value, Date.prototype)) === true;

  /** Node.prototype, found through the document: the last prototype before one that the window shares. */
  function nodePrototype() {
    let prototype;
    for (let next = protoOf(document); !isA(window, next); next = protoOf(next)) prototype = next;
    return prototype;
  }

  function isOfBrowser(value) {
    if (typeof value !== 'object' || value === null) return false;
    return orNone(() => value.window === value || isA(value, nodePrototype())) === true;
  }

  /** Whether it has a `then` of its own, rather than one that the page has added to all objects. */
  function isPromise(value) {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    const then = orNone(() => value.then);
    return typeof then === 'function' && then !== orNone(() => ({}).then);
  }

  /** A thrown value as text. */
  function said(thrown) {
    try {
      const { name, message } = thrown ?? {};
      if (typeof message !== 'string' || typeof thrown !== 'object') return `${thrown}`;
      return message && name ? `${name}: ${message}` : `${name || message}`;
    } catch {
      return 'It threw what has no words.';
    }
  }

  const CONTROLS = '\0\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f'
    + '\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f';

  function escaped(character) {
    if (character === '"' || character === '\\') return `\\${character}`;
    let code = 0;
    while (CONTROLS[code] !== character) code += 1;
    return `\\u00${code < 16 ? 0 : 1}${'0123456789abcdef'[code % 16]}`;
  }

  function quoted(text) {
    add(text.length);
    let json = '';
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at];
      json += character < ' ' || character === '"' || character === '\\' ? escaped(character) : character;
    }
    return `"${json}"`;
  }

  const TOO_LARGE = {};
  let length = 0;
  function add(units) {
    length += units;
    if (length > limitBytes) throw TOO_LARGE;
  }

  const refuse = (message) => { throw { name: 'TypeError', message }; };

  /** The value that an object represents. A toJSON that the page has added to all objects is ignored. */
  function toldOf(value, isList, key) {
    if (isDate(value)) {
      if (!isoOf) refuse('The page has replaced what tells the time of a Date.');
      return orNone(() => isoOf(value)) ?? null;
    }
    if (orNone(() => isA(value, protoOf('')))) {
      let text = '';
      for (let at = 0; at < value.length; at += 1) text += value[at];
      return text;
    }
    for (const type in { __proto__: null, number: 0, boolean: 0 }) {
      if (!orNone(() => isA(value, protoOf(type === 'number' ? 0 : false)))) continue;
      const plain = value.valueOf();
      return typeof plain === type ? plain : refuse('The page has replaced what tells the value of an object.');
    }
    const method = orNone(() => value.toJSON);
    const isOwn = typeof method === 'function' && method !== orNone(() => (isList ? [] : {}).toJSON);
    return isOwn ? value.toJSON(key) : value;
  }

  /** As JSON.stringify does; `above` is the chain of containers of the value. */
  function jsonOf(given, key, above) {
    const isObject = typeof given === 'object' && given !== null;
    const isList = isObject && isArray(given);
    const value = isObject ? toldOf(given, isList, key) : given;
    add(1);
    if (value === null) return 'null';
    if (typeof value === 'string') return quoted(value);
    if (typeof value === 'boolean') return `${value}`;
    if (typeof value === 'number') return value - value === 0 ? `${value}` : 'null';
    if (typeof value === 'bigint') refuse('JSON has no BigInt.');
    if (typeof value !== 'object') return undefined;
    for (let each = above; each; each = each.above) {
      if (each.value === value) refuse('The value is circular.');
    }
    const within = { value, above };
    return (value === given ? isList : isArray(value)) ? listOf(value, within) : recordOf(value, within);
  }

  function listOf(list, within) {
    let json = '';
    for (let at = 0; at < list.length; at += 1) {
      json += `${at > 0 ? ',' : ''}${jsonOf(list[at], `${at}`, within) ?? 'null'}`;
    }
    return `[${json}]`;
  }

  function recordOf(object, within) {
    const own = { __proto__: null, ...object };
    let json = '';
    for (const key in own) {
      const member = jsonOf(own[key], key, within);
      if (member !== undefined) json += `${json ? ',' : ''}${quoted(key)}:${member}`;
    }
    return `{${json}}`;
  }

  // A body must not be able to close the braces around it: the constructor parses the body before it adds
  // them.
  const evaluate = working([(text) => (0, eval)(text)], (way) => way('[7][0]') === 7);
  const bodies = [
    (body) => new (async () => {}).constructor(body),
    (body) => evaluate(`(async function () {\n${body}\n})`),
  ];
  let functionOf;
  let refusal;
  for (let at = 0; at < bodies.length && !functionOf; at += 1) {
    try {
      if (await bodies[at]('return 7')() === 7) functionOf = bodies[at];
    } catch (error) {
      refusal ??= error;
    }
  }
  const blocked = (why) => failed('script_blocked', why, false, 'Use query, get_page, click, type, select, press, '
    + 'scroll, hover, wait_for or screenshot: they need no script of yours.');
  if (!functionOf) return blocked(`The page forbids scripts from text: ${said(refusal)}`);
  const parses = (body) => working([functionOf], (way) => way(body));

  let compiled;
  if (parses(`return (${script}\n);`)) {
    compiled = functionOf(`return { __proto__: null, value: (${script}\n) };`);
  } else if (evaluate && working([evaluate], (way) => (way(`if (false) {\n${script}\n}`), true))) {
    compiled = () => ({ __proto__: null, value: evaluate(script) });
  } else if (!evaluate && parses(`class Program { static {\n${script}\n} }`)) {
    return blocked('The page has replaced eval, without which statements have no value. Give an expression, or a function body with return.');
  } else {
    try {
      const body = functionOf(script);
      compiled = async () => ({ __proto__: null, value: await body() });
    } catch (error) {
      return failed('script_error', said(error), false);
    }
  }

  let value;
  try {
    ({ value } = await compiled());
    if (isPromise(value)) value = await value;
  } catch (error) {
    return failed('script_error', said(error), true);
  }

  const hint = 'Return plain values: text, numbers, arrays, objects; of an element, its outerHTML.';
  if (isOfBrowser(value)) {
    const name = orNone(() => value[Symbol.toStringTag]) ?? orNone(() => value.constructor.name);
    const kind = typeof name === 'string' ? `[object ${name}]` : 'of the browser';
    return failed('result_not_serializable', `The value is ${kind}.`, true, hint);
  }
  try {
    const data = jsonOf(value === undefined ? null : value, '', undefined);
    return data === undefined
      ? failed('result_not_serializable', `The value is a ${typeof value}.`, true, hint) : { __proto__: null, url, data };
  } catch (error) {
    if (error !== TOO_LARGE) return failed('result_not_serializable', said(error), true, hint);
    const more = 'Ask for a part of it, for instance with slice(), or for fewer fields.';
    return failed('result_too_large', `The result is longer than ${limitBytes} bytes, which is the limit.`, true, more);
  }
}
