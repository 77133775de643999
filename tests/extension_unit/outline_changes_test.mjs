import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outlineChanges } from '../../extension/src/outline_changes.js';

/**
 * Lines in the form of outline.js, made from texts: spaces give the depth, and refs are recognized.
 */
function lines(...texts) {
  return texts.map((text) => {
    const own = text.trimStart();
    return {
      depth: text.length - own.length,
      text: own,
      refs: [...own.matchAll(/\be\d+\b/g)].map(([ref]) => ref),
      kind: 'line',
    };
  });
}

const FORM = ['form', ' e1 textbox Name', ' e2 textbox Street', ' e3 button Order'];

function changes(before, after) {
  return outlineChanges(lines(...before), lines(...after));
}

describe('outline changes', () => {
  test('are empty if all lines are the same in any order', () => {
    assert.deepEqual(changes(FORM, FORM), []);
    assert.deepEqual(changes(FORM, [FORM[0], FORM[3], FORM[1], FORM[2]]), []);
    assert.deepEqual(changes([], []), []);
  });

  test('list added, removed and modified lines', () => {
    const after = ['form', ' e1 textbox Name = Ada', ' Name is taken', ' e3 button Order'];
    assert.deepEqual(changes(FORM, after), [
      '~ e1 textbox Name = Ada', '- e2 textbox Street', '+ Name is taken',
    ]);
  });

  test('follow the page order, with containers above their contents', () => {
    const after = ['dialog Really?', ' group', '  e4 button Yes', '  e5 button No', ...FORM];
    assert.deepEqual(changes(FORM, after), [
      '+ dialog Really?', '+  group', '+   e4 button Yes', '+   e5 button No',
    ]);
    assert.deepEqual(changes(after, FORM), [
      '- dialog Really?', '-  group', '-   e4 button Yes', '-   e5 button No',
    ]);
  });

  test('count identical lines', () => {
    assert.deepEqual(changes(['- a', '- a'], ['- a', '- a', '- a']), ['+ - a']);
    assert.deepEqual(changes(['x', 'a', 'y', 'a'], ['x', 'y', 'a']), ['- a']);
  });

  test('show a text that replaces another one as modified', () => {
    assert.deepEqual(changes(['a', '3 items', 'b'], ['a', '4 items', 'b']), ['~ 4 items']);
    assert.deepEqual(changes(['a', 'b'], ['c', 'd', 'e']), ['- a', '- b', '+ c', '+ d', '+ e']);
  });

  test('identify a row by its first ref', () => {
    const row = (name) => `e1 checkbox | ${name} | e2 button Edit`;
    assert.deepEqual(changes([row('Ada')], [row('Bob')]), [`~ ${row('Bob')}`]);
  });

  test('show redrawn lines with their new refs, and many of them as a count', () => {
    const rows = (from, count) =>
      Array.from({ length: count }, (_, index) => `e${from + index} button Row ${index}`);
    assert.deepEqual(changes(rows(1, 2), rows(11, 2)), [
      '~ e11 button Row 0', '~ e12 button Row 1',
    ]);
    assert.deepEqual(changes(rows(1, 50), ['Saved', ...rows(101, 50)]), [
      '+ Saved', '~ 50 lines are there anew, with other refs',
    ]);
  });
});
