/**
 * Which fields of a document hold what is nobody's business. It is no module: the browser runs it in
 * the extension's own world of a page, for all that is there, and it remembers for as long as the
 * document lives.
 */
// An element of the page may have the name, too: that is no property of the global object's own.
if (!Object.hasOwn(globalThis, 'callslipSecretFields')) globalThis.callslipSecretFields = (() => {
  const SECRETS = /^(current-password|new-password|one-time-code|cc-.+)$/;

  /** What was a field for a password once: it may be shown by a click on an eye. */
  const passwords = new WeakSet();

  /** True for a field whose value is nobody's business, also while it shows its password. */
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
