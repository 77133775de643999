import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keyStroke, keyStrokes } from '../../extension/src/key_stroke.js';

const NONE = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, held: [] };
const SHIFT = { shiftKey: true };

describe('the key stroke parser', () => {
  const strokes = [
    ['Enter', { key: 'Enter', code: 'Enter', keyCode: 13 }],
    ['a', { key: 'a', code: 'KeyA', keyCode: 65 }],
    ['A', { key: 'A', code: 'KeyA', keyCode: 65, ...SHIFT }],
    ['7', { key: '7', code: 'Digit7', keyCode: 55 }],
    ['(', { key: '(', code: 'Digit9', keyCode: 57, ...SHIFT }],
    ['.', { key: '.', code: 'Period', keyCode: 190 }],
    ['é', { key: 'é', code: '', keyCode: 0 }],
    ['Space', { key: ' ', code: 'Space', keyCode: 32 }],
    [' ', { key: ' ', code: 'Space', keyCode: 32 }],
    ['F12', { key: 'F12', code: 'F12', keyCode: 123 }],
    ['+', { key: '+', code: 'Equal', keyCode: 187, ...SHIFT }],
    ['Control++', { key: '+', code: 'Equal', keyCode: 187, ...SHIFT, ctrlKey: true, held: ['Control'] }],
    ['Control+A', { key: 'a', code: 'KeyA', keyCode: 65, ctrlKey: true, held: ['Control'] }],
    ['Control+Shift+a',
      { key: 'A', code: 'KeyA', keyCode: 65, ctrlKey: true, ...SHIFT, held: ['Control', 'Shift'] }],
    ['Shift+1', { key: '!', code: 'Digit1', keyCode: 49, ...SHIFT, held: ['Shift'] }],
    ['Alt+ArrowLeft',
      { key: 'ArrowLeft', code: 'ArrowLeft', keyCode: 37, altKey: true, held: ['Alt'] }],
    ['Shift', { key: 'Shift', code: 'ShiftLeft', keyCode: 16 }],
  ];
  for (const [text, expected] of strokes) {
    test(`parses "${text}"`, () => assert.deepEqual(keyStroke(text), { ...NONE, ...expected }));
  }

  const clipboard = {
    copy: ['Control+C', 'Control+c', 'Meta+C', 'Control+Insert'],
    cut: ['Control+X', 'Meta+x', 'Shift+Delete'],
    paste: ['Control+V', 'Control+Shift+V', 'Shift+Control+v', 'Meta+V', 'Shift+Insert'],
  };
  for (const [what, texts] of Object.entries(clipboard)) {
    test(`recognizes ${texts.join(', ')} as ${what}`, () => {
      for (const text of texts) assert.equal(keyStroke(text).clipboard, what, text);
    });
  }

  test('assigns no clipboard operation to other keys', () => {
    for (const text of ['c', 'C', 'Delete', 'Insert', 'Control+Delete', 'Alt+c', 'Control+Alt+V', 'Control+Shift+C', 'Control+é']) {
      assert.ok(!('clipboard' in keyStroke(text)), text);
    }
  });

  for (const text of ['Return', 'ctrl+a', 'Control+', 'ab', 'toString']) {
    test(`rejects "${text}"`, () => {
      assert.throws(() => keyStroke(text), { code: 'invalid_params', message: /^key: / });
    });
  }
});

describe('the key sequence parser', () => {
  const sequences = [
    ['ArrowDown*3 Tab  Enter', ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Tab', 'Enter']],
    [' ', [' ']],
    ['*', ['*']],
    ['**2', ['*', '*']],
    ['Space x', [' ', 'x']],
  ];
  for (const [text, keys] of sequences) {
    test(`parses "${text}"`, () => assert.deepEqual(keyStrokes(text).map(({ key }) => key), keys));
  }

  for (const text of ['a*0', 'a*501', 'a*300 b*300', 'a Nothing']) {
    test(`rejects "${text}"`, () => {
      assert.throws(() => keyStrokes(text), { code: 'invalid_params', message: /^key: / });
    });
  }
});
