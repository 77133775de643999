import { SCROLL_PIXELS } from '../limits.js';
import {
  isGiven,
  optionalInteger,
  optionalNonEmptyText,
  optionalNumber,
  requireAnyOf,
} from '../params.js';
import { doneTo } from './click.js';

/**
 * Scrolls to an element; or scrolls the page, or the scroll container at an element, to a position or by a
 * distance.
 */
export const scroll = {
  reported: true,

  check(params) {
    requireAnyOf(params, ['selector', 'x', 'y', 'dx', 'dy']);
    optionalNonEmptyText(params, 'selector');
    for (const axis of ['x', 'y']) optionalNumber(params, axis);
    for (const way of ['dx', 'dy']) {
      optionalInteger(params, way, { least: -SCROLL_PIXELS, most: SCROLL_PIXELS });
    }
  },

  async run({ tab, params, tools: { pageParts, targets }, signal, endsAt }) {
    const { selector, x, y, dx, dy } = params;
    const way = Object.fromEntries(Object.entries({ x, y, dx, dy })
      .filter(([name]) => isGiven(params, name)));
    if (!isGiven(params, 'selector')) {
      const { data, url } = await pageParts.call(tab.id, {}, 'scrolling.page', [way]);
      return { url, data: { ...data, done: `scrolled the page to ${data.x},${data.y}` } };
    }
    const target = await targets.find({ tab, selector, need: { need: 'see' }, signal, endsAt });
    const { data, url } = await targets.act(tab, target, 'scrolling.at', [way]);
    const { said, ...place } = data;
    const verb = Object.keys(way).length > 0 ? `scrolled to ${place.x},${place.y} in` : 'scrolled to';
    return { url, data: { ...place, done: doneTo(verb, said, target, selector) } };
  },
};
