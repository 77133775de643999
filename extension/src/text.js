import './page/cut_text.js';

/** The beginning of a text, at most `chars` UTF-16 units, without a lone surrogate at its end. */
export const cutText = globalThis.callslipCutText;

/**
 * How JSON.stringify writes a lone surrogate; a text that contains this escape literally looks the
 * same.
 */
const HALF = /\\ud[89a-f]/;

/**
 * A value as JSON that every reader accepts: a lone surrogate, which a page can produce, and which no
 * encoding can represent, becomes U+FFFD.
 */
export function jsonText(value) {
  const json = JSON.stringify(value);
  return HALF.test(json) ? JSON.stringify(wellFormed(JSON.parse(json))) : json;
}

/** A copy of a JSON value with whole characters only; without recursion, because it may be deep. */
function wellFormed(value) {
  const root = [];
  const open = [{ from: [value], to: root }];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const [name, member] of Object.entries(at.from)) {
      // `__proto__` is an ordinary name here.
      const whole = { value: copyOf(member, open), enumerable: true, writable: true, configurable: true };
      Object.defineProperty(at.to, wholeName(name, at), whole);
    }
  }
  return root[0];
}

function copyOf(value, open) {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  const to = Array.isArray(value) ? [] : {};
  open.push({ from: value, to });
  return to;
}

/** Names that differ only in lone surrogates stay distinct. */
function wholeName(name, { from, to }) {
  if (name.isWellFormed()) return name;
  let whole = name.toWellFormed();
  while (Object.hasOwn(from, whole) || Object.hasOwn(to, whole)) whole += '\ufffd';
  return whole;
}
