import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { arrange, pathIn, pointInFrame, pointInTab } from '../../extension/src/frames.js';

const child = (key, place, more = {}) =>
  ({ key, place, src: '', x: 0, y: 0, width: 300, height: 150, scaleX: 1, scaleY: 1, ...more });

function look(frameId, path, children = [], more = {}) {
  const { url = `http://page.test/${frameId}`, ...own } = more;
  const result = { path, width: 300, height: 150, children, ...own };
  return { frameId, documentId: `D${frameId}`, url, result };
}

const places = (list) => list.map(({ frameId, parent, owner }) => [frameId, parent, owner?.key]);

describe('the tree of frames', () => {
  test('follows the places of frames in the lists of their parents', () => {
    const list = arrange([
      look(9, [1, 0]), look(0, [], [child(1, 0), child(2, 1)]), look(4, [1], [child(1, 0)]),
      look(6, [0]),
    ]);
    assert.deepEqual(places(list), [[0, null, undefined], [4, 0, 2], [6, 0, 1], [9, 4, 1]]);
    assert.deepEqual(pathIn(list, 9).map(({ frameId }) => frameId), [0, 4, 9]);
    assert.deepEqual(pathIn(list, 77), []);
  });

  test('distinguishes frames in shadow trees by address and position', () => {
    const list = arrange([
      look(0, [], [
        child(1, -1, { src: 'http://a.test/' }),
        child(2, -1, { src: 'http://b.test/' }),
        child(3, -1, { left: 10, top: 90 }),
        child(4, -1, { left: 10, top: 20 }),
      ]),
      look(2, [-1], [], { left: 10, top: 20 }),
      look(3, [-1], [], { left: 10, top: 90 }),
      look(4, [-1], [], { url: 'http://b.test/' }),
      look(5, [-1], [], { url: 'http://a.test/' }),
    ]);
    assert.deepEqual(places(list).slice(1), [[2, 0, 4], [3, 0, 3], [4, 0, 2], [5, 0, 1]]);
  });

  test('omits frames that failed, and keeps frames without a place', () => {
    const list = arrange([
      look(0, []), look(3, [2]), { frameId: 4, documentId: 'D4', error: { code: 'execution_failed' } },
    ]);
    assert.deepEqual(places(list), [[0, null, undefined], [3, null, undefined]]);
  });
});

describe('frame coordinates', () => {
  const owner = (x, y, scale = 1) => ({ owner: { x, y, scaleX: scale, scaleY: scale } });
  const paths = [
    ['the top frame', [{ owner: null }], { x: 7, y: 9 }, { x: 7, y: 9 }],
    ['a frame', [{ owner: null }, owner(100, 50)], { x: 7, y: 9 }, { x: 107, y: 59 }],
    ['a frame in a scaled frame', [{ owner: null }, owner(100, 50, 0.5), owner(20, 40)], { x: 10, y: 10 }, { x: 115, y: 75 }],
    ['a scaled frame in a frame', [{ owner: null }, owner(100, 50), owner(20, 40, 2)], { x: 10, y: -10 }, { x: 140, y: 70 }],
  ];
  for (const [name, path, inFrame, inTab] of paths) {
    test(`are converted to tab coordinates and back for ${name}`, () => {
      assert.deepEqual(pointInTab(path, inFrame), inTab);
      assert.deepEqual(pointInFrame(path, inTab), inFrame);
    });
  }
});
