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

class FakeOutbox {
  sent = [];
  answer = { accepted: true };

  async announce(report) {
    this.sent.push(report);
    return this.answer;
  }

  async deliver(report) {
    this.sent.push(report);
    return this.answer;
  }
}

/** Work that the test ends; it began at once, in tab 7. */
function openEndedWork() {
  const work = { begun: 0 };
  work.promise = new Promise((resolve, reject) => Object.assign(work, { resolve, reject }));
  work.execute = (command, run) => {
    work.begun += 1;
    work.run = run;
    Object.assign(run, { tabId: WHERE.tab_id, url: WHERE.url, started: true });
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
  const journal = await openDeliveryJournal(new FakeStorage());
  runner = createCommandRunner({ execute: work.execute, outbox, journal, log() {} });
});

function start(command = COMMAND) {
  runner.receive(command);
  return settled();
}

const statuses = () => outbox.sent.map(({ status }) => status);

describe('command runner', () => {
  test('a quick result is posted at once, and alone', async () => {
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
      },
    ]);
  });

  test('pending leaves 1.8 s after receipt and not before', async () => {
    await start();
    await elapse(1_799);
    assert.deepEqual(statuses(), []);
    await elapse(1);
    assert.deepEqual(outbox.sent, [
      { id: 'd-1', correlation_id: 'corr-1', status: 'pending', ...WHERE },
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
    });
    assert.equal(work.run.signal.aborted, true);
  });

  test('a command may bring its own running time', async () => {
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

  test('a cancel request stops the work and all posts', async () => {
    outbox.answer = { accepted: true, cancel_requested: true };
    await start();
    await elapse(1_800);
    assert.equal(work.run.signal.aborted, true);
    work.resolve('too late');
    await elapse(60_000);
    assert.deepEqual(statuses(), ['pending']);
  });

  test('a heartbeat that was not heard does not end the command', async () => {
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

  test('a page cannot make a report large by its message or its address', async () => {
    await start();
    work.run.url = `http://page.test/${'a'.repeat(100_000)}`;
    work.reject(new Error('b'.repeat(100_000)));
    await settled();
    const [{ error, url }] = outbox.sent;
    assert.equal(error.message.length, 4_000);
    assert.equal(url.length, 2_000);
  });

  test('the same delivery is run once, also after it has ended', async () => {
    await start();
    await start();
    work.resolve(1);
    await settled();
    await start();
    assert.equal(work.begun, 1);
    assert.deepEqual(statuses(), ['complete']);
  });

  test('what an earlier worker left unfinished is reported once', async () => {
    const storage = new FakeStorage();
    const earlier = await openDeliveryJournal(storage);
    await earlier.claim(COMMAND);
    await earlier.claim({ id: 'd-2', correlation_id: 'corr-2' });
    await earlier.finish('d-2');
    const journal = await openDeliveryJournal(storage);
    runner = createCommandRunner({ execute: work.execute, outbox, journal, log() {} });
    await runner.reportAbandoned();
    await runner.reportAbandoned();
    assert.equal(outbox.sent.length, 1);
    assert.equal(outbox.sent[0].id, 'd-1');
    assert.equal(outbox.sent[0].error.may_have_executed, true);
    assert.deepEqual((await openDeliveryJournal(storage)).takeUnfinished(), []);
  });
});
