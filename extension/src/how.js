import { invalidParams } from './errors.js';
import { isGiven, requireNonEmptyText } from './params.js';

const WORDS = ['double', 'right', 'middle', 'force', 'Control', 'Shift', 'Alt', 'Meta'];

/**
 * The modifiers of a mouse action as a list of words, from text such as `double`, `right` or
 * `Control+Shift`.
 */
export function howWords({ how }) {
  if (!isGiven({ how }, 'how')) return [];
  requireNonEmptyText({ how }, 'how');
  const words = how.split(/[+,\s]+/).filter(Boolean);
  const wrong = words.find((word) => !WORDS.includes(word));
  if (wrong) throw invalidParams('how', `must be made of ${WORDS.join(', ')}, not ${wrong}`);
  return words;
}
