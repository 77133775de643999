import { ELEMENT_TEXT_CHARS } from '../limits.js';
import { clickElement } from '../page/click_element.js';
import { requireNonEmptyText } from '../params.js';

/** Clicks the first element that matches a selector. */
export const click = {
  check(params) {
    requireNonEmptyText(params, 'selector');
  },

  run({ tab, params, tools }) {
    const args = [params.selector, ELEMENT_TEXT_CHARS];
    return tools.pageScripts.run(tab.id, clickElement, args, { elements: true });
  },
};
