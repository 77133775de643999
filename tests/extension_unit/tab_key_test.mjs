import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { carryTab } from '../../extension/src/tab_key.js';

/** A page with two frames; the second, with an unknown place, contains a frame itself. */
const TREE = [
  { frameId: 0, documentId: 'top', url: 'http://page.test/', parent: null, owner: null },
  { frameId: 1, documentId: 'one', url: 'http://page.test/one', parent: 0, owner: { key: 11 } },
  { frameId: 2, documentId: 'two', url: 'http://page.test/two', parent: null, owner: null },
  { frameId: 3, documentId: 'three', url: 'http://page.test/three', parent: 2, owner: { key: 13 } },
];
const STROKE = { key: 'Tab', shiftKey: false, held: [] };

/** Carries the Tab key from frame to frame; each call of a frame gets the next of its answers. */
async function carried(from, leaves, answers = {}, guard = async () => {}) {
  const calls = [];
  const pageParts = {
    async call(tabId, { documentId }, path, [, after]) {
      assert.equal(path, 'keys.tab');
      calls.push([documentId, after]);
      return { data: answers[documentId]?.shift() };
    },
  };
  const tools = { frames: { tree: async () => TREE }, guard, pageParts };
  const place = await carryTab({ tab: { id: 1 }, tools }, from, leaves, STROKE);
  return { calls, place };
}

describe('a Tab key that leaves a frame', () => {
  test('goes to the first tab stop of the frame that it enters', async () => {
    const { calls, place } = await carried({ frameId: 0 }, { into: 11 });
    assert.deepEqual(calls, [['one', null]]);
    assert.deepEqual(place, { frameId: 1, documentId: 'one', key: null });
  });

  test('continues after the frame that it leaves', async () => {
    const { calls, place } = await carried({ frameId: 1 }, { isOut: true });
    assert.deepEqual(calls, [['top', 11]]);
    assert.deepEqual(place, { frameId: 0, documentId: 'top', key: null });
  });

  test('passes through a frame without a tab stop', async () => {
    const { calls } = await carried({ frameId: 0 }, { into: 11 }, { one: [{ isOut: true }] });
    assert.deepEqual(calls, [['one', null], ['top', 11]]);
  });

  test('skips a frame that cannot be reached', async () => {
    const { calls, place } = await carried({ frameId: 0 }, { into: 99 });
    assert.deepEqual(calls, [['top', 99]]);
    assert.equal(place.frameId, 0);
  });

  test('starts over in a frame whose place is unknown', async () => {
    const { calls, place } = await carried({ frameId: 3 }, { isOut: true }, { two: [{ isOut: true }] });
    assert.deepEqual(calls, [['two', 13], ['two', null]]);
    assert.equal(place.frameId, 2);
  });

  test('ends if no frame has a tab stop', async () => {
    const out = Array(20).fill({ isOut: true });
    const { calls } = await carried({ frameId: 1 }, { isOut: true }, { top: Array(20).fill({ into: 11 }), one: out });
    assert.equal(calls.length, 2 * TREE.length + 1);
  });

  test('does not enter a restricted page', async () => {
    const guard = async (url) => { if (url.endsWith('/one')) throw new Error(`not ${url}`); };
    await assert.rejects(carried({ frameId: 0 }, { into: 11 }, {}, guard), /not .*one/);
  });
});
