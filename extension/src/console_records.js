import { CONSOLE_SITES } from './limits.js';

const RECORDER = 'src/page/record_console.js';

/**
 * Has pages record what they say to their console: those that somebody has asked about and no
 * others, since a page can see it.
 */
export function createConsoleRecords({ scripting, pageScripts, log }) {
  return {
    /** The page of a tab records from now on; answers true unless it already did. */
    begin(tabId) {
      return pageScripts.install(tabId, RECORDER);
    },

    /**
     * The pages of the site of `url` record from their start, until the browser is closed. Where
     * that can't be, they begin when they are asked, as pages do that were there before.
     */
    async follow(url) {
      const { protocol, hostname } = new URL(url);
      if (!['http:', 'https:'].includes(protocol)) return;
      const id = `console of ${hostname}`;
      try {
        const followed = await scripting.getRegisteredContentScripts();
        if (followed.length >= CONSOLE_SITES || followed.some((script) => script.id === id)) return;
        await scripting.registerContentScripts([{
          id,
          matches: [`*://${hostname}/*`],
          js: [RECORDER],
          runAt: 'document_start',
          world: 'MAIN',
          persistAcrossSessions: false,
        }]);
      } catch (error) {
        log(`The console of ${hostname} is recorded only when it is asked for: ${error.message}`);
      }
    },
  };
}
