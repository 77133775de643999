import { CONSOLE_ENTRIES, LOG_ENTRIES } from '../limits.js';
import { optionalInteger, optionalOneOf } from '../params.js';

const BEGINS_NOW = 'The record of this site begins with this call. Reload the page for what it says ' +
  'from its start.';

/**
 * Returns the latest console messages of the page and its frames, and their uncaught errors: since the
 * first call, and from the start of each page that the site loads after that.
 */
export const readConsole = {
  readsOnly: true,

  check(params) {
    optionalInteger(params, 'limit', { least: 1, most: CONSOLE_ENTRIES });
    optionalOneOf(params, 'level', ['debug', 'log', 'info', 'warn', 'error']);
  },

  async run({ tab, params: { limit, level }, tools: { consoleRecords } }) {
    const begins = await consoleRecords.begin(tab.id);
    const { url, frames, data } =
      await consoleRecords.read(tab.id, limit ?? LOG_ENTRIES, level ?? null);
    for (const address of [url, ...frames]) await consoleRecords.follow(address);
    return { url, data: begins ? { ...data, hint: BEGINS_NOW } : data };
  },
};
