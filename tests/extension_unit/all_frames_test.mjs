import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { createAllFrames } from '../../extension/src/all_frames.js';
import { FRAME_PATIENCE_MS, HUNG_FOR_MS } from '../../extension/src/limits.js';
import { settled } from './support/settled.mjs';

let frames;
let hung;
let asked;
let time;
let injectInAll;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  frames = new Map([['A', 0], ['B', 4], ['C', 5]]);
  hung = new Set();
  asked = [];
  time = 0;
  const scripting = {
    executeScript({ target }) {
      asked.push(target.allFrames ? 'all' : target.documentIds?.[0] ?? 'top');
      const wanted = [...frames].filter(([id, frameId]) => target.allFrames
        || target.documentIds?.includes(id) || target.frameIds?.includes(frameId));
      if (wanted.some(([id]) => hung.has(id))) return new Promise(() => {});
      return Promise.resolve(wanted.map(([documentId, frameId]) => ({ documentId, frameId })));
    },
  };
  injectInAll = createAllFrames({ scripting, now: () => time });
});

/** The documents with an answer. */
async function answered({ after = 0 } = {}) {
  const answer = injectInAll(7, {});
  for (let passed = 0; passed < after; passed += FRAME_PATIENCE_MS) {
    await settled();
    mock.timers.tick(FRAME_PATIENCE_MS);
  }
  return (await answer).map(({ documentId }) => documentId).join('');
}

describe('scripts in all frames', () => {
  test('are run with one call', async () => {
    assert.equal(await answered(), 'ABC');
    assert.deepEqual(asked, ['all']);
  });

  test('skip a frame that does not answer, and do not wait for it again', async () => {
    await answered();
    hung.add('B');
    assert.equal(await answered({ after: 2 * FRAME_PATIENCE_MS }), 'AC');
    asked = [];
    assert.equal(await answered(), 'AC');
    assert.deepEqual(asked, ['top', 'C']);
    hung.clear();
    time = HUNG_FOR_MS;
    assert.equal(await answered(), 'ABC');
  });

  test('are run in the top frame while nothing is known of the others', async () => {
    hung.add('B');
    assert.equal(await answered({ after: FRAME_PATIENCE_MS }), 'A');
    assert.equal(await answered(), 'A');
  });
});
