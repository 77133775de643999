/**
 * Runs in the page, among its own scripts. The script may be an expression, a program whose last
 * statement is its value, or a function body that uses `return` or `await`; it is compiled in that
 * order before anything of it runs, so that no part of it runs twice. `data` is JSON text: the
 * page turns its value into text itself, because the browser would drop what it cannot copy.
 */
export async function evaluateScript(script, limitBytes) {
  const url = location.href;
  const failed = (code, message, mayHaveExecuted, hint) => ({
    url,
    error: { code, message, mayHaveExecuted, hint },
  });

  const AsyncFunction = (async () => {}).constructor;
  const globalEval = eval;
  const compilers = [
    () => new AsyncFunction(`return (${script}\n);`),
    () => {
      globalEval(`if (false) {\n${script}\n}`);
      return () => globalEval(script);
    },
    () => new AsyncFunction(script),
  ];
  let compiled;
  let refusal;
  for (const compile of compilers) {
    try {
      compiled = compile();
      break;
    } catch (error) {
      refusal = error;
      if (!(error instanceof SyntaxError)) break;
    }
  }
  if (!compiled && refusal instanceof SyntaxError) {
    return failed('script_error', String(refusal), false);
  }
  if (!compiled) {
    const hint = 'Use query, get_page, click, type, select, press, scroll, hover, wait_for or '
      + 'screenshot: they need no script of yours.';
    return failed('script_blocked', `The page forbids scripts from text: ${refusal}`, false, hint);
  }

  let value;
  try {
    value = await compiled();
  } catch (error) {
    return failed('script_error', String(error), true);
  }

  const hint = 'Return plain values: text, numbers, arrays, objects; of an element, its outerHTML.';
  if (value instanceof Node || value instanceof Window) {
    const kind = Object.prototype.toString.call(value);
    return failed('result_not_serializable', `The value is ${kind}.`, true, hint);
  }
  let json;
  try {
    json = JSON.stringify(value === undefined ? null : value);
  } catch (error) {
    return failed('result_not_serializable', String(error), true, hint);
  }
  if (json === undefined) {
    return failed('result_not_serializable', `The value is a ${typeof value}.`, true, hint);
  }
  const bytes = new TextEncoder().encode(json).length;
  if (bytes > limitBytes) {
    const message = `The result is ${bytes} bytes long; the limit is ${limitBytes}.`;
    const hint = 'Ask for a part of it, for instance with slice(), or for fewer fields.';
    return failed('result_too_large', message, true, hint);
  }
  return { url, data: json };
}
