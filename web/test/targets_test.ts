import assert from 'node:assert/strict';
import {test} from 'node:test';
import {replayAll} from '../src/commands/act.ts';
import {windowOf} from '../src/commands/row_window.ts';
import {isSlow, needsWorker, orderWorkers, type Target, type Worker} from '../src/commands/targets.ts';

const target = (name: string, more: Partial<Target> = {}): Target =>
  ({target: name, queued: 0, delivered: 0, running: 0, workers_connected: 1, workers_known: 1, ...more});

test('a queue without workers needs one, and a queue with an old command is slow', () => {
  const all = [target('idle'), target('busy', {queued: 3, oldest_ms: 100}), target('stuck', {queued: 1, oldest_ms: 50, workers_connected: 0}),
    target('slow', {queued: 1, oldest_ms: 20_000})];
  assert.deepEqual(all.map(each => [needsWorker(each), isSlow(each)]), [[false, false], [false, false], [true, false], [false, true]]);
});

test('the workers of a target are ordered with the connected ones first', () => {
  const worker = (name: string, of: string, connected: boolean, ago: number): Worker =>
    ({worker: name, target: of, connected, last_seen_ms_ago: ago});
  const all = [worker('a', 'x', false, 5), worker('b', 'x', true, 9), worker('c', 'y', true, 0), worker('d', 'x', false, 1)];
  assert.deepEqual(orderWorkers(all, 'x').map(each => each.worker), ['b', 'd', 'a']);
  assert.equal(orderWorkers(all, '').length, 4);
});

test('only rows near the visible area are rendered', () => {
  assert.deepEqual(windowOf(0, 360, 36, 1000), {first: 0, end: 18});
  assert.deepEqual(windowOf(3600, 360, 36, 1000), {first: 92, end: 118});
  assert.deepEqual(windowOf(36_000, 360, 36, 1000), {first: 992, end: 1000});
  // The list became shorter than its scroll position.
  assert.deepEqual(windowOf(36_000, 360, 36, 5), {first: 5, end: 5});
  assert.deepEqual(windowOf(0, 360, 36, 0), {first: 0, end: 0});
});

test('a group is replayed once each, four at a time, and refusals are reported', async () => {
  const asked: string[] = [];
  let atOnce = 0;
  let most = 0;
  const one = async (id: string) => {
    asked.push(id);
    most = Math.max(most, ++atOnce);
    await Promise.resolve();
    atOnce--;
    if (id === '7') throw new Error('not_a_dead_letter');
  };
  const told: number[] = [];
  const ids = Array.from({length: 11}, (_, at) => String(at));
  const so = await replayAll(ids, ({done}) => told.push(done), one);
  assert.deepEqual([...asked].sort(), [...ids].sort());
  assert.deepEqual([so.done, so.refused.map(({id}) => id), most, told.at(-1)], [11, ['7'], 4, 11]);
});
