/**
 * The root object of the extension in its own world of a frame; the files of this folder add their parts.
 * It is not a module: the browser runs it, and then the other files, once in each document; see
 * ../page_parts.js. The page itself can see none of it.
 */
globalThis.callslip = {
  /** Set by page_parts.js once all parts are installed. */
  version: null,

  /** The error that a part throws to fail; the command ends with it. */
  Failure: class extends Error {
    constructor({ code, message, hint, mayHaveExecuted = false }) {
      super(message);
      this.answer = { code, message, hint, mayHaveExecuted };
    }
  },
};
