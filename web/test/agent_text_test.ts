import assert from 'node:assert/strict';
import {test} from 'node:test';
import {append, maxText, recorded, type Streamed} from '../src/conversation/agent_text.ts';

const of = (...pieces: [number, number, string][]) => pieces.reduce<Streamed | null>(
  (now, [iteration, offset, text]) => append(now, {iteration, offset, text}), null);

test('a piece is appended at its byte offset', () =>
  assert.equal(of([1, 0, 'zwei ä'], [1, 7, ' more'])?.text, 'zwei ä more'));
test('a piece at a lower offset replaces the text from that offset', () =>
  assert.equal(of([1, 0, 'zwei ä more'], [1, 5, 'ö'])?.text, 'zwei ö'));
test('a new iteration replaces the text, and an older one is ignored', () => {
  assert.equal(of([1, 0, 'one'], [2, 0, 'two'])?.text, 'two');
  assert.equal(of([2, 0, 'two'], [1, 0, 'one'])?.text, 'two');
});
test('a text that starts at a nonzero offset can be continued', () =>
  assert.equal(of([1, 1000, 'tail'], [1, 1004, ' end'])?.text, 'tail end'));
test('a recorded iteration is removed, and a later one stays', () => {
  assert.equal(recorded(of([1, 0, 'one']), 1), null);
  assert.equal(recorded(of([2, 0, 'two']), 1)?.text, 'two');
});

test('a long text keeps its end in whole characters, and later pieces still fit', () => {
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
