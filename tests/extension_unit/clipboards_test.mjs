import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { press } from '../../extension/src/actions/press.js';
import { createClipboards } from '../../extension/src/clipboards.js';
import { CLIPBOARD_CHARS, CLIPBOARDS_CHARS } from '../../extension/src/limits.js';
import { FakeStorage } from './support/fake_storage.mjs';

const text = (value) => ({ 'text/plain': value });

let storage;
let clipboards;
beforeEach(() => {
  storage = new FakeStorage();
  clipboards = createClipboards({ storage });
});

describe('the clipboards of agents', () => {
  test('are empty at first', async () => {
    assert.deepEqual(await clipboards.read('one'), {});
  });

  test('are separate for each caller, and outlive the service worker', async () => {
    await Promise.all([clipboards.write('one', text('1')), clipboards.write('two', text('2')), clipboards.write('one', text('3'))]);
    const next = createClipboards({ storage });
    assert.deepEqual(await Promise.all(['one', 'two', 'three'].map(next.read)), [text('3'), text('2'), {}]);
  });

  test('contain the last written data, even while it is being written', async () => {
    clipboards.write('one', text('1'));
    assert.deepEqual(await clipboards.read('one'), text('1'));
  });

  test('are dropped above their total limit, least recently written first', async () => {
    const whole = CLIPBOARD_CHARS - 'text/plain'.length;
    const count = CLIPBOARDS_CHARS / CLIPBOARD_CHARS + 1;
    for (let caller = 0; caller < count; caller += 1) await clipboards.write(caller, text('x'.repeat(whole)));
    assert.deepEqual(await clipboards.read(0), {});
    for (let caller = 1; caller < count; caller += 1) assert.equal((await clipboards.read(caller))['text/plain'].length, whole);
  });

  test('can be read after a failed write', async () => {
    const failing = createClipboards({ storage: { get: (keys) => storage.get(keys), set: async () => { throw new Error('full'); } } });
    await assert.rejects(failing.write('one', text('1')), /full/);
    assert.deepEqual(await failing.read('one'), {});
  });
});

describe('keys that copy and paste', () => {
  /** Presses keys in a page that gives each call the next answer; returns the calls. */
  async function pressing(key, answers, caller = 'one') {
    const calls = [];
    const act = async (tab, target, path, [strokes, options]) => {
      calls.push({ keys: strokes.map((each) => each.key).join(''), before: options.before, clipboard: options.clipboard });
      return { url: 'http://page.test/', data: answers.shift() };
    };
    const targets = { focused: async () => ({ frameId: 0, key: null }), act };
    const { signal } = new AbortController();
    const setting = { tab: { id: 1 }, params: { key }, caller, tools: { clipboards, targets, now: () => 0 }, signal, endsAt: 1_000 };
    return { calls, result: await press.run(setting) };
  }

  test('store the copied data before the next key, and paste it later', async () => {
    const { calls } = await pressing('Control+C End Control+V', [{ pressed: 1, copied: text('Ada') }, { pressed: 2 }]);
    assert.deepEqual(calls, [
      { keys: 'cEndv', before: 0, clipboard: {} },
      { keys: 'Endv', before: 1, clipboard: text('Ada') },
    ]);
    assert.deepEqual((await pressing('Control+V', [{ pressed: 1 }])).calls[0].clipboard, text('Ada'));
    assert.deepEqual((await pressing('Control+V', [{ pressed: 1 }], 'two')).calls[0].clipboard, {});
  });

  test('send the clipboard to a page only if one of them pastes', async () => {
    await clipboards.write('one', text('Ada'));
    assert.deepEqual((await pressing('a Control+C Enter', [{ pressed: 3 }])).calls[0].clipboard, {});
  });

  test('report the same note only once', async () => {
    const empty = { pressed: 1, note: 'the clipboard is empty' };
    const { result } = await pressing('Control+V*2', [{ ...empty }, { ...empty }]);
    assert.equal(result.data.done, 'pressed Control+V*2; the clipboard is empty');
  });
});
