import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { LOAD_PATIENCE_MS, QUIET_MS, QUIET_PATIENCE_MS } from '../../extension/src/limits.js';
import { createSettling } from '../../extension/src/settling.js';
import { settled } from './support/settled.mjs';

let requests;
let idle;
let tab;
let settling;
let time;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  time = 1_000;
  requests = { open: 0, page: false, endedAt: 0 };
  idle = () => [{ result: 1_000 }];
  tab = { status: 'complete' };
  settling = createSettling({
    browser: { tabs: { get: async () => tab } },
    pageParts: { callAll: async () => idle() },
    network: { since: () => requests },
    now: () => time,
    wallNow: () => time,
  });
});

/** The ms until the page is quiet; `each` is called with the time every 10 ms. */
async function waited(each = () => {}) {
  const began = time;
  let done = false;
  settling.settled(7, began).then(() => { done = true; });
  await settled();
  while (!done) {
    time += 10;
    each(time - began);
    mock.timers.tick(10);
    await settled();
  }
  return time - began;
}

describe('a page', () => {
  test('is quiet once nothing has changed for a while', async () => {
    assert.equal(await waited(), QUIET_MS);
  });

  test('is not quiet while any frame changes', async () => {
    let changedAt = time;
    idle = () => [{ result: 1_000 }, { result: time - changedAt }, { error: {} }];
    const took = await waited((ms) => {
      if (ms <= 200) changedAt = time;
    });
    assert.ok(took >= 200 + QUIET_MS && took <= 220 + QUIET_MS, `${took}`);
  });

  test('is waited for up to the limit if it never stops changing', async () => {
    idle = () => [{ result: 0 }];
    assert.equal(await waited(), QUIET_PATIENCE_MS);
  });

  test('is waited for up to the limit if a frame never answers', async () => {
    idle = () => new Promise(() => {});
    assert.equal(await waited(), QUIET_PATIENCE_MS);
  });

  test('is not quiet during a request and shortly after it', async () => {
    requests = { open: 1, page: false, endedAt: 0 };
    const took = await waited((ms) => {
      if (ms === 300) requests = { open: 0, page: false, endedAt: time };
    });
    assert.ok(took >= 300 + QUIET_MS && took <= 330 + QUIET_MS, `${took}`);
  });

  test('is waited for until it has loaded and is quiet', async () => {
    requests = { open: 1, page: true, endedAt: 0 };
    tab = { status: 'loading' };
    const took = await waited((ms) => {
      if (ms === 1_000) requests = { open: 0, page: true, endedAt: time };
      if (ms === 3_000) tab = { status: 'complete' };
    });
    assert.ok(took >= 3_000 + QUIET_MS && took <= 3_030 + QUIET_MS, `${took}`);
  });

  test('is waited for up to the limit if it never finishes loading', async () => {
    requests = { open: 1, page: true, endedAt: 0 };
    tab = { status: 'loading' };
    const took = await waited();
    assert.ok(took <= LOAD_PATIENCE_MS + QUIET_PATIENCE_MS + 20, `${took}`);
  });
});
