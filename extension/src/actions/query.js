import {
  ATTRIBUTE_CHARS,
  ELEMENT_TEXT_CHARS,
  QUERY_ELEMENTS,
  QUERY_ELEMENTS_MOST,
} from '../limits.js';
import { queryElements } from '../page/query_elements.js';
import { optionalInteger, optionalNonEmptyText, requireAnyOf } from '../params.js';

/** Finds elements by a selector, by their text, or by both. */
export const query = {
  readsOnly: true,

  check(params) {
    requireAnyOf(params, ['selector', 'text']);
    optionalNonEmptyText(params, 'selector');
    optionalNonEmptyText(params, 'text');
    optionalInteger(params, 'limit', { least: 1, most: QUERY_ELEMENTS_MOST });
  },

  run({ tab, params: { selector, text, limit }, tools, endsAt }) {
    const limits = {
      elements: limit ?? QUERY_ELEMENTS,
      textChars: ELEMENT_TEXT_CHARS,
      attributeChars: ATTRIBUTE_CHARS,
    };
    const args = [{ selector, text }, limits];
    return tools.pageScripts.run(tab.id, queryElements, args, { elements: true, endsAt });
  },
};
