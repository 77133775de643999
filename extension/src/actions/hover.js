import { ELEMENT_TEXT_CHARS } from '../limits.js';
import { hoverElement } from '../page/hover_element.js';
import { requireNonEmptyText } from '../params.js';

/** Moves the mouse, as far as the page can tell, onto the first element that matches a selector. */
export const hover = {
  check(params) {
    requireNonEmptyText(params, 'selector');
  },

  run({ tab, params, tools }) {
    const args = [params.selector, ELEMENT_TEXT_CHARS];
    return tools.pageScripts.run(tab.id, hoverElement, args, { elements: true });
  },
};
