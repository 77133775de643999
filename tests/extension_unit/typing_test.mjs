import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { CommandError, pageNavigated } from '../../extension/src/errors.js';
import { leftOf, newPatience, typed } from '../../extension/src/typing.js';
import { settled } from './support/settled.mjs';

describe('typing', () => {
  let calls;
  let answers;
  let nowMs;
  let controller;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    calls = [];
    answers = {};
    nowMs = 0;
    controller = new AbortController();
  });
  afterEach(() => mock.timers.reset());

  const act = async (tab, target, path, args = []) => {
    calls.push([path, ...args]);
    const answer = answers[path];
    return { url: 'http://page.test/', data: typeof answer === 'function' ? await answer() : answer };
  };
  const setting = () => ({
    tab: { id: 1 }, tools: { targets: { act }, now: () => nowMs }, signal: controller.signal, endsAt: 5_000,
  });
  const run = () => typed(setting(), {}, 'keys.type', ['abc']).catch((error) => error);
  async function elapse(ms) {
    nowMs += ms;
    mock.timers.tick(ms);
    await settled();
  }

  test('does not request an outcome that is not open', async () => {
    answers['keys.type'] = { said: 'field', isOpen: false };
    assert.deepEqual(await run(), { url: 'http://page.test/', data: { said: 'field' } });
    assert.deepEqual(calls, [['keys.type', 'abc']]);
  });

  test('waits until the field has taken the text', async () => {
    const open = [true, true];
    answers['keys.type'] = { said: 'field', isOpen: true };
    answers['held.outcome'] = () => (open.pop() ? { isOpen: true } : { value: 'ABC' });
    const result = run();
    for (let ms = 0; ms < 60; ms += 30) {
      await settled();
      await elapse(30);
    }
    assert.deepEqual((await result).data, { said: 'field', value: 'ABC' });
  });

  test('uses the result of the last check', async () => {
    answers['keys.type'] = { said: 'field', isOpen: true };
    answers['held.outcome'] = () => {
      if (calls.at(-1)[1]) throw new CommandError({ code: 'value_refused', message: 'No.' });
      return { isOpen: true };
    };
    const result = run();
    for (let ms = 0; ms <= 300; ms += 30) {
      await settled();
      await elapse(30);
    }
    assert.equal((await result).code, 'value_refused');
    assert.equal(calls.filter(([, isLast]) => isLast === false).length, 10);
  });

  test('waits about 1 s in total over all calls of a command', async () => {
    answers['fields.write'] = { said: 'field', isOpen: true };
    answers['held.outcome'] = () => (calls.at(-1)[1] ? { value: '' } : { isOpen: true });
    const patience = newPatience();
    const waited = [];
    for (let call = 0; call < 6; call += 1) {
      const from = nowMs;
      let isOver = false;
      typed(setting(), {}, 'fields.write', [], patience).then(() => { isOver = true; });
      await settled();
      while (!isOver) await elapse(30);
      waited.push(nowMs - from);
    }
    assert.deepEqual(waited, [300, 300, 300, 120, 0, 0]);
  });

  test('omits a value that the page has made secret', async () => {
    answers['keys.type'] = { said: 'field', isOpen: true, value: 'hush' };
    answers['held.outcome'] = { value_left_out: true };
    assert.deepEqual((await run()).data, { said: 'field', value_left_out: true });
  });

  test('omits a value that was secret at first', async () => {
    answers['keys.type'] = { said: 'field', isOpen: true, value_left_out: true };
    answers['held.outcome'] = { value: 'hush' };
    assert.deepEqual((await run()).data, { said: 'field', value_left_out: true });
  });

  test('succeeds if it leads to another page', async () => {
    answers['keys.type'] = { said: 'field', isOpen: true };
    answers['held.outcome'] = () => { throw pageNavigated(); };
    assert.deepEqual((await run()).data, { said: 'field' });
  });

  test('ends in the page when its command is aborted, but not after it has finished', async () => {
    let resolve;
    answers['keys.type'] = () => new Promise((done) => { resolve = done; });
    const result = run();
    await settled();
    controller.abort();
    resolve({ isOpen: true });
    await result;
    assert.deepEqual(calls.map(([path]) => path), ['keys.type', 'turns.end']);
    controller = new AbortController();
    answers['keys.type'] = {};
    await run();
    controller.abort();
    assert.deepEqual(calls.map(([path]) => path), ['keys.type', 'turns.end', 'keys.type']);
  });

  test('has the remaining time of its command', () => {
    nowMs = 4_000;
    assert.deepEqual(leftOf(setting()), { leftMs: 1_000 });
    nowMs = 6_000;
    assert.deepEqual(leftOf(setting()), { leftMs: 0 });
  });
});
