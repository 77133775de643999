/**
 * Cuts texts. It is no module: the browser runs it in the extension's own world of a page, and
 * ../text.js has the same for the service worker. It is assigned in any case: an element of the page
 * may have the name, too, and is then in its place until something is.
 */
globalThis.callslipCutText = (text, chars) => {
  // A character beyond the first 65,536 has two units: half of it is no text.
  const isWithin = text.length > chars && text.codePointAt(chars - 1) > 0xffff;
  return text.slice(0, isWithin ? chars - 1 : chars);
};
