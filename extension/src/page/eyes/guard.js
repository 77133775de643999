/* global callslip, callslipCutText */
/**
 * Distinguishes text of the page from text of the outline. Text of the page that looks like a ref with its
 * role, or like the beginning of a line of the outline, is preceded by `'`.
 */
callslip.guard = (() => {
  const words = [
    ...callslip.roles.KNOWN, ...Object.values(callslip.roles.LANDMARKS), 'password', 'date',
  ];
  const roles = `(?:${[...new Set(words)].join('|')})`;
  const REF = new RegExp(`(?<![\\p{L}\\p{N}_'])(?=e[1-9]\\d*\\s+${roles}(?![\\p{L}\\p{N}_]))`, 'gu');
  const LIKE_REF = /e[1-9]/;
  /** The beginnings of lines that report the effects of an action. */
  const EVENTS = 'download |console \\d+ errors?|popup_blocked|nothing changed|tab \\d+ opened|dialog '
    + '|the page does not say|nothing is told of|the tab shows a PDF';
  const START = new RegExp(`^(?:${EVENTS}|e\\d+(?![\\p{L}\\p{N}_])|#+ |[-…+~→|] |${roles}(?![\\p{L}\\p{N}_]))`, 'u');

  function cut(text, chars) {
    return text.length > chars ? `${callslipCutText(text, chars - 1)}…` : text;
  }

  /** Cleaned text, for the inside of a line. */
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
