/**
 * Resolves after everything that is ready to run has run: an immediate comes after all promise
 * callbacks, whatever their number. It is no wait for time, and mocked timers do not hold it up.
 */
export function settled() {
  return new Promise((resolve) => setImmediate(resolve));
}
