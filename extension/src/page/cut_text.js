/**
 * Truncates texts. It is not a module: the browser runs it in the extension's own world of a page, and
 * ../text.js uses it in the service worker. It is always assigned: an element of the page may have the same
 * name, and would be found instead.
 */
globalThis.callslipCutText = (text, chars) => {
  // A character beyond the first 65,536 has two units, which must not be separated.
  const isWithin = text.length > chars && text.codePointAt(chars - 1) > 0xffff;
  return text.slice(0, isWithin ? chars - 1 : chars);
};
