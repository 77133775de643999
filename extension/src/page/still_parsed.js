/**
 * Runs in the page. Waits until its document has been read to the end, for a time; answers true where
 * it still comes in then. Once waited for is enough: eyes/outline.js goes by that, too.
 */
export function stillParsed(patienceMs) {
  const WAITED = Symbol.for('callslip.waited');
  // A page that has loaded may open its document again, to write into it for as long as it likes.
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
