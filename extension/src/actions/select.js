import { invalidParams } from '../errors.js';
import { NAMED_OPTIONS } from '../limits.js';
import { isGiven, requireAnyOf, requireNonEmptyText, requireText } from '../params.js';
import { doneTo } from './click.js';

const CHOICES = ['value', 'values', 'label'];

/** Selects options of a `<select>`, by value or by label. */
export const select = {
  reported: true,

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

  async run({ tab, params, tools: { targets }, signal, endsAt }) {
    const { selector, value, values, label } = params;
    const wanted = isGiven(params, 'label') ? { label } : { values: values ?? [value] };
    const target = await targets.find({ tab, selector, need: { need: 'field' }, signal, endsAt });
    const { data, url } = await targets.act(tab, target, 'fields.select', [wanted, NAMED_OPTIONS]);
    const { said, labels, ...holds } = data;
    const verb = holds.value_left_out ? 'chose in' : `chose ${labels || 'nothing'} in`;
    return { url, data: { selector, ...holds, done: doneTo(verb, said, target, selector) } };
  },
};
