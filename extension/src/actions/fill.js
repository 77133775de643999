import { CommandError, invalidParams } from '../errors.js';
import { FILLED_CHARS, FILLED_FIELDS, NAMED_OPTIONS } from '../limits.js';
import { cutText } from '../text.js';
import { newPatience, typed } from '../typing.js';

const KINDS = ['string', 'number', 'boolean'];
const isText = (value) => typeof value === 'string';

/** Fills in fields of every kind. All are checked before the first is written. */
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
    const { tab, params: { fields }, tools: { targets, now }, signal, endsAt } = setting;
    const found = [];
    let url;
    for (const [selector, value] of Object.entries(fields)) {
      const need = { need: 'field' };
      const target = await targets.find({ tab, selector, need, signal, endsAt });
      ({ url } = await targets.act(tab, target, 'fields.check', [value, NAMED_OPTIONS]));
      found.push({ selector, target, value });
    }
    const written = [];
    const refused = [];
    const value = {};
    const patience = newPatience();
    for (const { selector, target, value: given } of found) {
      if (signal.aborted) break;
      if (now() >= endsAt) throw late({ selector, written, refused, count: found.length });
      try {
        const { data } = await typed(setting, target, 'fields.write', [given, NAMED_OPTIONS], patience);
        const instead = target.instead ? ` (${target.instead} instead of ${selector})` : '';
        written.push(`${data.said}${instead}${data.made ? ` (${data.made})` : ''}`);
        if ('value' in data) value[selector] = data.value;
      } catch (error) {
        if (error.code !== 'value_refused') throw begun(error, written, refused, selector);
        refused.push({ selector, error });
      }
    }
    if (refused.length > 0) throw refusal(refused, written, found.length);
    const holds = Object.keys(value).length > 0 ? { value } : {};
    return { url, data: { ...holds, done: `filled ${written.join(', ')}` } };
  },
};

const told = (refused) => refused.map(({ selector, error }) => `${selector}: ${error.message}`);

/** The filled fields, for an error: truncated to leave room for the other fields. */
function filledIn(written, what) {
  if (written.length === 0) return [];
  const names = written.join(', ');
  return [`${what}: ${names.length > FILLED_CHARS ? `${cutText(names, FILLED_CHARS)}…` : names}.`];
}

/** The error for a field that the page removed while others were filled in. */
function begun(error, written, refused, selector) {
  if (written.length + refused.length === 0 || !(error instanceof CommandError)) return error;
  const { code, message, hint, url } = error;
  const parts = [`${selector}: ${message}`, ...filledIn(written, 'Filled in before that'), ...told(refused)];
  return new CommandError({ code, message: parts.join(' '), hint, url, mayHaveExecuted: true });
}

/**
 * The fields that the page rejected, after those that were filled in: a long message is truncated at its
 * end.
 */
function refusal(refused, written, count) {
  const [{ error }] = refused;
  if (count === 1) return error;
  const { code, hint, url } = error;
  const parts = [...filledIn(written, 'Filled in'), ...told(refused)];
  return new CommandError({ code, message: parts.join(' '), hint, url, mayHaveExecuted: true });
}

function late({ selector, written, refused, count }) {
  const far = `The time of the command was over when ${written.length} of ${count} fields had been filled in; the next is ${selector}.`;
  return new CommandError({
    code: 'execution_timeout',
    message: [far, ...told(refused)].join(' '),
    mayHaveExecuted: written.length + refused.length > 0,
  });
}
