import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {JsonObject, SessionEvent} from '../src/api/types.ts';
import {reduce} from '../src/conversation/log.ts';
import {find, type Found, indexIn, pattern, step} from '../src/conversation/search.ts';

const partsOf = (...told: [string, JsonObject][]) => reduce(told.map(([type, data], at): SessionEvent => (
  {seq: at + 1, timestamp: '', type, data}))).parts;
function found(parts: ReturnType<typeof partsOf>, words: string): Found[] {
  const work = find(parts, words);
  let next = work.next();
  while (!next.done) next = work.next();
  return next.value;
}
const at = (seq: number, lastSeq = seq): Found => ({key: `e${seq}`, seq, lastSeq});

test('words are found literally and in any case, in all kinds of parts', () => {
  const parts = partsOf(['user_prompt', {message: 'Mend the Login', images: [{id: 'i', name: 'login.png'}]}],
    ['agent_thought', {text: 'a (hard) one'}], ['plan', {entries: [{content: 'read a.c*', status: 'pending'}]}],
    ['tool_call', {tool_call_id: 't', title: 'make', raw_input: {env: [{deep: 'ÄRGER'}]}, raw_output: 7}],
    ['agent_message', {text: 'x\n'.repeat(100)}], ['of_tomorrow', {a: {b: 'login'}}]);
  const seqs = (words: string) => found(parts, words).map(({seq}) => seq);
  assert.deepEqual(seqs('LOGIN'), [1, 6]);
  assert.deepEqual(seqs('(hard)'), [2]);
  assert.deepEqual(seqs('.c*'), [3]);
  assert.deepEqual(seqs('ärger'), [4]);
  assert.deepEqual(seqs('7'), [4]);
  assert.deepEqual(seqs('nowhere'), []);
  for (const each of ['\\', '[', ']', '^$', '/', '-', '{2}', '|', '+?']) {
    assert.deepEqual(`a${each}a`.match(pattern(each)), [each]);
  }
});

test('text that is still streaming is not searched', () => {
  const [part] = partsOf(['agent_message', {text: 'word'}]);
  assert.deepEqual(found([part!, {...part!, seq: 0}], 'word').length, 1);
});

test('a search continues from the visible position and wraps around', () => {
  const all = [at(10), at(20), at(30)];
  assert.equal(step(all, null, 1, 15)?.seq, 20);
  assert.equal(step(all, null, 1, 20)?.seq, 20);
  // No match below: the nearest match above.
  assert.equal(step(all, null, 1, 31)?.seq, 30);
  assert.equal(step(all, null, -1, 15)?.seq, 10);
  assert.equal(step(all, null, -1, 5)?.seq, 30);
  assert.equal(step(all, all[2]!, 1, 0)?.seq, 10);
  assert.equal(step(all, all[0]!, -1, 0)?.seq, 30);
  assert.equal(step([], all[0]!, 1, 0), null);
  // The current match is gone: continues from its position.
  assert.equal(step(all, at(25), 1, 0)?.seq, 30);
  assert.equal(step(all, at(25), -1, 0)?.seq, 20);
});

test('a match stays the same when the beginning of its message is loaded', () => {
  const before = at(20, 24);
  const all = [at(5), {key: 'e18', seq: 18, lastSeq: 24}, at(30)];
  assert.equal(indexIn(all, before), 1);
  assert.equal(step(all, before, 1, 0)?.seq, 30);
  assert.equal(step(all, before, -1, 0)?.seq, 5);
});
