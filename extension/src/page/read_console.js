/**
 * Runs in a frame, among its page's own scripts, where record_console.js keeps its entries; a frame that
 * cannot run scripts has none. It calls no functions, because the page may have replaced them: the browser
 * copies plain values.
 */
export function readRecordedConsole() {
  const { entries, dropped, since } = window['callslip.console'] ?? {};
  return { url: location.href, data: { entries, dropped, since } };
}
