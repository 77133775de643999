import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { createCommandRunner } from '../../extension/src/command_runner.js';
import { openDeliveryJournal } from '../../extension/src/delivery_journal.js';
import { CommandError } from '../../extension/src/errors.js';
import { FakeStorage } from './support/fake_storage.mjs';
import { settled } from './support/settled.mjs';

const COMMAND = { id: 'd-1', correlation_id: 'corr-1', type: 'browser_action', params: {} };
const WHERE = { tab_id: 7, url: 'http://page.test/' };

let outbox;
let work;
let runner;
let storage;
let running;
let wallNowMs;

class FakeOutbox {
  sent = [];
  answer = { accepted: true };

  async announce(report) {
    this.sent.push(report);
    return this.answer;
  }

  async deliver(report, signal) {
    this.sent.push(report);
    this.signal = signal;
    await this.taken;
    return this.answer;
  }
}

/** Work that the test ends; it begins at once, in tab 7. */
function openEndedWork() {
  const work = { begun: 0 };
  work.promise = new Promise((resolve, reject) => Object.assign(work, { resolve, reject }));
  work.execute = async (command, run) => {
    work.run = run;
    Object.assign(run, { tabId: WHERE.tab_id, url: WHERE.url });
    await work.turn;
    if (await run.begin()) work.begun += 1;
    return work.promise;
  };
  return work;
}

async function elapse(ms) {
  mock.timers.tick(ms);
  await settled();
}

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  outbox = new FakeOutbox();
  work = openEndedWork();
  storage = new FakeStorage();
  running = new Map();
  wallNowMs = 1_000_000;
  await startWorker();
});

/** A service worker starts, and knows of its predecessor only from storage. */
async function startWorker() {
  const journal = await openDeliveryJournal(storage, () => 0);
  const { execute } = work;
  runner = createCommandRunner({
    execute,
    outbox,
    journal,
    wallNow: () => wallNowMs,
    log() {},
    running,
  });
}

/** The service worker is ended, and the next one takes over; nothing of the first continues. */
async function restartWorker() {
  outbox = new FakeOutbox();
  work = openEndedWork();
  await startWorker();
  await runner.recover();
  await settled();
}

function start(command = COMMAND) {
  runner.receive(command);
  return settled();
}

const statuses = () => outbox.sent.map(({ status }) => status);

describe('command runner', () => {
  test('a quick result is posted immediately, without heartbeats', async () => {
    await start();
    work.resolve({ answer: 42 });
    await settled();
    await elapse(60_000);
    assert.deepEqual(outbox.sent, [
      {
        id: 'd-1',
        correlation_id: 'corr-1',
        status: 'complete',
        result: { success: true, data: { answer: 42 } },
        ...WHERE,
        work: { beganAt: wallNowMs, endedAt: wallNowMs },
      },
    ]);
  });

  test('a report contains the time at the page, without the wait for its turn', async () => {
    let begin;
    work.turn = new Promise((resolve) => { begin = resolve; });
    await start();
    wallNowMs += 300;
    begin();
    await settled();
    const beganAt = wallNowMs;
    wallNowMs += 40;
    work.resolve({});
    await settled();
    assert.deepEqual(outbox.sent.at(-1).work, { beganAt, endedAt: beganAt + 40 });
  });

  test('a report on a command that has not begun contains no time at the page', async () => {
    work.turn = new Promise(() => {});
    await start({ ...COMMAND, timeout_ms: 500 });
    await elapse(500);
    assert.deepEqual([outbox.sent.at(-1).status, outbox.sent.at(-1).work], ['timeout', undefined]);
  });

  test('pending is sent 1.8 s after receipt and not earlier', async () => {
    await start();
    await elapse(1_799);
    assert.deepEqual(statuses(), []);
    await elapse(1);
    assert.deepEqual(outbox.sent, [
      { id: 'd-1', correlation_id: 'corr-1', status: 'pending', progress: undefined, ...WHERE },
    ]);
  });

  test('pending is repeated every 4 s until the timeout ends it at 10 s', async () => {
    await start();
    for (let ms = 0; ms < 60_000; ms += 200) await elapse(200);
    assert.deepEqual(statuses(), ['pending', 'pending', 'pending', 'timeout']);
    assert.deepEqual(outbox.sent.at(-1), {
      id: 'd-1',
      correlation_id: 'corr-1',
      status: 'timeout',
      error: {
        code: 'execution_timeout',
        message: 'The command was still running after 10000 ms.',
        may_have_executed: true,
      },
      ...WHERE,
      work: { beganAt: wallNowMs, endedAt: wallNowMs },
    });
    assert.equal(work.run.signal.aborted, true);
  });

  test('an action that stops in time reports its own progress', async () => {
    await start();
    work.reject(new CommandError({ code: 'execution_timeout', message: 'When 3 of 9.', mayHaveExecuted: true }));
    await settled();
    const { status, error } = outbox.sent.at(-1);
    assert.deepEqual([status, error.code, error.message], ['timeout', 'execution_timeout', 'When 3 of 9.']);
  });

  test('a command can set its own timeout', async () => {
    await start({ ...COMMAND, timeout_ms: 500 });
    await elapse(499);
    assert.deepEqual(statuses(), []);
    await elapse(1);
    assert.deepEqual(statuses(), ['timeout']);
  });

  test('a result after the timeout is dropped', async () => {
    await start({ ...COMMAND, timeout_ms: 500 });
    await elapse(500);
    work.resolve('late');
    await settled();
    assert.deepEqual(statuses(), ['timeout']);
  });

  test('a cancel request in an answer stops the work and all posts', async () => {
    outbox.answer = { accepted: true, cancel_requested: true };
    await start();
    await elapse(1_800);
    assert.equal(work.run.signal.aborted, true);
    work.resolve('too late');
    await elapse(60_000);
    assert.deepEqual(statuses(), ['pending']);
  });

  test('an unanswered heartbeat does not end the command', async () => {
    outbox.answer = null;
    await start();
    await elapse(1_800);
    work.resolve('done');
    await settled();
    assert.deepEqual(statuses(), ['pending', 'complete']);
  });

  test('a known error keeps its code and hint', async () => {
    await start();
    const hint = 'try this';
    work.reject(
      new CommandError({ code: 'script_blocked', message: 'no', hint, mayHaveExecuted: false }),
    );
    await settled();
    const [report] = outbox.sent;
    assert.equal(report.status, 'error');
    assert.deepEqual(report.error, {
      code: 'script_blocked',
      message: 'no',
      hint: 'try this',
      may_have_executed: false,
    });
  });

  test('an unknown error is execution_failed and may have executed', async () => {
    await start();
    work.reject(new Error('odd'));
    await settled();
    const { code, may_have_executed } = outbox.sent[0].error;
    assert.deepEqual({ code, may_have_executed }, {
      code: 'execution_failed',
      may_have_executed: true,
    });
  });

  test('a page cannot make a report large with its message or its address', async () => {
    await start();
    work.run.url = `http://page.test/${'a'.repeat(100_000)}`;
    work.reject(new Error('b'.repeat(100_000)));
    await settled();
    const [{ error, url }] = outbox.sent;
    assert.equal(error.message.length, 4_000);
    assert.equal(url.length, 2_000);
  });

  test('the same delivery is run only once, even after it has ended', async () => {
    await start();
    await start();
    work.resolve(1);
    await settled();
    await start();
    assert.equal(work.begun, 1);
    assert.deepEqual(statuses(), ['complete']);
  });

  test('a read-only command that times out is known to have changed nothing', async () => {
    await start({ ...COMMAND, timeout_ms: 500 });
    work.run.readsOnly = true;
    await elapse(500);
    assert.equal(outbox.sent[0].error.may_have_executed, false);
  });

  test('heartbeats report the progress of the work', async () => {
    await start();
    const progress = { message: '1 of 4 parts are taken.', fraction: 0.25 };
    work.run.progress = progress;
    await elapse(1_800);
    assert.deepEqual(outbox.sent[0].progress, progress);
  });

  test('a rejected heartbeat stops the work', async () => {
    outbox.answer = { accepted: false };
    await start();
    await elapse(1_800);
    assert.equal(work.run.signal.aborted, true);
    work.resolve('too late');
    await elapse(60_000);
    assert.deepEqual(statuses(), ['pending']);
  });

  test('a cancel stops the work immediately, and nothing is posted', async () => {
    await start();
    runner.cancel({ id: 'd-1' });
    await settled();
    assert.equal(work.run.signal.aborted, true);
    work.resolve('too late');
    await elapse(60_000);
    assert.deepEqual(statuses(), []);
    assert.equal(running.size, 0);
  });

  test('a cancel stops the attempts to deliver a result', async () => {
    outbox.taken = new Promise(() => {});
    await start();
    work.resolve('done');
    await settled();
    runner.cancel({ id: 'd-1' });
    assert.equal(outbox.signal.aborted, true);
  });

  test('a cancel of an unknown command is ignored', () => {
    runner.cancel({ id: 'd-9' });
  });

  test('a command that is cancelled while it waits never begins', async () => {
    let take;
    work.turn = new Promise((resolve) => { take = resolve; });
    await start();
    runner.cancel({ id: 'd-1' });
    take();
    await settled();
    assert.equal(work.begun, 0);
  });
});

describe('a command runner after a restart of the service worker', () => {
  test('delivers a finished result once', async () => {
    outbox.taken = new Promise(() => {});
    await start();
    work.resolve('kept');
    await settled();
    const [report] = outbox.sent;
    await restartWorker();
    assert.deepEqual(outbox.sent, [JSON.parse(JSON.stringify(report))]);
    await restartWorker();
    assert.deepEqual(outbox.sent, []);
  });

  test('reports a command that had begun once, and never begins it again', async () => {
    await start();
    await restartWorker();
    assert.equal(work.begun, 0);
    assert.equal(outbox.sent.length, 1);
    const [{ id, status, error }] = outbox.sent;
    assert.deepEqual({ id, status }, { id: 'd-1', status: 'error' });
    assert.equal(error.code, 'execution_failed');
    assert.equal(error.may_have_executed, true);
    await start();
    assert.equal(work.begun, 0);
    await restartWorker();
    assert.deepEqual(outbox.sent, []);
  });

  function waiting() {
    work.turn = new Promise(() => {});
    return start();
  }

  test('begins a waiting command for the rest of its time', async () => {
    await waiting();
    wallNowMs += 4_000;
    await restartWorker();
    assert.equal(work.begun, 1);
    assert.deepEqual(statuses(), ['pending']);
    await elapse(6_000);
    assert.equal(statuses().at(-1), 'timeout');
  });

  test('does not begin a waiting command whose time is over', async () => {
    await waiting();
    wallNowMs += 10_000;
    await restartWorker();
    assert.equal(work.begun, 0);
    assert.deepEqual(statuses(), ['timeout']);
    assert.equal(outbox.sent[0].error.may_have_executed, false);
  });

  for (const answer of [{ accepted: false }, { accepted: true, cancel_requested: true }]) {
    test(`does not begin a command after the answer ${JSON.stringify(answer)}`, async () => {
      await waiting();
      outbox = new FakeOutbox();
      outbox.answer = answer;
      work = openEndedWork();
      await startWorker();
      await runner.recover();
      await settled();
      assert.equal(work.begun, 0);
      assert.deepEqual(statuses(), ['pending']);
    });
  }

  test('does not begin a waiting command while the gateway is unavailable', async () => {
    await waiting();
    outbox = new FakeOutbox();
    outbox.answer = null;
    work = openEndedWork();
    await startWorker();
    await runner.recover();
    await settled();
    assert.equal(work.begun, 0);
    assert.deepEqual(statuses(), ['pending', 'error']);
    assert.equal(outbox.sent[1].error.may_have_executed, false);
  });

  test('announces all waiting commands at once, and begins them in order', async () => {
    work.turn = new Promise(() => {});
    for (const id of ['d-1', 'd-2', 'd-3']) await start({ ...COMMAND, id });
    const begun = [];
    outbox = new FakeOutbox();
    const resolves = [];
    outbox.announce = (report) => new Promise((resolve) => {
      outbox.sent.push(report);
      resolves.unshift(() => resolve({ accepted: report.id !== 'd-2' }));
    });
    work = { execute: async ({ id }) => { begun.push(id); } };
    await startWorker();
    const recovered = runner.recover();
    await settled();
    assert.deepEqual(outbox.sent.map(({ id }) => id), ['d-1', 'd-2', 'd-3']);
    for (const resolve of resolves) {
      assert.deepEqual(begun, []);
      resolve();
      await settled();
    }
    await recovered;
    assert.deepEqual(begun, ['d-1', 'd-3']);
  });
});
