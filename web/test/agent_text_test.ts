import assert from 'node:assert/strict';
import {test} from 'node:test';
import {append, recorded, type Streamed} from '../src/sessions/agent_text.ts';

const of = (...pieces: [number, number, string][]) => pieces.reduce<Streamed | null>(
  (now, [iteration, offset, text]) => append(now, {iteration, offset, text}), null);

test('pieces go behind what is there, by bytes', () =>
  assert.equal(of([1, 0, 'zwei ä'], [1, 7, ' more'])?.text, 'zwei ä more'));
test('a lower offset replaces from there on', () =>
  assert.equal(of([1, 0, 'zwei ä more'], [1, 5, 'ö'])?.text, 'zwei ö'));
test('another answer begins anew, an older one does not come back', () => {
  assert.equal(of([1, 0, 'one'], [2, 0, 'two'])?.text, 'two');
  assert.equal(of([2, 0, 'two'], [1, 0, 'one'])?.text, 'two');
});
test('the end of a long answer goes on', () =>
  assert.equal(of([1, 1000, 'tail'], [1, 1004, ' end'])?.text, 'tail end'));
test('what is recorded goes', () => {
  assert.equal(recorded(of([1, 0, 'one']), 1), null);
  assert.equal(recorded(of([2, 0, 'two']), 1)?.text, 'two');
});
