import { SCROLL_PIXELS } from '../limits.js';
import { scrollPage } from '../page/scroll_page.js';
import {
  optionalInteger,
  optionalNonEmptyText,
  optionalNumber,
  requireAnyOf,
} from '../params.js';

/** Scrolls the page to an element, to a place, or by a distance, in CSS pixels. */
export const scroll = {
  check(params) {
    requireAnyOf(params, ['selector', 'x', 'y', 'dx', 'dy']);
    optionalNonEmptyText(params, 'selector');
    for (const axis of ['x', 'y']) optionalNumber(params, axis);
    for (const way of ['dx', 'dy']) {
      optionalInteger(params, way, { least: -SCROLL_PIXELS, most: SCROLL_PIXELS });
    }
  },

  run({ tab, params: { selector, x, y, dx, dy }, tools }) {
    const args = [{ selector, x, y, dx, dy }];
    return tools.pageScripts.run(tab.id, scrollPage, args, { elements: true });
  },
};
