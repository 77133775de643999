import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createPageParts, PARTS } from '../../extension/src/page_parts.js';

let injections;
let frames;
let parts;

/** Frames by document: whether the parts are installed, and the result of a call. */
beforeEach(() => {
  injections = [];
  frames = new Map([['A', { frameId: 0 }], ['B', { frameId: 4 }]]);
  const scripting = {
    async executeScript(injection) {
      injections.push(injection);
      const { documentIds, frameIds } = injection.target;
      if (injection.target.gone) throw new Error('No frame with id 4 in tab');
      const wanted = [...frames].filter(([id, { frameId }]) =>
        (!documentIds || documentIds.includes(id)) && (!frameIds || frameIds.includes(frameId)));
      if (wanted.length === 0) throw new Error('No frame with id 4 in tab with id 7');
      return wanted.map(([documentId, frame]) => {
        if (injection.files) frame.installed = true;
        const answer = frame.installed ? frame.answer ?? { url: 'u', data: 1 } : { missing: true };
        return { frameId: frame.frameId, documentId, result: injection.files ? null : answer };
      });
    },
  };
  parts = createPageParts({ scripting }, async () => 'session');
});

describe('page parts', () => {
  test('are installed once where they are missing', async () => {
    const expected = [
      { frameId: 0, documentId: 'A', url: 'u', result: 1 },
      { frameId: 4, documentId: 'B', url: 'u', result: 1 },
    ];
    assert.deepEqual(await parts.callAll(7, 'refs.of', [1]), expected);
    assert.equal(injections.filter(({ files }) => files === PARTS).length, 2);
    injections.length = 0;
    assert.deepEqual(await parts.callAll(7, 'refs.of', [1]), expected);
    assert.equal(injections.length, 1);
  });

  test('are called only in the given frame', async () => {
    assert.deepEqual(await parts.call(7, { documentId: 'B' }, 'refs.of', [1]), { url: 'u', data: 1 });
    assert.ok(injections.every(({ target }) => target.documentIds[0] === 'B'));
    assert.deepEqual(injections.at(-1).args, ['session', 'refs.of', [1], false]);
  });

  test('are installed once for concurrent calls', async () => {
    await Promise.all([parts.callAll(7, 'refs.of', [1]), parts.callAll(7, 'refs.of', [2])]);
    assert.equal(injections.filter(({ files }) => files === PARTS).length, 2);
  });

  test('forward their errors to the caller', async () => {
    frames.set('B', { frameId: 4, answer: { url: 'u', error: { code: 'stale_ref', message: 'no' } } });
    await assert.rejects(parts.call(7, { frameId: 4 }, 'refs.of'), { code: 'stale_ref', url: 'u' });
    const [, inner] = await parts.callAll(7, 'refs.of');
    assert.equal(inner.error.code, 'stale_ref');
  });

  test('report a frame that is gone and a page that was replaced', async () => {
    frames.delete('B');
    await assert.rejects(parts.call(7, { frameId: 4 }, 'refs.of'), { code: 'frame_gone' });
    await assert.rejects(parts.call(7, { documentId: 'B' }, 'refs.of'), { code: 'frame_gone' });
    frames.delete('A');
    await assert.rejects(parts.call(7, {}, 'refs.of'), { code: 'page_navigated' });
  });
});
