import { RESULT_BYTES } from '../limits.js';
import { evaluateScript } from '../page/evaluate_script.js';
import { requireNonEmptyText } from '../params.js';

/** Evaluates a script among the page's own scripts and returns its value as JSON. */
export const executeJs = {
  reported: 'beside',
  mayBlock: true,

  check(params) {
    requireNonEmptyText(params, 'script');
  },

  async run({ tab, params, tools, endsAt }) {
    const args = [params.script, RESULT_BYTES];
    const { url, data } = await tools.pageScripts.run(tab.id, evaluateScript, args, {
      world: 'MAIN', endsAt,
    });
    return { url, data: JSON.parse(data) };
  },
};
