import assert from 'node:assert/strict';
import {test} from 'node:test';
import {append, maxText, recorded, type Streamed} from '../src/conversation/agent_text.ts';

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

test('of a long one the end is kept, by whole characters, and told pieces still fit to it', () => {
  let now: Streamed | null = null;
  let whole = '';
  for (let at = 0; at < 100; at++) {
    const text = `${at}${'é🙂'.repeat(2_000 + at)}`;
    now = append(now, {iteration: 1, offset: Buffer.byteLength(whole), text});
    whole += text;
    assert.ok(now.text.length <= maxText && whole.endsWith(now.text) && !/\p{Cs}/u.test(now.text));
    assert.deepEqual([now.start + now.bytes, now.bytes], [Buffer.byteLength(whole), Buffer.byteLength(now.text)]);
  }
  const again = append(now, {iteration: 1, offset: Buffer.byteLength(whole) - 4, text: '🙂x'});
  assert.ok(again.text.endsWith('é🙂x'));
  const long = append(null, {iteration: 2, offset: 7, text: whole});
  assert.ok(long.text.length <= maxText && long.start + long.bytes === 7 + Buffer.byteLength(whole));
});
