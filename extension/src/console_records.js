import { CONSOLE_SITES } from './limits.js';
import { readRecordedConsole } from './page/read_console.js';
import { toldAddress } from './told_page.js';

const RECORDER = 'src/page/record_console.js';

/**
 * Has pages record what they say to their console: those that somebody has asked about and no
 * others, since a page can see it.
 */
export function createConsoleRecords({ scripting, pageScripts, log }) {
  /** Hosts that were tried already: a page may have many frames of one. */
  const following = new Set();

  return {
    /** The page of a tab and its frames record from now on; answers true unless the page already did. */
    begin(tabId) {
      return pageScripts.install(tabId, RECORDER);
    },

    /**
     * `{url, frames, data}`: the address of the page, those of its frames, and the last entries of all
     * of them, oldest first; those of frames have the address of theirs as `frame`.
     */
    async read(tabId, limit, level) {
      const answers = await pageScripts.runInAll(tabId, readRecordedConsole, [limit, level]);
      const entries = answers.flatMap(({ frameId, url, data }) =>
        data.entries.map((entry) => (frameId === 0 ? entry : { ...entry, frame: toldAddress(url) })));
      entries.sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
      const data = {
        entries: entries.slice(-limit),
        truncated: entries.length > limit || answers.some((answer) => answer.data.truncated),
        observed_since: answers[0].data.observed_since,
      };
      return { url: answers[0].url, frames: answers.slice(1).map(({ url }) => url), data };
    },

    /**
     * The pages of the site of `url` record from their start, until the browser is closed. Where
     * that can't be, they begin when they are asked, as pages do that were there before.
     */
    async follow(url) {
      const { protocol, hostname } = new URL(url);
      if (!['http:', 'https:'].includes(protocol) || following.has(hostname)) return;
      following.add(hostname);
      const id = `console of ${hostname}`;
      try {
        const registered = await scripting.getRegisteredContentScripts();
        const followed = registered.filter((script) => script.id.startsWith('console of '));
        if (followed.length >= CONSOLE_SITES || followed.some((script) => script.id === id)) return;
        await scripting.registerContentScripts([{
          id,
          matches: [`*://${hostname}/*`],
          js: [RECORDER],
          allFrames: true,
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
