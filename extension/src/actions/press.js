import { keyStroke } from '../key_stroke.js';
import { pressKey } from '../page/press_key.js';
import { optionalNonEmptyText, requireNonEmptyText } from '../params.js';

/** Presses a key, alone or with others, on an element or wherever the page has its focus. */
export const press = {
  check(params) {
    requireNonEmptyText({ key: params.key === ' ' ? 'Space' : params.key }, 'key');
    optionalNonEmptyText(params, 'selector');
    keyStroke(params.key);
  },

  async run({ tab, params, tools }) {
    const args = [keyStroke(params.key), params.selector ?? null];
    const { url } = await tools.pageScripts.run(tab.id, pressKey, args, { elements: true });
    return { url, data: { key: params.key } };
  },
};
