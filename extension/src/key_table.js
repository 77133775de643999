/**
 * The keys of a US keyboard: `key`, `code` and `keyCode` of a KeyboardEvent for each. The numbers are those
 * of Chromium, which took them from Windows.
 */

/** The keys that write a character: `code`, `keyCode`, the character without and with Shift. */
const PRINTING = [
  ['Backquote', 192, '`', '~'],
  ['Minus', 189, '-', '_'],
  ['Equal', 187, '=', '+'],
  ['BracketLeft', 219, '[', '{'],
  ['BracketRight', 221, ']', '}'],
  ['Backslash', 220, '\\', '|'],
  ['Semicolon', 186, ';', ':'],
  ['Quote', 222, "'", '"'],
  ['Comma', 188, ',', '<'],
  ['Period', 190, '.', '>'],
  ['Slash', 191, '/', '?'],
  ['Space', 32, ' ', ' '],
];
for (const [digit, shifted] of [...')!@#$%^&*('].entries()) {
  PRINTING.push([`Digit${digit}`, 48 + digit, String(digit), shifted]);
}
for (let keyCode = 65; keyCode <= 90; keyCode += 1) {
  const letter = String.fromCharCode(keyCode);
  PRINTING.push([`Key${letter}`, keyCode, letter.toLowerCase(), letter]);
}

/** The keys with a name, with the `keyCode` that old scripts use for each. */
export const NAMED_KEYS = {
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
  ContextMenu: 93,
};
for (let number = 1; number <= 12; number += 1) NAMED_KEYS[`F${number}`] = 111 + number;

/** The modifier keys; of each the one on the left. */
export const MODIFIERS = {
  Control: { code: 'ControlLeft', keyCode: 17, flag: 'ctrlKey' },
  Shift: { code: 'ShiftLeft', keyCode: 16, flag: 'shiftKey' },
  Alt: { code: 'AltLeft', keyCode: 18, flag: 'altKey' },
  Meta: { code: 'MetaLeft', keyCode: 91, flag: 'metaKey' },
};

const CHARACTERS = new Map();
const SHIFTED = new Map();
for (const [code, keyCode, plain, shifted] of PRINTING) {
  if (shifted !== plain) CHARACTERS.set(shifted, { key: shifted, code, keyCode, shiftKey: true });
  CHARACTERS.set(plain, { key: plain, code, keyCode, shiftKey: false });
  SHIFTED.set(plain, shifted);
}

/**
 * The key that writes a character. One that is not on a US keyboard has an empty `code` and the `keyCode`
 * 0.
 */
export function keyOf(character) {
  return CHARACTERS.get(character) ?? { key: character, code: '', keyCode: 0, shiftKey: false };
}

/** The character that the key writes while Shift is held. */
export function shiftedKey(character) {
  return SHIFTED.get(character) ?? character;
}
