import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cropRegion } from '../../extension/src/draw_mode/crop_region.js';
import '../../extension/src/draw_mode/page/geometry.js';

const { arrowHead, boxBetween, middleOf, nearestIn, placeBeside, shifted } = callslipDraw;

describe('the geometry of a drawing', () => {
  test('a box is the same from whichever corner it is drawn, in whole pixels', () => {
    const box = { x: 10, y: 20, width: 31, height: 40 };
    assert.deepEqual(boxBetween({ x: 10.2, y: 19.9 }, { x: 40.6, y: 60.1 }), box);
    assert.deepEqual(boxBetween({ x: 40.6, y: 19.9 }, { x: 10.2, y: 60.1 }), box);
    assert.deepEqual(middleOf(box), { x: 25.5, y: 40 });
  });

  test('a shifted box keeps its size', () => {
    const box = { x: 1, y: 2, width: 3, height: 4 };
    assert.deepEqual(shifted(box, 10, -2), { x: 11, y: 0, width: 3, height: 4 });
  });

  test('the nearest point in a box is on its edge, or the given point if that is inside', () => {
    const box = { x: 0, y: 0, width: 100, height: 50 };
    assert.deepEqual(nearestIn(box, { x: 130, y: -5 }), { x: 100, y: 0 });
    assert.deepEqual(nearestIn(box, { x: 30, y: 5 }), { x: 30, y: 5 });
  });

  test('the head of an arrow points in its direction and lies behind its tip', () => {
    const [tip, one, other] = arrowHead({ x: 0, y: 0 }, { x: 100, y: 0 }, 10);
    assert.deepEqual(tip, { x: 100, y: 0 });
    assert.ok(one.x < 100 && other.x < 100);
    assert.equal(one.y, -other.y);
  });

  const view = { width: 800, height: 600 };
  const size = { width: 280, height: 80 };
  const places = [
    ['below the box', { x: 100, y: 100, width: 50, height: 50 }, { x: 100, y: 160 }],
    ['above a box at the bottom', { x: 100, y: 500, width: 50, height: 60 }, { x: 100, y: 410 }],
    ['within the view at the right', { x: 790, y: 100, width: 9, height: 9 }, { x: 510, y: 119 }],
    ['within the view for a huge box', { x: -9, y: -9, width: 999, height: 999 }, { x: 10, y: 10 }],
  ];
  for (const [what, box, place] of places) {
    test(`a note is placed ${what}`, () => {
      assert.deepEqual(placeBeside(box, size, view, 10), place);
    });
  }
});

describe('the crop of a picture', () => {
  const seen = { x: 0, y: 1000, width: 800, height: 600 };
  const picture = { width: 1600, height: 1200 };

  test('shows the mark with a margin, in pixels of the picture', () => {
    const rect = { x: 100, y: 1100, width: 300, height: 200 };
    const region = { x: 152, y: 152, width: 696, height: 496 };
    assert.deepEqual(cropRegion({ rect }, seen, picture), region);
  });

  test('shows a point with its surroundings', () => {
    const rect = { x: 400, y: 1300, width: 0, height: 0 };
    const region = { x: 600, y: 460, width: 400, height: 280 };
    assert.deepEqual(cropRegion({ rect }, seen, picture), region);
  });

  test('ends at the edge of the picture', () => {
    const rect = { x: 0, y: 1000, width: 300, height: 200 };
    const region = { x: 0, y: 0, width: 648, height: 448 };
    assert.deepEqual(cropRegion({ rect }, seen, picture), region);
  });

  test('shows the surroundings of the tip of an arrow', () => {
    const rect = { x: 300, y: 1300, width: 400, height: 0 };
    const region = cropRegion({ rect, to: { x: 300, y: 1300 } }, seen, picture);
    assert.equal(region.x, 400);
    assert.equal(region.x + region.width, (700 + 24) * 2);
  });

  test('is omitted when most of the mark is not visible', () => {
    const above = { x: 0, y: 700, width: 100, height: 400 };
    const aside = { x: 900, y: 1100, width: 0, height: 0 };
    for (const rect of [above, aside]) assert.equal(cropRegion({ rect }, seen, picture), null);
  });
});
