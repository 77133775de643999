import { PAGE_TEXT_CHARS } from '../limits.js';
import { readPage } from '../page/read_page.js';

/** Answers the title, the address and the visible text of the page. */
export const getPage = {
  check() {},

  run({ tab, tools }) {
    return tools.pageScripts.run(tab.id, readPage, [PAGE_TEXT_CHARS]);
  },
};
