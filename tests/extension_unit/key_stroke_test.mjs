import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keyStroke } from '../../extension/src/key_stroke.js';

const NONE = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false };

describe('key stroke', () => {
  const strokes = [
    ['Enter', { key: 'Enter', code: 'Enter', keyCode: 13 }],
    ['a', { key: 'a', code: 'KeyA', keyCode: 65 }],
    ['7', { key: '7', code: 'Digit7', keyCode: 55 }],
    ['Space', { key: ' ', code: 'Space', keyCode: 32 }],
    [' ', { key: ' ', code: 'Space', keyCode: 32 }],
    ['F12', { key: 'F12', code: 'F12', keyCode: 123 }],
    ['+', { key: '+', code: '', keyCode: 43 }],
    ['Control++', { key: '+', code: '', keyCode: 43, ctrlKey: true }],
    ['Control+Shift+A', { key: 'A', code: 'KeyA', keyCode: 65, ctrlKey: true, shiftKey: true }],
    ['Alt+ArrowLeft', { key: 'ArrowLeft', code: 'ArrowLeft', keyCode: 37, altKey: true }],
  ];
  for (const [text, expected] of strokes) {
    test(`"${text}"`, () => assert.deepEqual(keyStroke(text), { ...NONE, ...expected }));
  }

  for (const text of ['Return', 'ctrl+a', 'Control+', 'ab', 'toString']) {
    test(`"${text}" is no key`, () => {
      assert.throws(() => keyStroke(text), { code: 'invalid_params', message: /^key: / });
    });
  }
});
