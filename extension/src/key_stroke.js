import { invalidParams } from './errors.js';

/** The keys that have a name, and the number that old scripts know each by. */
const NAMED_KEYS = {
  Enter: 13,
  Tab: 9,
  Escape: 27,
  Backspace: 8,
  Delete: 46,
  Insert: 45,
  Home: 36,
  End: 35,
  PageUp: 33,
  PageDown: 34,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
};
for (let number = 1; number <= 12; number += 1) NAMED_KEYS[`F${number}`] = 111 + number;

/**
 * What the members of a KeyboardEvent are for text such as `Enter`, `a` or `Control+Shift+A`.
 * Throws invalid_params for a key that no keyboard has.
 */
export function keyStroke(text) {
  const [, held, name] = text.match(/^((?:(?:Control|Shift|Alt|Meta)\+)*)(.+)$/su);
  const key = name === 'Space' ? ' ' : name;
  const single = [...key].length === 1;
  if (!single && !Object.hasOwn(NAMED_KEYS, key)) {
    const named = Object.keys(NAMED_KEYS).filter((each) => !/^F\d/.test(each)).join(', ');
    const requirement = `must be one character, F1 to F12, Space or one of ${named}; `
      + 'Control+, Shift+, Alt+ and Meta+ may stand before it';
    throw invalidParams('key', requirement);
  }
  const down = (modifier) => held.includes(`${modifier}+`);
  return {
    key,
    code: single ? codeOf(key) : key,
    keyCode: single ? key.toUpperCase().charCodeAt(0) : NAMED_KEYS[key],
    ctrlKey: down('Control'),
    shiftKey: down('Shift'),
    altKey: down('Alt'),
    metaKey: down('Meta'),
  };
}

/** The place of the key on the keyboard, where every keyboard agrees about it. */
function codeOf(character) {
  if (character === ' ') return 'Space';
  if (/^[a-z]$/i.test(character)) return `Key${character.toUpperCase()}`;
  return /^\d$/.test(character) ? `Digit${character}` : '';
}
