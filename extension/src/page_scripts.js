import { CommandError } from './errors.js';

/**
 * Runs one of the functions of `page/` in the top frame of a tab, once its document is complete.
 * Such a function is sent to the page as text, so it may use nothing from outside itself. It
 * answers `{url, data}` or `{url, error}`, never by throwing, because the browser drops what a
 * page function throws.
 */
export function createPageScripts(browser) {
  return {
    async run(tabId, pageFunction, args, world = 'ISOLATED') {
      const [injection] = await browser.scripting.executeScript({
        target: { tabId },
        func: pageFunction,
        args,
        world,
      });
      const answer = injection?.result;
      if (!answer) throw new Error('The page was replaced before the script had finished.');
      const { url, data, error } = answer;
      if (error) throw new CommandError({ ...error, url });
      return { url, data };
    },
  };
}
