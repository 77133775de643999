import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { openDrawings } from '../../extension/src/draw_mode/drawings.js';
import { DRAWINGS_KEPT, DRAWINGS_STORED_CHARS } from '../../extension/src/limits.js';
import { FakeStorage } from './support/fake_storage.mjs';

let storage;
let drawings;

beforeEach(async () => {
  storage = new FakeStorage();
  drawings = await openDrawings(storage);
});

const add = (id, fields = {}) => drawings.add({ id, tabId: 7, ...fields });

describe('drawings', () => {
  test('outlive the service worker, with all changes', async () => {
    await add('d-1');
    await drawings.change('d-1', { annotations: [{ id: 'a1' }], state: 'sending' });
    const again = await openDrawings(storage);
    assert.equal(again.get('d-1').state, 'sending');
    assert.deepEqual(again.get('d-1').annotations, [{ id: 'a1' }]);
  });

  test('return the newest unfinished drawing of a tab as its current one', async () => {
    await add('d-1');
    await add('d-2');
    await add('d-3', { tabId: 8 });
    assert.equal(drawings.underWayIn(7).id, 'd-2');
    await drawings.change('d-2', { state: 'sending' });
    assert.equal(drawings.underWayIn(7).id, 'd-1');
    assert.equal(drawings.underWayIn(9), undefined);
  });

  test('stay removed, even if they are changed later', async () => {
    await add('d-1');
    await drawings.remove('d-1');
    assert.equal(await drawings.change('d-1', { state: 'sending' }), undefined);
    assert.deepEqual((await openDrawings(storage)).all(), []);
  });

  test('are stored without their pictures if these exceed the shared limit', async () => {
    const screenshot = 'x'.repeat(DRAWINGS_STORED_CHARS * 0.6);
    await add('d-1', { pictures: { screenshot } });
    await add('d-2', { pictures: { screenshot } });
    assert.equal(drawings.get('d-2').pictures.screenshot, screenshot);
    const again = await openDrawings(storage);
    assert.equal(again.get('d-1').pictures.screenshot, screenshot);
    assert.equal(again.get('d-2').pictures, undefined);
    await drawings.remove('d-1');
    await drawings.change('d-2', {});
    assert.ok((await openDrawings(storage)).get('d-2').pictures);
  });

  test('drop the oldest abandoned drawing above the limit, but none in progress', async () => {
    await add('busy');
    await add('left', { left: true });
    for (let count = 0; count < DRAWINGS_KEPT; count += 1) await add(`d-${count}`);
    assert.ok(drawings.get('busy'));
    assert.equal(drawings.get('left'), undefined);
  });
});
