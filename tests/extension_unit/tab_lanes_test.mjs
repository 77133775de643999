import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTabLanes } from '../../extension/src/tab_lanes.js';
import { settled } from './support/settled.mjs';

function openEnded() {
  const task = {};
  task.promise = new Promise((resolve, reject) => Object.assign(task, { resolve, reject }));
  return task;
}

describe('tab lanes', () => {
  test('keep the order within a lane and do not block other lanes', async () => {
    const lanes = createTabLanes();
    const slow = openEnded();
    const log = [];
    lanes.enter(1, () => slow.promise.then(() => log.push('slow')));
    lanes.enter(1, () => log.push('next'));
    lanes.enter(2, () => log.push('aside'));
    await settled();
    assert.deepEqual(log, ['aside']);
    slow.resolve();
    await settled();
    assert.deepEqual(log, ['aside', 'slow', 'next']);
  });

  test('report a failure only to its own caller and do not block the lane', async () => {
    const lanes = createTabLanes();
    const failing = lanes.enter(1, () => Promise.reject(new Error('mine')));
    const next = lanes.enter(1, () => 'fine');
    await assert.rejects(failing, /mine/);
    assert.equal(await next, 'fine');
  });
});
