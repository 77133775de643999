import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { keepServing, openedOnce } from '../../extension/src/keep_serving.js';
import { settled } from './support/settled.mjs';

const LONGEST_PAUSE_MS = 5_000;

let attempts;
let outcomes;
let stopped;
let served;

/** Each attempt ends with the next of `outcomes`; without one it continues. */
function serve(signal) {
  attempts.push(signal);
  return outcomes.shift()?.() ?? new Promise(() => {});
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  attempts = [];
  outcomes = [];
  stopped = new AbortController();
  served = () => keepServing(serve, { signal: stopped.signal, log() {} });
});

async function elapse(ms) {
  mock.timers.tick(ms);
  await settled();
}

const failing = async () => { throw new Error('storage is full'); };

describe('serving', () => {
  test('is retried until it does not fail, with a new signal for each attempt', async () => {
    outcomes = [failing, failing];
    served();
    await settled();
    assert.equal(attempts.length, 1);
    await elapse(LONGEST_PAUSE_MS);
    await elapse(LONGEST_PAUSE_MS);
    await elapse(LONGEST_PAUSE_MS);
    assert.deepEqual(attempts.map(({ aborted }) => aborted), [true, true, false]);
    stopped.abort();
    assert.equal(attempts[2].aborted, true);
  });

  test('ends with its signal, even during a pause', async () => {
    outcomes = [failing];
    const over = served();
    await settled();
    stopped.abort();
    await over;
    await elapse(LONGEST_PAUSE_MS);
    assert.equal(attempts.length, 1);
  });

  test('is not restarted after it has ended by itself', async () => {
    outcomes = [async () => {}];
    await served();
    await elapse(LONGEST_PAUSE_MS);
    assert.equal(attempts.length, 1);
  });
});

describe('a resource that is opened once', () => {
  test('is opened for the first caller, and again after a failure', async () => {
    let opened = 0;
    let fails = true;
    const get = openedOnce(async () => {
      opened += 1;
      if (fails) throw new Error('not now');
      return 'journal';
    });
    assert.equal(opened, 0);
    await assert.rejects(get(), /not now/);
    fails = false;
    assert.deepEqual(await Promise.all([get(), get()]), ['journal', 'journal']);
    assert.equal(await get(), 'journal');
    assert.equal(opened, 2);
  });
});
