import { keyStrokes } from '../key_stroke.js';
import { optionalNonEmptyText, requireNonEmptyText } from '../params.js';
import { leftOf, typed } from '../typing.js';

/** Presses keys, alone or with modifiers, on an element or on the focused element. */
export const press = {
  reported: true,

  check(params) {
    requireNonEmptyText({ key: params.key === ' ' ? 'Space' : params.key }, 'key');
    optionalNonEmptyText(params, 'selector');
    keyStrokes(params.key);
  },

  async run(setting) {
    const { tab, params: { key, selector }, tools: { targets }, signal, endsAt } = setting;
    const need = { need: 'keys' };
    const target = selector
      ? await targets.find({ tab, selector, need, signal, endsAt })
      : await targets.focused({ tab });
    if (selector) await targets.act(tab, target, 'target.show');
    const { url } = await typed(setting, target, 'keys.press', [keyStrokes(key), leftOf(setting)]);
    const on = target.said ? ` on ${target.said}` : '';
    return { url, data: { key, done: `pressed ${key}${on}` } };
  },
};
