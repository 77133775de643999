/**
 * Runs in a frame, among its page's own scripts, where record_console.js keeps its entries; one that
 * may run no scripts has none. It calls nothing, as the page may have replaced it: the browser copies
 * what is plain.
 */
export function readRecordedConsole() {
  const { entries, dropped, since } = window['callslip.console'] ?? {};
  return { url: location.href, data: { entries, dropped, since } };
}
