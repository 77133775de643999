import { keyStrokes } from '../key_stroke.js';
import { optionalNonEmptyText, requireNonEmptyText } from '../params.js';

/** Presses keys, each alone or with others, on an element or wherever the page has its focus. */
export const press = {
  reported: true,

  check(params) {
    requireNonEmptyText({ key: params.key === ' ' ? 'Space' : params.key }, 'key');
    optionalNonEmptyText(params, 'selector');
    keyStrokes(params.key);
  },

  async run({ tab, params: { key, selector }, tools: { targets }, signal, endsAt }) {
    const need = { need: 'keys' };
    const target = selector
      ? await targets.find({ tab, selector, need, signal, endsAt })
      : await targets.focused({ tab });
    if (selector) await targets.act(tab, target, 'target.show');
    const { url } = await targets.act(tab, target, 'keys.press', [keyStrokes(key)]);
    const on = target.said ? ` on ${target.said}` : '';
    return { url, data: { key, done: `pressed ${key}${on}` } };
  },
};
