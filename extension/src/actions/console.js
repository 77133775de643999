import { CONSOLE_ENTRIES, LOG_ENTRIES } from '../limits.js';
import { readRecordedConsole } from '../page/read_console.js';
import { optionalInteger, optionalOneOf } from '../params.js';

const BEGINS_NOW = 'The record of this site begins with this call. Reload the page for what it says ' +
  'from its start.';

/**
 * Answers what the page wrote to its console lately, and the errors that nothing caught: since it
 * was first asked, and from the start of each page that the site loads after that.
 */
export const readConsole = {
  readsOnly: true,

  check(params) {
    optionalInteger(params, 'limit', { least: 1, most: CONSOLE_ENTRIES });
    optionalOneOf(params, 'level', ['debug', 'log', 'info', 'warn', 'error']);
  },

  async run({ tab, params: { limit, level }, tools: { pageScripts, consoleRecords } }) {
    const begins = await consoleRecords.begin(tab.id);
    const args = [limit ?? LOG_ENTRIES, level ?? null];
    const options = { world: 'MAIN', early: true };
    const { url, data } = await pageScripts.run(tab.id, readRecordedConsole, args, options);
    await consoleRecords.follow(url);
    return { url, data: begins ? { ...data, hint: BEGINS_NOW } : data };
  },
};
