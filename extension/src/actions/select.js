import { invalidParams } from '../errors.js';
import { NAMED_OPTIONS } from '../limits.js';
import { selectOptions } from '../page/select_options.js';
import { isGiven, requireAnyOf, requireNonEmptyText, requireText } from '../params.js';

const CHOICES = ['value', 'values', 'label'];

/** Chooses options of the first `<select>` that matches a selector, by value or by label. */
export const select = {
  check(params) {
    requireNonEmptyText(params, 'selector');
    requireAnyOf(params, CHOICES);
    const [choice, ...more] = CHOICES.filter((field) => isGiven(params, field));
    if (more.length > 0) throw invalidParams(more[0], `cannot stand beside ${choice}`);
    if (choice !== 'values') return requireText(params, choice);
    const { values } = params;
    if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) {
      throw invalidParams('values', 'must be an array of strings');
    }
  },

  run({ tab, params, tools }) {
    const { selector, value, values, label } = params;
    const wanted = isGiven(params, 'label') ? { label } : { values: values ?? [value] };
    const args = [selector, wanted, NAMED_OPTIONS];
    return tools.pageScripts.run(tab.id, selectOptions, args, { elements: true });
  },
};
