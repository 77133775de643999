/**
 * Resolves after everything that is ready to run has run: an immediate comes after all promise
 * callbacks, whatever their number. It does not wait for time, and mocked timers do not delay it.
 */
export function settled() {
  return new Promise((resolve) => setImmediate(resolve));
}
