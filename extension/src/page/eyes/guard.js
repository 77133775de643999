/* global callslip, callslipCutText */
/**
 * Keeps what a page says apart from what the outline says. Text of the page that looks like a ref
 * with its role, or like the beginning of a line of the outline, gets a `'` before it.
 */
callslip.guard = (() => {
  const words = [
    ...callslip.roles.KNOWN, ...Object.values(callslip.roles.LANDMARKS), 'password', 'date',
  ];
  const roles = `(?:${[...new Set(words)].join('|')})`;
  const REF = new RegExp(`(?<![\\p{L}\\p{N}_'])(?=e[1-9]\\d*\\s+${roles}(?![\\p{L}\\p{N}_]))`, 'gu');
  const LIKE_REF = /e[1-9]/;
  /** How lines begin that tell what came of an action. */
  const EVENTS = 'download |console \\d+ errors?|popup_blocked|nothing changed|tab \\d+ opened|dialog '
    + '|the page does not say|nothing is told of|the tab shows a PDF';
  const START = new RegExp(`^(?:${EVENTS}|e\\d+(?![\\p{L}\\p{N}_])|#+ |[-…+~→|] |${roles}(?![\\p{L}\\p{N}_]))`, 'u');

  function cut(text, chars) {
    return text.length > chars ? `${callslipCutText(text, chars - 1)}…` : text;
  }

  /** Text that has been cleaned, for the inside of a line. */
  function inner(text) {
    if (!LIKE_REF.test(text)) return text;
    return text.replace(REF, '\'');
  }

  /** The same for the beginning of a line. */
  function start(text) {
    const line = inner(text);
    return START.test(line) ? `'${line}` : line;
  }

  return { cut, inner, start };
})();
