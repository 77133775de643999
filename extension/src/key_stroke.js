import { invalidParams } from './errors.js';
import { keyOf, MODIFIERS, NAMED_KEYS, shiftedKey } from './key_table.js';
import { KEY_STROKES } from './limits.js';

/** What the keys of the clipboard do, by the modifier keys held and the code of the key. */
const CLIPBOARD = {
  'Control+KeyC': 'copy',
  'Control+KeyX': 'cut',
  'Control+KeyV': 'paste',
  'Control+Shift+KeyV': 'paste',
  'Meta+KeyC': 'copy',
  'Meta+KeyX': 'cut',
  'Meta+KeyV': 'paste',
  'Shift+Meta+KeyV': 'paste',
  'Control+Insert': 'copy',
  'Shift+Delete': 'cut',
  'Shift+Insert': 'paste',
};

const HELD = new RegExp(`^((?:(?:${Object.keys(MODIFIERS).join('|')})\\+)*)(.+)$`, 'su');

/**
 * The members of a KeyboardEvent for text such as `Enter`, `a` or `Control+Shift+A`, as on a US keyboard.
 * `held` lists the modifier keys that are held, only those in the text: a capital letter has `shiftKey`
 * without them. `clipboard` is `copy`, `cut` or `paste` for a key that does that; no other key has it.
 * Throws invalid_params for a key that no keyboard has.
 */
export function keyStroke(text) {
  const [, prefix, name] = text.match(HELD);
  const held = prefix.split('+').filter(Boolean);
  const down = (modifier) => held.includes(modifier);
  const flags = {
    ctrlKey: down('Control'),
    shiftKey: down('Shift'),
    altKey: down('Alt'),
    metaKey: down('Meta'),
  };
  const { shiftKey, ...key } = named(name) ?? character(name, flags);
  const stroke = { ...key, ...flags, shiftKey: flags.shiftKey || shiftKey === true, held };
  const clipboard = CLIPBOARD[[...Object.keys(MODIFIERS).filter(down), key.code].join('+')];
  return clipboard ? { ...stroke, clipboard } : stroke;
}

function named(name) {
  if (Object.hasOwn(NAMED_KEYS, name)) return { key: name, code: name, keyCode: NAMED_KEYS[name] };
  if (!Object.hasOwn(MODIFIERS, name)) return undefined;
  const { code, keyCode } = MODIFIERS[name];
  return { key: name, code, keyCode };
}

/** With Control, Alt or Meta a letter means the key and not a capital: people write Control+A. */
function character(name, { ctrlKey, shiftKey, altKey, metaKey }) {
  const written = name === 'Space' ? ' ' : name;
  if ([...written].length !== 1) throw noSuchKey();
  if (shiftKey) return keyOf(shiftedKey(written));
  const isShortcut = ctrlKey || altKey || metaKey;
  return keyOf(isShortcut && /^[A-Z]$/.test(written) ? written.toLowerCase() : written);
}

function noSuchKey() {
  const names = Object.keys(NAMED_KEYS).filter((each) => !/^F\d/.test(each)).join(', ');
  return invalidParams('key', `must be one character, F1 to F12, Space or one of ${names}; `
    + 'Control+, Shift+, Alt+ and Meta+ may stand before it, *3 behind it for three times, and '
    + 'several are set apart by spaces');
}

/** The strokes of text such as `ArrowDown*3 Tab Enter`, in order. */
export function keyStrokes(text) {
  if ([...text].length === 1) return [keyStroke(text)];
  const strokes = [];
  for (const part of text.trim().split(/\s+/)) {
    const [, key, times] = part.match(/^(.+)\*(\d+)$/su) ?? [null, part, '1'];
    if (Number(times) < 1 || strokes.length + Number(times) > KEY_STROKES) {
      throw invalidParams('key', `must stand for 1 to ${KEY_STROKES} keys`);
    }
    const stroke = keyStroke(key);
    for (let time = 0; time < Number(times); time += 1) strokes.push(stroke);
  }
  return strokes;
}
