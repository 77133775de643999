/**
 * The root of what the extension keeps in its own world of a frame: the files beside it add their
 * parts. It is no module: the browser runs it, and then them, once in each document; see
 * ../page_parts.js. The page itself can see none of it.
 */
globalThis.callslip = {
  /** Set by page_parts.js once all parts are there. */
  version: null,

  /** What a part throws that refuses; the command ends with this error. */
  Failure: class extends Error {
    constructor({ code, message, hint, mayHaveExecuted = false }) {
      super(message);
      this.answer = { code, message, hint, mayHaveExecuted };
    }
  },
};
