/**
 * Detects the fields of a document that contain secrets. It is not a module: the browser runs it in the
 * extension's own world of a page, for all other scripts there, and its memory lasts as long as the
 * document.
 */
// An element of the page may have the same name, but is not an own property of the global object.
if (!Object.hasOwn(globalThis, 'callslipSecretFields')) globalThis.callslipSecretFields = (() => {
  const SECRETS = /^(current-password|new-password|one-time-code|cc-.+)$/;

  /** Fields that were once password fields: a button may have made their text visible. */
  const passwords = new WeakSet();

  /** True for a field whose value is secret, even while it shows its password. */
  function isSecret(element) {
    if (element.type === 'password' || passwords.has(element)) {
      passwords.add(element);
      return true;
    }
    const words = (element.getAttribute('autocomplete') ?? '').toLowerCase().split(/\s+/);
    return words.some((word) => SECRETS.test(word));
  }

  return { isSecret };
})();
