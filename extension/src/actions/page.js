import { invalidParams } from '../errors.js';
import { PAGE_LINES_CHARS, PAGE_LINES_CHARS_LEAST, PAGE_LINES_CHARS_MOST } from '../limits.js';
import { isGiven, optionalInteger, optionalNonEmptyText, optionalOneOf } from '../params.js';
import { refNumber } from '../ref_book.js';

export const VIEWS = ['all', 'interactive', 'text', 'urls'];

/** Returns the outline of the page, with refs. */
export const page = {
  readsOnly: true,

  check(params) {
    optionalOneOf(params, 'view', VIEWS);
    optionalNonEmptyText(params, 'after');
    if (isGiven(params, 'after') && !refNumber(params.after)) {
      throw invalidParams('after', 'must be a ref such as e12');
    }
    const characters = { least: PAGE_LINES_CHARS_LEAST, most: PAGE_LINES_CHARS_MOST };
    optionalInteger(params, 'limit', characters);
    optionalNonEmptyText(params, 'selector');
  },

  async run({ tab, params, tools, caller }) {
    const { view, after, limit, selector } = params;
    const { url, text, lines } = await tools.outline(tab, {
      view: view ?? undefined,
      after,
      limit: limit ?? PAGE_LINES_CHARS,
      selector: selector ?? undefined,
    });
    const isWhole = [undefined, null, 'all'].includes(view) && !isGiven(params, 'selector');
    if (isWhole) tools.reports?.saw(tab.id, caller, { lines, url });
    return { url, data: { page: text } };
  },
};
