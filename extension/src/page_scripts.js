import { CommandError, pageNavigated } from './errors.js';

/** What the browser says when the page went away under the script. */
const REPLACED = /frame with id \d+ (was removed|is not ready)|no (frame|document) with id/i;

/** Install what the functions that ask for `elements` share: see the files. */
const ELEMENTS = ['src/page/selectors.js', 'src/page/elements.js'];

/**
 * Runs one of the functions of `page/` in the top frame of a tab, once its document is complete.
 * Such a function is sent to the page as text, so it may use nothing from outside itself, other
 * than `callslipElements` where it asks for that. It answers `{url, data}` or `{url, error}`, never
 * by throwing, because the browser drops what a page function throws; it drops members of its
 * arguments that are null, too.
 */
export function createPageScripts(browser) {
  async function inject(injection) {
    try {
      const [{ result } = {}] = await browser.scripting.executeScript(injection);
      return result;
    } catch (error) {
      throw REPLACED.test(error.message) ? pageNavigated() : error;
    }
  }

  return {
    /**
     * `world` is MAIN for what runs among the page's own scripts; with `early` it does not wait for
     * the document to be complete.
     */
    async run(tabId, pageFunction, args, { world = 'ISOLATED', elements, early } = {}) {
      const shared = { target: { tabId }, world, injectImmediately: early === true };
      if (elements) await inject({ ...shared, files: ELEMENTS });
      const answer = await inject({ ...shared, func: pageFunction, args });
      if (!answer) throw pageNavigated();
      const { url, data, error } = answer;
      if (error) throw new CommandError({ ...error, url });
      return { url, data };
    },

    /** Runs a file of ours among the page's own scripts, and answers its value. */
    install(tabId, file) {
      return inject({ target: { tabId }, world: 'MAIN', files: [file] });
    },
  };
}
