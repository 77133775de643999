import { PAGE_TEXT_CHARS } from '../limits.js';
import { readPage } from '../page/read_page.js';
import { toldAddress } from '../told_page.js';

/** Returns the title, the address and the visible text of the page. */
export const getPage = {
  check() {},

  async run({ tab, tools, endsAt }) {
    const { url, data } = await tools.pageScripts.run(tab.id, readPage, [PAGE_TEXT_CHARS], { elements: true, endsAt });
    return { url, data: { ...data, url: toldAddress(url) } };
  },
};
