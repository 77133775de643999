import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { GatewayUnavailable } from '../../extension/src/gateway_client.js';
import { runPollLoop } from '../../extension/src/poll_loop.js';
import { settled } from './support/settled.mjs';

let nowMs;
let polls;
let received;
let cancelled;
let reconnected;
let awake;
let stop;

/** Every poll stays open until the test answers it. */
const gateway = {
  pendingQueries({ known, hold }) {
    return new Promise((resolve, reject) => {
      polls.push({ atMs: nowMs, known, hold, resolve, reject });
    });
  },
};

async function elapse(ms) {
  nowMs += ms;
  mock.timers.tick(ms);
  await settled();
}

async function answer(commands) {
  polls.at(-1).resolve(commands);
  await settled();
}

async function fail() {
  polls.at(-1).reject(new GatewayUnavailable('down'));
  await settled();
}

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  nowMs = 0;
  polls = [];
  received = [];
  cancelled = [];
  reconnected = 0;
  awake = 0;
  stop = new AbortController();
  runPollLoop({
    gateway,
    known: () => received.length,
    receive: (command) => {
      received.push(command);
    },
    cancel: (item) => {
      cancelled.push(item);
    },
    reconnected: () => { reconnected += 1; },
    keepAwake: () => { awake += 1; },
    now: () => nowMs,
    random: () => 1,
    log() {},
    signal: stop.signal,
  });
  await settled();
});

describe('poll loop', () => {
  test('delivers commands and polls again at once', async () => {
    await answer(['a', 'b']);
    assert.deepEqual(received, ['a', 'b']);
    assert.equal(polls.length, 2);
    assert.equal(awake, 2);
  });

  test('holds polls only after an answer, and sends the number of known commands', async () => {
    await answer(['a']);
    await answer(['b']);
    await fail();
    await elapse(250);
    await answer(['c']);
    assert.deepEqual(polls.map(({ hold }) => hold), [false, true, true, false, true]);
    assert.deepEqual(polls.map(({ known }) => known), [0, 1, 2, 2, 3]);
  });

  test('distinguishes cancels from commands', async () => {
    const command = { type: 'browser_action', id: 'd-1' };
    const cancel = { type: 'cancel', id: 'd-2' };
    await answer([command, cancel]);
    assert.deepEqual(received, [command]);
    assert.deepEqual(cancelled, [cancel]);
  });

  test('reports once that the gateway is back', async () => {
    await answer(['a']);
    await fail();
    await elapse(250);
    await fail();
    await elapse(500);
    await answer(['a']);
    await answer(['a']);
    assert.equal(reconnected, 1);
  });

  test('polls again at once after a held poll', async () => {
    await elapse(5_000);
    await answer([]);
    assert.equal(polls.length, 2);
  });

  test('polls a gateway without held polls at most every 250 ms', async () => {
    await answer([]);
    await elapse(249);
    assert.equal(polls.length, 1);
    await elapse(1);
    assert.equal(polls.length, 2);
  });

  test('increases the wait after each failure up to 5 s, and resets it on success', async () => {
    const waits = [];
    for (let failures = 0; failures < 7; failures += 1) {
      const failedAt = nowMs;
      const before = polls.length;
      await fail();
      while (polls.length === before) await elapse(50);
      waits.push(nowMs - failedAt);
    }
    assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    await answer(['a']);
    await fail();
    const before = polls.length;
    await elapse(250);
    assert.equal(polls.length, before + 1);
  });

  test('ends when it is aborted', async () => {
    stop.abort();
    await fail();
    await elapse(60_000);
    assert.equal(polls.length, 1);
  });
});
