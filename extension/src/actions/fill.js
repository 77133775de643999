import { CommandError, invalidParams } from '../errors.js';
import { FILLED_FIELDS, NAMED_OPTIONS } from '../limits.js';
import { typed } from '../typing.js';

const KINDS = ['string', 'number', 'boolean'];
const isText = (value) => typeof value === 'string';

/** Fills in fields of every kind, all or, where one of them cannot be, none. */
export const fill = {
  reported: true,

  check({ fields }) {
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
    if (!isObject || Object.keys(fields).length === 0) {
      throw invalidParams('fields', 'must be an object of refs or selectors and their values');
    }
    if (Object.keys(fields).length > FILLED_FIELDS) {
      throw invalidParams('fields', `must be at most ${FILLED_FIELDS}`);
    }
    for (const [name, value] of Object.entries(fields)) {
      if (name.trim() === '') throw invalidParams('fields', 'each must be named by a ref or a selector');
      const fits = KINDS.includes(typeof value) || (Array.isArray(value) && value.every(isText));
      if (!fits) throw invalidParams('fields', `${name} must have a text, true, false or a list of texts`);
    }
  },

  async run(setting) {
    const { tab, params: { fields }, tools: { targets }, signal, endsAt } = setting;
    const found = [];
    let url;
    for (const [selector, value] of Object.entries(fields)) {
      const need = { need: 'field' };
      const target = await targets.find({ tab, selector, need, signal, endsAt });
      ({ url } = await targets.act(tab, target, 'fields.check', [value, NAMED_OPTIONS]));
      found.push({ selector, target, value });
    }
    const written = [];
    const value = {};
    for (const { selector, target, value: given } of found) {
      if (signal.aborted) break;
      try {
        const { data } = await typed(setting, target, 'fields.write', [given, NAMED_OPTIONS]);
        const instead = target.instead ? ` (${target.instead} instead of ${selector})` : '';
        written.push(`${data.said}${instead}${data.made ? ` (${data.made})` : ''}`);
        if ('value' in data) value[selector] = data.value;
      } catch (error) {
        throw begun(error, written, selector);
      }
    }
    const holds = Object.keys(value).length > 0 ? { value } : {};
    return { url, data: { ...holds, done: `filled ${written.join(', ')}` } };
  },
};

/** The page took a field away while others were filled in. */
function begun(error, written, selector) {
  if (written.length === 0 || !(error instanceof CommandError)) return error;
  const { code, message, hint, url } = error;
  return new CommandError({
    code,
    message: `${selector}: ${message} Filled in before that: ${written.join(', ')}.`,
    hint,
    url,
    mayHaveExecuted: true,
  });
}
