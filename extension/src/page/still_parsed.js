/**
 * Runs in the page. Waits until its document is completely parsed, for a limited time; returns true if it
 * is still being parsed then. A document is waited for only once, including the wait of eyes/outline.js.
 */
export function stillParsed(patienceMs) {
  const WAITED = Symbol.for('callslip.waited');
  // A loaded page may open its document again, and write into it without end.
  const isParsed = () => document.readyState !== 'loading'
    || performance.getEntriesByType('navigation')[0]?.domContentLoadedEventEnd > 0;
  if (isParsed()) return false;
  if (globalThis[WAITED]) return true;
  return new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', () => resolve(false), { once: true });
    setTimeout(() => {
      globalThis[WAITED] = true;
      resolve(!isParsed());
    }, patienceMs);
  });
}
