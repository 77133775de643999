import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { drag, placeOf } from '../../extension/src/actions/drag.js';
import { armCapture } from '../../extension/src/page/main/pointer_capture.js';

describe('the end point of a drag', () => {
  const places = [
    ['e12', { selector: 'e12' }],
    ['#bin, .bin', { selector: '#bin, .bin' }],
    ['300,120', { x: 300, y: 120 }],
    [' 300 , 120.5 ', { x: 300, y: 120.5 }],
    ['+0,-40', { dx: 0, dy: -40 }],
    ['-5,10', { dx: -5, dy: 10 }],
    ['0,+10', { dx: 0, dy: 10 }],
  ];
  for (const [text, place] of places) {
    test(`is parsed from "${text}"`, () => assert.deepEqual(placeOf(text), place));
  }
});

describe('a drag', () => {
  /** Drags in a tab whose page answers each call with `answer(method)`; returns its calls. */
  async function dragWith(answer, signal = new AbortController().signal) {
    const calls = [];
    const call = async (path, args) => {
      calls.push([path, ...args]);
      return { data: answer(path) ?? {}, url: 'http://page.test/' };
    };
    const source = { frameId: 0, documentId: 'D', key: 1, x: 10, y: 10, said: 'knob' };
    const tools = {
      browser: { scripting: { executeScript: async () => {} } },
      newId: () => 'id',
      pageParts: { call: (tabId, place, path, args) => call(path, args) },
      targets: { find: async () => source, act: (tab, target, path, args) => call(path, args) },
    };
    const setting = { tab: { id: 1 }, params: { selector: '#a', to: '+50,+0' }, tools, signal, endsAt: Infinity };
    const result = await drag.run(setting).catch((error) => error);
    return { calls: calls.map(([path]) => path), last: calls.at(-1), result };
  }

  for (const path of ['drag.begin', 'drag.move', 'drag.end']) {
    test(`is cancelled when ${path} fails`, async () => {
      const failing = (each) => { if (each === path) throw new Error('wrong'); };
      const { last, result } = await dragWith(failing);
      assert.deepEqual(last, ['drag.cancel', 'callslip-id']);
      assert.equal(result.message, 'wrong');
    });
  }

  test('is cancelled without a drop when its command is aborted', async () => {
    const controller = new AbortController();
    const { calls, result } = await dragWith((path) => { if (path === 'drag.move') controller.abort(); }, controller.signal);
    assert.deepEqual(calls, ['drag.begin', 'drag.move', 'drag.cancel']);
    assert.equal(result, undefined);
  });

  test('is not cancelled when it completes', async () => {
    const { calls } = await dragWith(() => ({ said: 'knob' }));
    assert.equal(calls.at(-1), 'drag.end');
  });
});

describe('the stand-ins for a captured pointer', () => {
  const names = ['setPointerCapture', 'releasePointerCapture', 'hasPointerCapture'];
  const page = new EventTarget();
  class Element extends EventTarget {}
  for (const name of names) Element.prototype[name] = () => `the browser's ${name}`;
  const own = names.map((name) => Element.prototype[name]);
  const there = () => names.map((name) => Element.prototype[name]);

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    Object.assign(globalThis, { Element, addEventListener: page.addEventListener.bind(page), removeEventListener: page.removeEventListener.bind(page) });
  });
  afterEach(() => {
    mock.timers.reset();
    for (const name of ['Element', 'addEventListener', 'removeEventListener']) delete globalThis[name];
  });

  test('are removed at the end of the drag, or after 15 s', () => {
    armCapture('one');
    assert.notDeepEqual(there(), own);
    page.dispatchEvent(new Event('one-end'));
    assert.deepEqual(there(), own);
    armCapture('two');
    mock.timers.tick(14_999);
    assert.notDeepEqual(there(), own);
    mock.timers.tick(1);
    assert.deepEqual(there(), own);
  });
});
