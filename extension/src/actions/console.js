import { CONSOLE_ENTRIES, LOG_ENTRIES } from '../limits.js';
import { readRecordedConsole } from '../page/read_console.js';
import { optionalInteger, optionalOneOf } from '../params.js';

const RECORDER = 'src/page/record_console.js';

/** Answers what the page wrote to its console lately, and the errors that nothing caught. */
export const readConsole = {
  readsOnly: true,

  check(params) {
    optionalInteger(params, 'limit', { least: 1, most: CONSOLE_ENTRIES });
    optionalOneOf(params, 'level', ['debug', 'log', 'info', 'warn', 'error']);
  },

  async run({ tab, params: { limit, level }, tools: { pageScripts } }) {
    // On a page that is older than the extension, recording begins now, and the answer says so.
    await pageScripts.install(tab.id, RECORDER);
    const args = [limit ?? LOG_ENTRIES, level ?? null];
    return pageScripts.run(tab.id, readRecordedConsole, args, { world: 'MAIN', early: true });
  },
};
