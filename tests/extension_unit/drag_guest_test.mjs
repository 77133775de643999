import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createDragGuest } from '../../extension/src/drag_guest.js';
import { CommandError } from '../../extension/src/errors.js';

const owner = (x, y) => ({ x, y, scaleX: 1, scaleY: 1 });
const TREE = [
  { frameId: 0, documentId: 'top', parent: null, owner: null },
  { frameId: 1, documentId: 'one', parent: 0, owner: owner(0, 0) },
  { frameId: 2, documentId: 'two', parent: 0, owner: owner(0, 100) },
];
const CARRIED = [['text/plain', 'Ace']];
const away = { isAway: true, carried: CARRIED };

describe('a drag over another frame', () => {
  let calls;
  let guest;
  let refusal;
  beforeEach(() => {
    calls = [];
    refusal = undefined;
    const at = async ({ x, y }) => {
      if (refusal) throw refusal;
      const frameId = y < 90 ? 1 : y < 100 ? 0 : 2;
      const { documentId } = TREE[frameId];
      return { frameId, documentId, key: 1, x, y: y - (TREE[frameId].owner?.y ?? 0) };
    };
    const pageParts = {
      async call(tabId, { documentId }, path, args) {
        calls.push([documentId, path, ...args]);
        return { data: path === 'drag.drop' ? { accepted: true } : undefined };
      },
    };
    const tools = { frames: { tree: async () => TREE }, pageParts, targets: { at } };
    guest = createDragGuest({ tab: { id: 1 }, source: { frameId: 1, documentId: 'one' }, tools });
  });

  test('calls no other frame as long as it stays in its own', async () => {
    await guest.follow({ x: 5, y: 5 }, { isAway: false });
    assert.equal(await guest.drop(), null);
    assert.deepEqual(calls, []);
  });

  test('enters and leaves the frames on its way, and ends with a drop in the last', async () => {
    for (const y of [92, 95, 110, 120]) await guest.follow({ x: 5, y }, away);
    assert.deepEqual(await guest.drop(), { accepted: true });
    assert.deepEqual(calls, [
      ['top', 'drag.over', { x: 5, y: 92 }, CARRIED, true],
      ['top', 'drag.over', { x: 5, y: 95 }, CARRIED, false],
      ['top', 'drag.leave', { x: 5, y: 95 }],
      ['two', 'drag.over', { x: 5, y: 10 }, CARRIED, true],
      ['two', 'drag.over', { x: 5, y: 20 }, CARRIED, false],
      ['two', 'drag.drop', { x: 5, y: 20 }, CARRIED],
    ]);
  });

  test('leaves the other frame when it returns to its own', async () => {
    await guest.follow({ x: 5, y: 92 }, away);
    await guest.follow({ x: 5, y: 5 }, { isAway: false });
    assert.equal(await guest.drop(), null);
    assert.deepEqual(calls.map(([, path]) => path), ['drag.over', 'drag.leave']);
  });

  test('is over no frame outside the window', async () => {
    await guest.follow({ x: 5, y: 92 }, away);
    refusal = new CommandError({ code: 'element_not_found', message: 'outside' });
    await guest.follow({ x: 5, y: 900 }, away);
    assert.equal(await guest.drop(), null);
  });

  test('fails over a page that is off limits', async () => {
    refusal = new CommandError({ code: 'restricted_page', message: 'no' });
    await assert.rejects(guest.follow({ x: 5, y: 92 }, away), { code: 'restricted_page' });
  });

  test('only moves the mouse when it carries nothing', async () => {
    await guest.follow({ x: 5, y: 110 }, { isAway: true });
    assert.deepEqual(calls, [['two', 'drag.over', { x: 5, y: 10 }, null, true]]);
  });
});
