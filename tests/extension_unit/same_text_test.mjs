/** Whether a field holds a text, in whatever form the page has given it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

globalThis.callslip = {};
await import('../../extension/src/page/hands/same_text.js');
const { sameText } = globalThis.callslip;

/** By what was given: in which forms a field holds it, and which are something else. */
const CASES = {
  'abc': [['abc', 'ABC', ' abc ', 'abcdef'], ['', 'ab', 'abd']],
  '  a  b ': [['a b', 'A B', 'ab'], ['a', 'ba']],
  '1234': [['1,234', '1.234', '1 234', '1\u202f234', '1234.00', '$1,234', '1.234,00 €'], ['123', '', '4321']],
  '5551234567': [['(555) 123-4567', '+1 555 123 4567'], ['(555) 123-456']],
  '(555) 123-4567': [['5551234567'], ['555123456']],
  '12.5': [['12.50 €', '12,50', '12.5', '12.5%'], ['125', '12', '1.25']],
  '12.50': [['12.5', '12,5'], ['1250']],
  '1234.5': [['1,234.50', '1.234,5'], ['12345', '1,234']],
  '1,234': [['1234', '1.234'], ['1']],
  '1,2345': [['12,345', '12.345'], ['1']],
  '-5': [['-5', '\u22125', '(5.00)', '-5 °C'], ['5', '']],
  '007': [['7', '007'], ['0']],
  '0': [['0', '0.00'], ['']],
  'a@b.test': [['A@B.TEST'], ['ab.test', 'a@b']],
  'It\'s "so"': [['It’s “so”'], ['It']],
  'AB-12': [['AB12', 'ab 12'], ['AB1']],
  'ﬁn': [['fin'], ['n']],
  'हिन्दी': [['हिन्दी'], ['हनद']],
  '👍': [['👍', '👍 '], ['', '👎', '🙂']],
  '👩‍🚀': [['👩‍🚀'], ['', '👩']],
  'hi 🙂': [['hi 🙂', 'Hi🙂'], ['hi', 'hi 🙁']],
  '!?': [['!?', ' !? '], ['', '!', 'a']],
  '---': [['---'], ['', '-', '+']],
  '$': [['$'], ['', '€']],
  '...': [['...', '…'], ['', '.']],
  '': [['', ' '], ['0', 'a', '-']],
  '  ': [['', '  '], ['a']],
};

describe('a field that was given', () => {
  for (const [wanted, [held, others]] of Object.entries(CASES)) {
    test(JSON.stringify(wanted), () => {
      for (const value of held) assert.equal(sameText(value, wanted), true, `holds it as ${JSON.stringify(value)}`);
      for (const value of others) assert.equal(sameText(value, wanted), false, `does not as ${JSON.stringify(value)}`);
    });
  }

  test('a text that is a part of what it held before holds that only as a whole', () => {
    assert.equal(sameText('some text', 'text', 'some text'), false);
    assert.equal(sameText('1,234', '1234', '1,234'), true);
    assert.equal(sameText('some text', 'text', 'other'), true);
  });
});
