import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { createCaptureTurns } from '../../extension/src/capture_turns.js';
import { planTiles } from '../../extension/src/region_capture.js';
import { settled } from './support/settled.mjs';

const VIEW = { viewWidth: 900, viewHeight: 600, pixelRatio: 1 };
const region = (height) => ({ x: 0, y: 100, width: 800, height });

describe('the tiles of a long picture', () => {
  test('cover the region from top to bottom', () => {
    const plan = planTiles({ ...VIEW, region: region(1_500) });
    assert.deepEqual(plan, { region: region(1_500), tops: [100, 700, 1_300], truncated: false });
  });

  test('are a single tile if that covers the region', () => {
    const plan = planTiles({ ...VIEW, region: region(600) });
    assert.deepEqual(plan.tops, [100]);
  });

  test('are at most as wide as the window', () => {
    const plan = planTiles({ ...VIEW, region: region(600), viewWidth: 700 });
    assert.equal(plan.truncated, true);
  });

  test('end at the maximum height of a picture in device pixels', () => {
    const plan = planTiles({ ...VIEW, region: region(50_000), viewHeight: 1_000, pixelRatio: 2 });
    assert.equal(plan.region.height, 8_192);
    assert.equal(plan.tops.length, 9);
    assert.equal(plan.truncated, true);
  });
});

describe('capture turns', () => {
  let nowMs;
  let turns;

  async function elapse(ms) {
    nowMs += ms;
    mock.timers.tick(ms);
    await settled();
  }

  beforeEach(() => {
    mock.timers.reset();
    mock.timers.enable({ apis: ['setTimeout'] });
    nowMs = 0;
    turns = createCaptureTurns({ now: () => nowMs });
  });

  test('run one at a time, with 550 ms between any two captures', async () => {
    const times = [];
    const capture = async () => times.push(nowMs);
    const { signal } = new AbortController();
    const picture = (parts) => turns.next(async (inTime) => {
      for (let part = 0; part < parts; part += 1) await inTime(capture, signal);
    });
    const both = Promise.all([picture(2), picture(1)]);
    await settled();
    for (let passed = 0; passed < 3_000; passed += 50) await elapse(50);
    await both;
    assert.deepEqual(times.map((time) => time - times[0]), [0, 550, 1_100]);
  });

  test('retry a capture that exceeds the quota of the browser, at most twice', async () => {
    const times = [];
    const tooSoon = (failures) => async () => {
      times.push(nowMs);
      if (times.length > failures) return 'picture';
      throw new Error('This request exceeds the MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND quota.');
    };
    const taken = turns.next(tooSoon(2));
    await settled();
    for (let passed = 0; passed < 2_000; passed += 50) await elapse(50);
    assert.equal(await taken, 'picture');
    assert.deepEqual(times, [0, 550, 1_100]);

    times.length = 0;
    const never = assert.rejects(turns.next(tooSoon(100)), /quota/);
    for (let passed = 0; passed < 3_000; passed += 50) await elapse(50);
    await never;
    assert.equal(times.length, 3);
    await assert.rejects(async () => {
      const gone = turns.next(async () => { throw new Error('the tab is gone'); });
      for (let passed = 0; passed < 1_000; passed += 50) await elapse(50);
      await gone;
    }, /the tab is gone/);
  });

  test('skip a capture after its caller has cancelled', async () => {
    const cancelled = new AbortController();
    const captured = [];
    const capture = async () => captured.push(nowMs);
    const picture = turns.next(async (inTime) => {
      await inTime(capture, cancelled.signal);
      return inTime(capture, cancelled.signal);
    });
    await settled();
    cancelled.abort();
    assert.equal(await picture, undefined);
    assert.equal(captured.length, 1);
  });

  test('report a failure only to its own caller', async () => {
    const failing = turns.next(() => Promise.reject(new Error('mine')));
    const next = turns.next(async () => 'fine');
    await assert.rejects(failing, /mine/);
    await elapse(550);
    assert.equal(await next, 'fine');
  });
});
