import './page/cut_text.js';

/** The beginning of a text, `chars` UTF-16 units at the most, without half a character at its end. */
export const cutText = globalThis.callslipCutText;

/** How JSON.stringify writes half a character; what was written as that in the text looks the same. */
const HALF = /\\ud[89a-f]/;

/**
 * A value as JSON that every reader takes: half a character, which a page can make, and which no
 * encoding has, becomes U+FFFD.
 */
export function jsonText(value) {
  const json = JSON.stringify(value);
  return HALF.test(json) ? JSON.stringify(wellFormed(JSON.parse(json))) : json;
}

/** A copy of what JSON holds, with whole characters only; without recursion, as it may be deep. */
function wellFormed(value) {
  const root = [];
  const open = [{ from: [value], to: root }];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const [name, member] of Object.entries(at.from)) {
      // `__proto__` is a name like others here.
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

/** Names that differ in halves of characters only stay apart. */
function wholeName(name, { from, to }) {
  if (name.isWellFormed()) return name;
  let whole = name.toWellFormed();
  while (Object.hasOwn(from, whole) || Object.hasOwn(to, whole)) whole += '\ufffd';
  return whole;
}
