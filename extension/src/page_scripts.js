import { CommandError, pageNavigated } from './errors.js';
import { PARSE_PATIENCE_MS } from './limits.js';
import { stillParsed } from './page/still_parsed.js';

/** Errors of the browser when the page was replaced while the script ran. */
const REPLACED = /frame with id \d+ (was removed|is not ready)|no (frame|document) with id/i;

/** Shared code of the functions that set `elements`: see the files. */
const ELEMENTS = ['cut_text', 'pdf_viewer', 'secret_fields', 'selectors', 'elements'].map((name) => `src/page/${name}.js`);

/**
 * Runs one of the functions of `page/` in the top frame of a tab, once its document is complete, or after a
 * wait, because some never are. Such a function is sent to the page as text, so it may use nothing from
 * outside itself, except `callslipElements` if it sets `elements`. It returns `{url, data}` or `{url,
 * error}`, and never throws, because the browser drops what a page function throws; the browser also drops
 * members of its arguments that are null.
 */
export function createPageScripts(browser, now = () => performance.now()) {
  async function injectInAll(injection) {
    try {
      const answers = await browser.scripting.executeScript(injection);
      return answers.sort((a, b) => a.frameId - b.frameId);
    } catch (error) {
      throw REPLACED.test(error.message) ? pageNavigated() : error;
    }
  }

  async function inject(injection) {
    const [{ result } = {}] = await injectInAll(injection);
    return result;
  }

  return {
    /**
     * `world` is MAIN for functions that run among the page's own scripts; with `early` it does not wait
     * for the document to be complete. `endsAt` is the time of `now` at which the command is over: half of
     * the remaining time is for the function itself.
     */
    async run(tabId, pageFunction, args, { world = 'ISOLATED', elements, early, endsAt = Infinity } = {}) {
      const target = { tabId };
      const patienceMs = Math.max(0, Math.min(PARSE_PATIENCE_MS, (endsAt - now()) / 2));
      const asked = { target, world: 'ISOLATED', injectImmediately: true, func: stillParsed, args: [patienceMs] };
      const injectImmediately = early === true || await inject(asked) === true;
      const shared = { target, world, injectImmediately };
      if (elements) await inject({ ...shared, files: ELEMENTS });
      const answer = await inject({ ...shared, func: pageFunction, args });
      if (!answer) throw pageNavigated();
      const { url, data, error } = answer;
      if (error) throw new CommandError({ ...error, url });
      return { url, data };
    },

    /**
     * Runs a file of the extension among the page's own scripts in all frames of a tab, and returns its
     * value in the top frame. In a frame that can run no scripts, it does not run.
     */
    async install(tabId, file) {
      const [top] = await injectInAll({ target: { tabId, allFrames: true }, world: 'MAIN', files: [file] });
      return top?.result;
    },

    /**
     * Runs a function among the page's own scripts in all frames. Resolves to a list of `{frameId, url,
     * data}`, the top frame first.
     */
    async runInAll(tabId, pageFunction, args) {
      const target = { tabId, allFrames: true };
      const answers = await injectInAll({
        target, world: 'MAIN', injectImmediately: true, func: pageFunction, args,
      });
      if (!answers[0]?.result) throw pageNavigated();
      return answers.filter(({ result }) => result)
        .map(({ frameId, result: { url, data } }) => ({ frameId, url, data }));
    },
  };
}
