import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { GatewayRefused, GatewayUnavailable } from '../../extension/src/gateway_client.js';
import { createResultOutbox } from '../../extension/src/result_outbox.js';
import { settled } from './support/settled.mjs';

const REPORT = { id: 'd-1', correlation_id: 'corr-1', status: 'complete' };

let nowMs;
let attempts;
let answers;
let outbox;

/** Gives the test's answers, and `GatewayUnavailable` after that. */
const gateway = {
  async postResult(report) {
    attempts.push({ atMs: nowMs, report });
    const answer = answers.shift() ?? new GatewayUnavailable('down');
    if (answer instanceof Error) throw answer;
    return answer;
  },
};

async function elapse(ms) {
  for (let passed = 0; passed < ms; passed += 50) {
    nowMs += 50;
    mock.timers.tick(50);
    await settled();
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  nowMs = 0;
  attempts = [];
  answers = [];
  outbox = createResultOutbox({ gateway, now: () => nowMs, random: () => 1, log() {} });
});

describe('result outbox', () => {
  test('doubles the wait after each failure, up to 5 s, and gives up after 60 s', async () => {
    const delivered = outbox.deliver(REPORT);
    await settled();
    await elapse(120_000);
    assert.equal(await delivered, null);
    const times = attempts.map(({ atMs }) => atMs);
    assert.deepEqual(times.slice(0, 7), [0, 250, 750, 1_750, 3_750, 7_750, 12_750]);
    assert.ok(times.at(-1) > 55_000 && times.at(-1) <= 60_000, `last attempt at ${times.at(-1)}`);
    assert.ok(attempts.every(({ report }) => report === REPORT));
  });

  test('stops at the first answer', async () => {
    answers = [new GatewayUnavailable('503'), { accepted: true }];
    const delivered = outbox.deliver(REPORT);
    await settled();
    await elapse(250);
    assert.deepEqual(await delivered, { accepted: true });
    assert.equal(attempts.length, 2);
  });

  test('treats a refusal of the sender or of the command as final', async () => {
    for (const status of [401, 403, 404]) {
      answers = [new GatewayRefused('no', status)];
      assert.equal(await outbox.deliver(REPORT), null);
    }
    assert.equal(attempts.length, 3);
  });

  test('reports the refusal of a result in place of the result', async () => {
    answers = [new GatewayRefused('/query-result answered 400: too_many_values', 400), { accepted: true }];
    const trace = { traceparent: '00-1-2-01' };
    const report = { ...REPORT, ...trace, tab_id: 7, url: 'http://page.test/', result: { data: [1] } };
    assert.deepEqual(await outbox.deliver(report), { accepted: true });
    const { hint, ...error } = attempts[1].report.error;
    assert.deepEqual(error, {
      code: 'result_refused',
      message: 'The gateway refused the result of the command: /query-result answered 400: too_many_values',
      may_have_executed: true,
    });
    const { id, correlation_id } = REPORT;
    const expected = { id, correlation_id, ...trace, tracestate: undefined, tab_id: 7, status: 'error' };
    assert.deepEqual(attempts[1].report, { ...expected, error: { hint, ...error } });
  });

  test('reports the refusal of an error as well, and retries during an outage', async () => {
    answers = [new GatewayRefused('413', 413), new GatewayUnavailable('503'), { accepted: true }];
    const error = { code: 'invalid_params', message: 'x', may_have_executed: false };
    const delivered = outbox.deliver({ ...REPORT, status: 'error', error });
    await settled();
    await elapse(250);
    assert.deepEqual(await delivered, { accepted: true });
    const said = attempts[2].report.error;
    assert.match(said.message, /refused the error invalid_params of the command: 413/);
    assert.equal(said.may_have_executed, false);
  });

  test('gives up if the report of a refusal is refused as well', async () => {
    answers = [new GatewayRefused('400', 400), new GatewayRefused('400', 400)];
    assert.equal(await outbox.deliver(REPORT), null);
    assert.equal(attempts.length, 2);
  });

  test('stops when the signal is aborted between two attempts', async () => {
    const cancelled = new AbortController();
    const delivered = outbox.deliver(REPORT, cancelled.signal);
    await settled();
    cancelled.abort();
    assert.equal(await delivered, null);
    await elapse(10_000);
    assert.equal(attempts.length, 1);
  });

  test('sends a heartbeat once', async () => {
    const { signal } = new AbortController();
    assert.equal(await outbox.announce(REPORT, signal), null);
    await elapse(10_000);
    assert.equal(attempts.length, 1);
  });
});
