/**
 * Runs in the page. Waits until its document has been read to the end, for a time; answers true where
 * it still comes in then.
 */
export function stillParsed(patienceMs) {
  const isParsed = () => document.readyState !== 'loading';
  if (isParsed()) return false;
  return new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', () => resolve(false), { once: true });
    setTimeout(() => resolve(!isParsed()), patienceMs);
  });
}
