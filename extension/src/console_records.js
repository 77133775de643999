import { CONSOLE_SITES } from './limits.js';
import { readRecordedConsole } from './page/read_console.js';
import { toldAddress } from './told_page.js';

const RECORDER = 'src/page/record_console.js';

const LEVELS = ['debug', 'log', 'info', 'warn', 'error'];

/** The record of a frame, validated: the page may have put anything there. */
function recorded({ entries, dropped, since }) {
  const isText = (value) => typeof value === 'string';
  const timed = ({ time, level, text, source }) =>
    ({ time: timeOf(time), level, text, ...(isText(source) ? { source } : {}) });
  return {
    entries: (Array.isArray(entries) ? entries : [])
      .filter((entry) => LEVELS.includes(entry?.level) && isText(entry.text)).map(timed),
    dropped: dropped === true,
    since: since === undefined ? undefined : timeOf(since),
  };
}

/** A time in ms as text; the current time if the value is not a valid one. */
function timeOf(ms) {
  const time = new Date(Number.isFinite(ms) ? ms : Date.now());
  return (Number.isNaN(time.getTime()) ? new Date() : time).toISOString();
}

/**
 * Makes pages record their console messages: only pages that a caller has asked about, because a page can
 * detect it.
 */
export function createConsoleRecords({ scripting, pageScripts, log }) {
  /** Hosts that were tried already: a page may have many frames of one host. */
  const following = new Set();

  return {
    /** The page of a tab and its frames record from now on; resolves to true unless the page already did. */
    begin(tabId) {
      return pageScripts.install(tabId, RECORDER);
    },

    /**
     * `{url, frames, data}`: the address of the page, those of its frames, and the last entries of all of
     * them, oldest first; an entry of a frame has the frame's address as `frame`.
     */
    async read(tabId, limit, level) {
      const answers = (await pageScripts.runInAll(tabId, readRecordedConsole, []))
        .map(({ data, ...answer }) => ({ ...answer, ...recorded(data) }));
      const all = answers.flatMap(({ frameId, url, entries }) => entries
        .filter((entry) => level === null || entry.level === level)
        .map((entry) => (frameId === 0 ? entry : { ...entry, frame: toldAddress(url) })));
      all.sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
      const data = {
        entries: all.slice(-limit),
        truncated: all.length > limit || answers.some(({ dropped }) => dropped),
        observed_since: answers[0].since,
      };
      return { url: answers[0].url, frames: answers.slice(1).map(({ url }) => url), data };
    },

    /**
     * From now on all pages of the site of `url` record from their start, until the browser is closed. If
     * that is impossible, they begin at the first request, like pages that were open before.
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
