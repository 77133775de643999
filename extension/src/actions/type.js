import { typeText } from '../page/type_text.js';
import { optionalBoolean, requireNonEmptyText, requireText } from '../params.js';

/** Types into the first element that matches a selector, after its content or instead of it. */
export const type = {
  check(params) {
    requireNonEmptyText(params, 'selector');
    requireText(params, 'text');
    optionalBoolean(params, 'clear');
  },

  run({ tab, params, tools }) {
    const args = [params.selector, params.text, params.clear ?? false];
    return tools.pageScripts.run(tab.id, typeText, args, { elements: true });
  },
};
