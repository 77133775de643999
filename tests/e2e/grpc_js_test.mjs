/** The tracker's API over the wire, with gRPC for Node: each call, its errors, its trailers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  Messages, TrackerApi, proofOf, refusal, startTracker, stateOf, unique,
} from './support/tracker_api.js';
import { stretched } from '../support/patience.js';

const TIMEOUT = { timeout: stretched(30_000) };
const UNKNOWN_ID = `corr-1-${'0'.repeat(32)}`;
/**
 * What happens to a command, and how it ends. Where the test has something to do before a deadline,
 * it has two seconds for it.
 */
const DEADLINE_TESTS = {
  never_delivered: {
    how: 'left alone',
    deadlines: { ack_wait: { nanos: 100e6 }, schedule_to_start: { nanos: 200e6 } },
    state: 'EXPIRED',
  },
  extension_no_response: {
    how: 'delivered',
    deadlines: { ack_wait: { nanos: 100e6 } },
    state: 'EXPIRED',
  },
  worker_lost: {
    how: 'acknowledged',
    deadlines: { ack_wait: { seconds: 2 }, heartbeat_timeout: { seconds: 2, nanos: 100e6 } },
    state: 'FAILED',
  },
  execution_timeout: {
    how: 'acknowledged',
    deadlines: { start_to_close: { nanos: 100e6 } },
    state: 'TIMED_OUT',
  },
  schedule_to_close: {
    how: 'acknowledged',
    deadlines: {
      ack_wait: { seconds: 2 },
      schedule_to_start: { seconds: 2, nanos: 100e6 },
      start_to_close: { seconds: 2 },
      schedule_to_close: { seconds: 2, nanos: 200e6 },
    },
    state: 'EXPIRED',
  },
};

let tracker;
let api;

before(async () => {
  // Nobody waits for the reports of commands that tests leave behind.
  tracker = await startTracker(['--drain-grace', '0s']);
  api = new TrackerApi(tracker.address);
});

after(async () => {
  api?.close();
  await tracker?.stop();
});

/** Has a command registered and leased, and answers the lease. */
async function leased(settings = {}) {
  const target = unique('target');
  await api.register({ target, ...settings });
  const [lease] = await api.lease(target);
  return lease;
}

test('a command travels from its client to a worker and back', TIMEOUT, async () => {
  const target = unique('target');
  const request = {
    client_id: 'traveller',
    target,
    type: 'greet',
    params: Buffer.from('{"name":"Ada"}'),
    request_id: unique('request'),
    label: 'journey',
    ordering_key: 'tab-1',
    priority: 7,
    idempotent: true,
    deadlines: { start_to_close: { seconds: 20 } },
  };
  const { command, existed } = await api.call('RegisterCommand', request);
  assert.equal(existed, false);
  assert.match(command.command_id, /^corr-\d+-[0-9a-f]{32}$/);
  assert.equal(stateOf(command), 'QUEUED');
  for (const name of ['client_id', 'target', 'type', 'request_id', 'label', 'ordering_key']) {
    assert.equal(command[name], request[name]);
  }
  assert.equal(command.priority, 7);
  assert.equal(command.idempotent, true);
  assert.deepEqual(command.deadlines.start_to_close, { seconds: 20, nanos: 0 });
  assert.equal(command.deadlines.ack_wait.seconds, 3);
  assert.equal(command.params.length, 0);

  const [lease] = await api.lease(target, 'worker');
  assert.equal(lease.command.params.toString(), '{"name":"Ada"}');
  assert.equal(lease.command.attempt, 1);
  assert.equal(lease.start_to_close.seconds, 20);

  const progress = { fraction: 0.5, message: 'half way' };
  const context = Buffer.from('{"tab_id":7}');
  const running = await api.acknowledge(lease, { progress, context });
  assert.deepEqual([running.cancel_requested, stateOf(running)], [false, 'RUNNING']);
  assert.deepEqual((await api.get(command.command_id, 'traveller')).progress, progress);

  const completed = await api.complete(lease, { result: Buffer.from('"Hello"') });
  assert.deepEqual([completed.accepted, stateOf(completed)], [true, 'COMPLETED']);
  const ended = await api.get(command.command_id, 'traveller');
  assert.equal(ended.result.toString(), '"Hello"');
  assert.deepEqual(JSON.parse(ended.context), { tab_id: 7 });
  const steps = ended.trace.map(({ stage, source }) => `${stage} by ${source}`);
  assert.deepEqual(steps, [
    'queued by client', 'sent by tracker', 'started by worker', 'resolved by worker',
  ]);
});

test('large results fit, larger ones are refused', TIMEOUT, async () => {
  const lease = await leased();
  const tooLarge = { result: Buffer.alloc((8 << 20) + 1, '1') };
  await assert.rejects(
    api.complete(lease, tooLarge), refusal('INVALID_ARGUMENT', 'result_too_large'));
  assert.equal((await api.complete(lease, { result: Buffer.alloc(8 << 20, '1') })).accepted, true);
  const { result } = await api.get(lease.command.command_id);
  assert.equal(result.length, 8 << 20);
});

describe('RegisterCommand', () => {
  test('answers a repetition with the same command', TIMEOUT, async () => {
    const request = { target: unique('target'), type: 'work', request_id: unique('request') };
    const first = await api.call('RegisterCommand', request);
    const again = await api.call('RegisterCommand', { ...request, label: 'other' });
    assert.equal(again.existed, true);
    assert.equal(again.command.command_id, first.command.command_id);

    const others = [{ type: 'other' }, { target: unique('target') }, { priority: 1 }];
    for (const other of others) {
      await assert.rejects(
        api.register({ ...request, ...other }), refusal('ALREADY_EXISTS', 'request_id_reused'));
    }
    const client_id = unique('client');
    const elsewhere = await api.call('RegisterCommand', { ...request, client_id });
    assert.equal(elsewhere.existed, false);
  });

  test('refuses what does not fit, and names the field', TIMEOUT, async () => {
    const tomorrow = Math.floor(Date.now() / 1000) + 25 * 3600;
    const wrong = {
      type: { type: '' },
      params: { params: Buffer.alloc((1 << 20) + 1) },
      target: { target: 'x'.repeat(129) },
      label: { label: 'line\nbreak' },
      priority: { priority: 101 },
      not_before: { not_before: { seconds: tomorrow } },
      ack_wait: { deadlines: { ack_wait: { nanos: 1 } } },
      schedule_to_close: { deadlines: { schedule_to_close: { seconds: 5 } } },
    };
    for (const [field, settings] of Object.entries(wrong)) {
      const refused = refusal('INVALID_ARGUMENT', 'invalid_argument', { message: RegExp(field) });
      await assert.rejects(api.register(settings), refused);
    }
  });

  test('says how deep the queue is that is full', TIMEOUT, async () => {
    const target = unique('target');
    const fill = (client_id) =>
      Promise.all(Array.from({ length: 100 }, () => api.register({ target, client_id })));
    const full = (depth) =>
      refusal('RESOURCE_EXHAUSTED', 'queue_full', { retryAfterMs: '1000', depth });
    await fill('client-0');
    await assert.rejects(api.register({ target, client_id: 'client-0' }), full('100'));
    for (let i = 1; i < 10; ++i) await fill(`client-${i}`);
    await assert.rejects(api.register({ target, client_id: 'client-10' }), full('1000'));

    // Nothing was accepted, and a place that becomes free can be taken.
    const { commands } = await api.call('ListCommands', { client_id: 'client-10', target });
    assert.deepEqual(commands, []);
    await api.lease(target);
    await api.register({ target, client_id: 'client-10' });
  });
});

describe('GetCommand', () => {
  test('does not know ids of nobody and of others', TIMEOUT, async () => {
    const unknown = refusal('NOT_FOUND', 'unknown_command');
    const { command_id: id } = await api.register({ target: unique('target'), client_id: 'owner' });
    await assert.rejects(api.get(UNKNOWN_ID), unknown);
    await assert.rejects(api.get('no id at all'), unknown);
    await assert.rejects(api.get(id, 'stranger'), unknown);
    await assert.rejects(api.get(''), refusal('INVALID_ARGUMENT', 'invalid_argument'));
    assert.equal((await api.get(id, 'owner')).command_id, id);
  });

  test('remembers how a removed command ended', TIMEOUT, async () => {
    const lease = await leased({ deadlines: { result_retention: { seconds: 1 } } });
    const { command_id } = lease.command;
    await api.complete(lease);
    await api.call('GetCommand', { command_id });
    // Each look is a call to the tracker: this waits on the tracker's clock, not on ours.
    const removed = (async () => {
      for (;;) await api.get(command_id);
    })();
    const message = /completed/;
    await assert.rejects(removed, refusal('NOT_FOUND', 'command_removed', { message }));
  });
});

describe('ListCommands', () => {
  test('answers pages, newest first', TIMEOUT, async () => {
    const target = unique('target');
    const ids = [];
    for (let i = 0; i < 5; ++i) ids.push((await api.register({ target, label: 'odd' })).command_id);
    const seen = [];
    let page_token = '';
    do {
      const request = { target, label: 'odd', page_size: 2, page_token };
      const page = await api.call('ListCommands', request);
      assert.ok(page.commands.length <= 2);
      seen.push(...page.commands.map(({ command_id }) => command_id));
      page_token = page.next_page_token;
    } while (page_token !== '');
    assert.deepEqual(seen, ids.reverse());
  });

  test('refuses a page token that is not its own', TIMEOUT, async () => {
    await assert.rejects(
      api.call('ListCommands', { page_token: 'nonsense' }),
      refusal('INVALID_ARGUMENT', 'invalid_page_token'));
  });

  test('shows dead letters', TIMEOUT, async () => {
    const client_id = unique('client');
    const target = unique('target');
    for (let i = 0; i < 3; ++i) await api.register({ client_id, target });
    const [failing, fine, cancelled] = await api.lease(target);
    await api.complete(failing, { error: { code: 'broken' } });
    await api.complete(fine);
    await api.call('CancelCommand', { client_id, command_id: cancelled.command.command_id });
    const { commands } = await api.call('ListCommands', { client_id, dead_letters: true });
    assert.deepEqual(commands.map(stateOf), ['FAILED']);
    const both = { client_id, dead_letters: true, states: ['COMMAND_STATE_FAILED'] };
    await assert.rejects(
      api.call('ListCommands', both), refusal('INVALID_ARGUMENT', 'invalid_argument'));
  });
});

describe('the end of a command', () => {
  test('by a cancel, which may be repeated', TIMEOUT, async () => {
    const { command } = await leased();
    const { command_id } = command;
    for (let i = 0; i < 2; ++i) {
      const answer = await api.call('CancelCommand', { command_id });
      assert.equal(stateOf(answer.command), 'CANCELLED');
      assert.equal(answer.command.error.code, 'cancelled');
      assert.equal(answer.command.error.may_have_executed, true);
    }
    await assert.rejects(
      api.call('ExpireCommand', { command_id }), refusal('FAILED_PRECONDITION', 'already_ended'));
  });

  test('by ExpireCommand, which may be repeated', TIMEOUT, async () => {
    const { command_id } = await api.register({ target: unique('target') });
    const error = { code: 'tab_closed', message: 'The tab is gone.' };
    for (let i = 0; i < 2; ++i) {
      const { command } = await api.call('ExpireCommand', { command_id, error });
      assert.equal(stateOf(command), 'EXPIRED');
      assert.equal(command.error.code, 'tab_closed');
      assert.equal(command.error.may_have_executed, false);
    }
    await assert.rejects(
      api.call('CancelCommand', { command_id }), refusal('FAILED_PRECONDITION', 'already_ended'));

    const other = await api.register({ target: unique('target') });
    const { command } = await api.call('ExpireCommand', { command_id: other.command_id });
    assert.equal(command.error.code, 'expired_on_request');
  });

  test('of a command that nobody knows', TIMEOUT, async () => {
    for (const method of ['CancelCommand', 'ExpireCommand', 'ReplayCommand']) {
      await assert.rejects(
        api.call(method, { command_id: UNKNOWN_ID }), refusal('NOT_FOUND', 'unknown_command'));
      await assert.rejects(
        api.call(method, {}), refusal('INVALID_ARGUMENT', 'invalid_argument'));
    }
  });

  test('by each deadline', TIMEOUT, async () => {
    const ends = Object.entries(DEADLINE_TESTS).map(async ([code, { how, deadlines, state }]) => {
      const target = unique('target');
      const { command_id } = await api.register({ target, deadlines });
      if (how !== 'left alone') {
        const [lease] = await api.lease(target);
        if (how === 'acknowledged') await api.acknowledge(lease);
      }
      const { error } = await api.reached(command_id, state);
      assert.equal(error.code, code);
      assert.equal(error.may_have_executed, how !== 'left alone');
    });
    await Promise.all(ends);
  });

  test('by what its worker reports', TIMEOUT, async () => {
    const failed = await leased();
    await api.complete(failed, { error: { code: '', message: 'x'.repeat(5000) } });
    const { error } = await api.get(failed.command.command_id);
    assert.equal(error.code, 'execution_failed');
    assert.equal(error.message.length, 4096);

    const overdue = await leased();
    const { state } = await api.complete(overdue, { timeout: { code: 'slow', message: 'Late.' } });
    assert.equal(stateOf({ state }), 'TIMED_OUT');
    assert.equal((await api.get(overdue.command.command_id)).error.code, 'execution_timeout');
  });
});

describe('ReplayCommand', () => {
  test('registers a dead letter anew', TIMEOUT, async () => {
    const lease = await leased({ params: Buffer.from('{"n":1}'), priority: 3, idempotent: true });
    const { command_id, target } = lease.command;
    await api.complete(lease, { error: { code: 'broken' } });
    const request_id = unique('replay');
    const { command, existed } = await api.call('ReplayCommand', { command_id, request_id });
    assert.equal(existed, false);
    assert.notEqual(command.command_id, command_id);
    assert.equal(command.replay_of, command_id);
    assert.equal(command.priority, 3);
    assert.equal(command.idempotent, true);
    const again = await api.call('ReplayCommand', { command_id, request_id });
    assert.deepEqual([again.existed, again.command.command_id], [true, command.command_id]);
    const [second] = await api.lease(target);
    assert.equal(second.command.params.toString(), '{"n":1}');
    assert.equal(second.command.command_id, command.command_id);
  });

  test('refuses what is no dead letter', TIMEOUT, async () => {
    const refused = refusal('FAILED_PRECONDITION', 'not_a_dead_letter');
    const replay = (command_id) => api.call('ReplayCommand', { command_id });
    const { command_id: queued } = await api.register({ target: unique('target') });
    await assert.rejects(replay(queued), refused);
    await api.call('CancelCommand', { command_id: queued });
    await assert.rejects(replay(queued), refused);
    const lease = await leased();
    await api.complete(lease);
    await assert.rejects(replay(lease.command.command_id), refused);
  });
});

describe('the reports of a worker', () => {
  const wrongLease = refusal('PERMISSION_DENIED', 'wrong_lease');

  test('have to quote the lease', TIMEOUT, async () => {
    const lease = await leased();
    const wrong = [
      { ...lease, lease_token: 'made up' },
      { ...lease, lease_token: (await leased()).lease_token },
      { ...lease, command: { ...lease.command, attempt: 2 } },
    ];
    for (const report of wrong) {
      await assert.rejects(api.acknowledge(report), wrongLease);
      await assert.rejects(api.complete(report), wrongLease);
    }
    const unknown = { ...lease, command: { command_id: UNKNOWN_ID } };
    await assert.rejects(api.acknowledge(unknown), refusal('NOT_FOUND', 'unknown_command'));
    await assert.rejects(api.complete(unknown), refusal('NOT_FOUND', 'unknown_command'));
    await assert.rejects(
      api.call('CompleteCommand', proofOf(lease)),
      refusal('INVALID_ARGUMENT', 'invalid_argument', { message: /outcome/ }));
    const context = Buffer.alloc((8 << 10) + 1);
    await assert.rejects(
      api.acknowledge(lease, { context }),
      refusal('INVALID_ARGUMENT', 'invalid_argument', { message: /context/ }));
    assert.equal((await api.complete(lease)).accepted, true);
  });

  test('may come without a token where the delivery was asked for so', TIMEOUT, async () => {
    const target = unique('target');
    const { command_id } = await api.register({ target });
    const report = { command: { command_id }, lease_token: '' };
    await assert.rejects(api.complete(report), wrongLease);
    await api.lease(target, '', { without_proof: true });
    assert.equal((await api.complete(report)).accepted, true);
    const other = await api.register({ target });
    await api.lease(target);
    const unproven = { command: { command_id: other.command_id }, lease_token: '' };
    await assert.rejects(api.complete(unproven), wrongLease);
  });

  test('may be repeated', TIMEOUT, async () => {
    const lease = await leased();
    assert.equal((await api.complete(lease)).accepted, true);
    const again = await api.complete(lease);
    assert.deepEqual([again.accepted, stateOf(again)], [false, 'COMPLETED']);
    assert.equal(stateOf(await api.acknowledge(lease)), 'COMPLETED');
  });

  test('are kept when they come late', TIMEOUT, async () => {
    const lease = await leased();
    const { command_id } = lease.command;
    await api.call('CancelCommand', { command_id });
    const heartbeat = await api.acknowledge(lease);
    assert.deepEqual([heartbeat.cancel_requested, stateOf(heartbeat)], [true, 'CANCELLED']);
    const late = await api.complete(lease, { result: Buffer.from('"late"') });
    assert.deepEqual([late.accepted, stateOf(late)], [false, 'CANCELLED']);
    const command = await api.get(command_id);
    assert.equal(command.late_result.toString(), '"late"');
    assert.equal(command.trace.at(-1).stage, 'late_result');
  });

  test('count also from a delivery before the last one', TIMEOUT, async () => {
    const target = unique('target');
    const deadlines = { ack_wait: { seconds: 1 } };
    const { command_id } = await api.register({ target, deadlines, idempotent: true });
    const [first] = await api.lease(target, 'first');
    const [second] = await api.lease(target, 'second', { max_wait: { seconds: 10 } });
    assert.equal(second.command.command_id, command_id);
    assert.deepEqual([first.command.attempt, second.command.attempt], [1, 2]);
    assert.notEqual(first.lease_token, second.lease_token);
    const mixed = { ...first, command: second.command };
    await assert.rejects(api.complete(mixed), wrongLease);
    assert.equal((await api.complete(first)).accepted, true);
    assert.equal((await api.complete(second)).accepted, false);
    const stages = (await api.get(command_id)).trace.map(({ stage }) => stage);
    assert.deepEqual(stages, ['queued', 'sent', 'returned', 'sent', 'resolved']);
  });
});

test('a person finishes a command that no worker can lease', TIMEOUT, async () => {
  const target = unique('target');
  const { command_id } = await api.register({ target, command_class: 'COMMAND_CLASS_HUMAN' });
  assert.match(command_id, /^ann_\d+_[0-9a-f]{32}$/);
  assert.deepEqual(await api.lease(target), []);
  const report = { command: { command_id }, lease_token: '' };
  assert.equal(stateOf(await api.acknowledge(report)), 'RUNNING');
  assert.equal((await api.complete(report)).accepted, true);
});

describe('the standard services', () => {
  const SERVICE = 'callslip.tracker.v1.CommandService';

  test('health', TIMEOUT, async () => {
    const check = (service) => api.call('Check', { service }, api.health);
    assert.deepEqual(await check(''), { status: 'SERVING' });
    assert.deepEqual(await check(SERVICE), { status: 'SERVING' });
    await assert.rejects(check('no.such.Service'), { details: /no\.such\.Service/, code: 5 });
    const watch = new Messages(api.health.Watch({ service: 'no.such.Service' }));
    assert.deepEqual(await watch.next(), { status: 'SERVICE_UNKNOWN' });
    await watch.cancel();
  });

  test('reflection', TIMEOUT, async () => {
    const answers = new Messages(api.reflection.ServerReflectionInfo());
    const ask = (request) => {
      answers.stream.write(request);
      return answers.next();
    };
    const { list_services_response: list } = await ask({ list_services: '' });
    const names = list.service.map(({ name }) => name);
    for (const name of [SERVICE, 'grpc.health.v1.Health']) assert.ok(names.includes(name), name);

    const symbol = `${SERVICE}.WatchCommands`;
    const { file_descriptor_response: found } = await ask({ file_containing_symbol: symbol });
    const files = found.file_descriptor_proto;
    assert.ok(files[0].includes('callslip/tracker/v1/command_service.proto'));
    assert.ok(files.some((file) => file.includes('callslip/tracker/v1/command.proto')));

    const { error_response: error } = await ask({ file_containing_symbol: 'no.such.Symbol' });
    assert.equal(error.error_code, 5);
    answers.stream.end();
    await answers.end();
  });
});
