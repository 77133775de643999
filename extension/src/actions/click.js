import { invalidParams } from '../errors.js';
import { howWords } from '../how.js';
import { isGiven, optionalNonEmptyText, optionalNumber, requireAnyOf } from '../params.js';

/** Checks that an element or a point is given: in the window, or relative to the corner of the element. */
export function checkPlace(params) {
  requireAnyOf(params, ['selector', 'x']);
  optionalNonEmptyText(params, 'selector');
  for (const axis of ['x', 'y']) optionalNumber(params, axis);
  if (isGiven(params, 'x') !== isGiven(params, 'y')) {
    throw invalidParams(isGiven(params, 'x') ? 'y' : 'x', 'must be there too: a point has both');
  }
}

/** The element at the place that `checkPlace` accepted, once a mouse can reach it. */
export function findPlace({ tab, params: { selector, x, y }, tools, signal, endsAt }, force = false) {
  const point = isGiven({ x }, 'x') ? { x, y } : null;
  if (!isGiven({ selector }, 'selector')) return tools.targets.at({ tab, ...point });
  const need = { need: 'mouse', force, at: point };
  return tools.targets.find({ tab, selector, need, signal, endsAt });
}

/** Describes what was done to an element, and names the element that replaced a missing one, if any. */
export function doneTo(verb, said, { instead }, selector) {
  return `${verb} ${said}${instead ? ` (${instead} instead of ${selector})` : ''}`;
}

const VERBS = { double: 'double-clicked', right: 'right-clicked', middle: 'middle-clicked' };

/**
 * The verb for the clicks that were made, and a note on those that were not because the page replaced the
 * element.
 */
function outcome(how, clicks) {
  if (clicks === 0) return ['pressed on', ', which the page then replaced: no click'];
  if (clicks === 1 && how.includes('double')) return ['clicked', ', which the page then replaced: no second click'];
  return [VERBS[how.find((word) => VERBS[word])] ?? 'clicked', ''];
}

/** Clicks on an element or at a point. */
export const click = {
  reported: true,

  check(params) {
    checkPlace(params);
    howWords(params);
  },

  async run(setting) {
    const { tab, params, tools } = setting;
    const how = howWords(params);
    const target = await findPlace(setting, how.includes('force'));
    const { x, y } = target;
    const { url, data } = await tools.targets.act(tab, target, 'mouse.click', [{ x, y, how }]);
    const { said, tag, text, clicks } = data;
    const { selector } = params;
    const [verb, lacking] = outcome(how, clicks);
    return { url, data: { selector, tag, text, done: `${doneTo(verb, said, target, selector)}${lacking}` } };
  },
};
