/**
 * The tracker's API over the wire, with gRPC for Node: a client without shared code reads each kind
 * of call, stream, error and trailer as in the contract.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  Messages, TrackerApi, refusal, startTracker, stateOf, unique,
} from './support/tracker_api.js';
import { stretched } from '../support/patience.js';

const TIMEOUT = { timeout: stretched(30_000) };
const UNKNOWN_ID = `corr-1-${'0'.repeat(32)}`;

let tracker;
let api;

before(async () => {
  // The tracker does not wait for reports about commands that tests leave behind.
  tracker = await startTracker(['--drain-grace', '0s']);
  api = new TrackerApi(tracker.address);
});

after(async () => {
  api?.close();
  await tracker?.stop();
});

/** Registers a command of a target of its own. */
async function registered(settings = {}) {
  return api.register({ target: unique('target'), ...settings });
}

/** Registers and leases a command; returns the lease. */
async function leased(settings = {}) {
  const { target } = await registered(settings);
  const [lease] = await api.lease(target);
  return lease;
}

function cancel(command_id, client_id = '') {
  return api.call('CancelCommand', { command_id, client_id });
}

test('a command travels from its client to a worker and back', TIMEOUT, async () => {
  const target = unique('target');
  const at = Date.now() + 700;
  const seconds = (count) => ({ seconds: count, nanos: 0 });
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
    not_before: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 },
    deadlines: {
      schedule_to_start: seconds(40),
      ack_wait: { seconds: 4, nanos: 500e6 },
      heartbeat_timeout: seconds(11),
      start_to_close: seconds(20),
      schedule_to_close: seconds(90),
      result_retention: seconds(61),
    },
  };
  const { command, existed } = await api.call('RegisterCommand', request);
  assert.equal(existed, false);
  assert.match(command.command_id, /^corr-\d+-[0-9a-f]{32}$/);
  assert.equal(stateOf(command), 'QUEUED');
  assert.equal(command.params.length, 0);
  const { params, ...told } = request;
  for (const name of Object.keys(told)) assert.deepEqual(command[name], request[name], name);

  const [lease] = await api.lease(target, 'worker', { max_wait: { seconds: 10 } });
  assert.equal(lease.command.params.toString(), params.toString());
  assert.equal(lease.command.attempt, 1);
  assert.equal(lease.start_to_close.seconds, 20);
  const { deliver_time: delivered, not_before: promised } = lease.command;
  const lateBy = (delivered.seconds - promised.seconds) * 1e9 + delivered.nanos - promised.nanos;
  assert.ok(lateBy >= 0, `${-lateBy} ns too early`);

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

test('an 8 MiB result is accepted, a larger one is refused', TIMEOUT, async () => {
  const lease = await leased();
  const tooLarge = { result: Buffer.alloc((8 << 20) + 1, '1') };
  await assert.rejects(
    api.complete(lease, tooLarge), refusal('INVALID_ARGUMENT', 'result_too_large'));
  assert.equal((await api.complete(lease, { result: Buffer.alloc(8 << 20, '1') })).accepted, true);
  const { result } = await api.get(lease.command.command_id);
  assert.equal(result.length, 8 << 20);
});

test('a worker reports an error or a timeout', TIMEOUT, async () => {
  const failed = await leased();
  await api.complete(failed, { error: { code: 'broken', message: 'No.' } });
  const { error } = await api.get(failed.command.command_id);
  assert.deepEqual([error.code, error.message, error.may_have_executed], ['broken', 'No.', true]);
  const overdue = await api.complete(await leased(), { timeout: { message: 'Late.' } });
  assert.equal(stateOf(overdue), 'TIMED_OUT');
});

test('an invalid argument is refused, and the error names it', TIMEOUT, async () => {
  const { command_id } = await registered();
  const { command, lease_token } = await leased();
  const wrong = {
    ListCommands: [{ dead_letters: true, states: ['COMMAND_STATE_FAILED'] }, /dead_letters/],
    LeaseCommands: [{ max_wait: { seconds: 31 } }, /max_wait/],
    CompleteCommand: [{ command_id: command.command_id, lease_token }, /outcome/],
  };
  const refused = (message) => refusal('INVALID_ARGUMENT', 'invalid_argument', { message });
  for (const [method, [request, message]] of Object.entries(wrong)) {
    await assert.rejects(api.call(method, request), refused(message));
  }
  const wait = api.wait({ command_id, max_wait: { seconds: 56 } });
  await assert.rejects(wait.next(), refused(/max_wait/));
  // On a stream of watches each watch has an error of its own, and the stream stays open.
  const watch = api.watch();
  for (const what of [{}, { filter: {}, max_wait: { seconds: 1 } }]) {
    watch.write({ add: [{ watch_id: 1, ...what }] });
    const { error, last } = await watch.nextUpdate();
    assert.deepEqual([error?.code, error?.reason, last], [3, 'invalid_argument', true]);
  }
  watch.write({ add: [{ watch_id: 1, command_id }] });
  assert.deepEqual(await watch.nextInShort(), [1, 'QUEUED', false]);
  await watch.cancel();
});

test('a full queue reports its depth', TIMEOUT, async () => {
  const target = unique('target');
  await Promise.all(Array.from({ length: 100 }, () => api.register({ target })));
  await assert.rejects(api.register({ target }),
    refusal('RESOURCE_EXHAUSTED', 'queue_full', { retryAfterMs: '1000', depth: '100' }));
});

test('a drawing completes the requests that wait for it, and wakes callers', TIMEOUT, async () => {
  const ask = async (settings) =>
    (await api.call('RequestAnnotations', settings, api.annotations)).command;
  const draw = (drawing, content, command_ids = []) => {
    const request = { drawing: { ...drawing, content: Buffer.from(content) }, command_ids };
    return api.call('AppendAnnotations', request, api.annotations);
  };
  const target = unique('target');
  const one = await ask({ target, tab_id: 7, client_id: 'one' });
  const two = await ask({ target, client_id: 'two' });
  const other = await ask({ target, tab_id: 8 });
  assert.match(one.command_id, /^ann_\d+_[0-9a-f]{32}$/);
  assert.equal(stateOf(one), 'QUEUED');

  const waiting = api.reached(one.command_id, 'COMPLETED', 'one');
  const appended = await draw({ target, tab_id: 7 }, '{"annotations":[]}');
  assert.deepEqual(appended, {
    completed_command_ids: [one.command_id, two.command_id], stored: true,
  });
  assert.equal((await waiting).result.toString(), '{"annotations":[]}');
  assert.equal(stateOf(await api.get(other.command_id)), 'QUEUED');
  const named = await draw({ target, tab_id: 9 }, '{"annotations":[],"n":1}', [other.command_id]);
  assert.deepEqual(named.completed_command_ids, [other.command_id]);
});

test('WaitForCommand reports each change and the end', TIMEOUT, async () => {
  const { command_id, target, revision } = await registered();
  const wait = api.wait({ command_id });
  const states = [];
  const nextState = async () => states.push(stateOf((await wait.next()).command));
  await nextState();
  const [lease] = await api.lease(target);
  await nextState();
  await api.acknowledge(lease);
  await nextState();
  await api.complete(lease);
  await nextState();
  await wait.end();
  assert.deepEqual(states, ['QUEUED', 'DELIVERED', 'RUNNING', 'COMPLETED']);
  assert.ok((await api.get(command_id)).revision >= revision + 3);
});

describe('WatchCommands', () => {
  test('reports changes of several commands, and ends after the last one', TIMEOUT, async () => {
    const [first, second] = [await registered(), await registered()];
    const watch = api.watch({ add: [{ watch_id: 1, command_id: first.command_id }] });
    assert.deepEqual(await watch.nextInShort(), [1, 'QUEUED', false]);
    watch.write({ add: [{ watch_id: -2, command_id: second.command_id, only_end: true }] });
    const [lease] = await api.lease(first.target);
    assert.deepEqual(await watch.nextInShort(), [1, 'DELIVERED', false]);
    await api.complete(lease);
    assert.deepEqual(await watch.nextInShort(), [1, 'COMPLETED', true]);
    watch.halfClose();
    await cancel(second.command_id);
    assert.deepEqual(await watch.nextInShort(), [-2, 'CANCELLED', true]);
    await watch.end();
  });

  test('removes watches before it adds others', TIMEOUT, async () => {
    const [first, second] = [await registered(), await registered()];
    const watch = api.watch({ add: [{ watch_id: 1, command_id: first.command_id }] });
    assert.deepEqual(await watch.nextInShort(), [1, 'QUEUED', false]);
    watch.write({ remove: [1, 99], add: [{ watch_id: 1, command_id: second.command_id }] });
    assert.deepEqual(await watch.nextInShort(), [1, 'QUEUED', false]);
    await cancel(first.command_id);
    await cancel(second.command_id);
    const { command, last } = await watch.nextUpdate();
    assert.deepEqual([command.command_id, last], [second.command_id, true]);
    watch.halfClose();
    await watch.end();
  });

  test('ends with OK once the remaining watches are removed', TIMEOUT, async () => {
    const { command_id } = await registered();
    const add = [{ watch_id: 1, command_id, only_end: true }, { watch_id: 2, filter: {} }];
    const watch = api.watch({ add });
    watch.write({ remove: [1, 2], add: [{ watch_id: 3, command_id: UNKNOWN_ID }] });
    watch.halfClose();
    let update;
    // Updates from the filter before its removal may still arrive.
    do {
      update = await watch.nextUpdate();
    } while (update.watch_id === 2);
    assert.equal(update.watch_id, 3);
    await watch.end();
  });

  const broken = {
    'a watch_id in use': { add: [{ watch_id: 0, command_id: UNKNOWN_ID }] },
    'too many removals at once': { remove: Array.from({ length: 1001 }, (_, i) => 1000 + i) },
  };
  for (const [what, request] of Object.entries(broken)) {
    test(`refuses ${what}, and releases all watches`, TIMEOUT, async () => {
      const client_id = unique('client');
      await registered({ client_id });
      const invalid = refusal('INVALID_ARGUMENT', 'invalid_argument');
      // One filter less than a client may have: if they stayed, the second stream would be refused.
      const filters = Array.from({ length: 63 }, (_, watch_id) =>
        ({ watch_id, client_id, filter: { label: 'none' } }));
      const first = api.watch({ add: filters });
      first.write(request);
      await assert.rejects(first.next(), invalid);
      const second = api.watch({ add: [...filters, { watch_id: 100, client_id, filter: {} }] });
      assert.deepEqual(await second.nextInShort(), [100, 'QUEUED', false]);
      second.write({ add: [{ watch_id: 101, client_id, filter: {} }] });
      assert.deepEqual(await second.nextInShort(), [101, 'too_many_waits', true]);
      await second.cancel();
    });
  }

  test('reports when a command enters a state of the filter', TIMEOUT, async () => {
    const client_id = unique('client');
    const { command_id, target } = await registered({ client_id });
    const filter = { states: ['COMMAND_STATE_COMPLETED', 'COMMAND_STATE_FAILED'], target };
    const watch = api.watch({ add: [{ watch_id: 1, client_id, filter }] });
    watch.write({ add: [{ watch_id: 2, client_id, command_id }] });
    assert.deepEqual(await watch.nextInShort(), [2, 'QUEUED', false]);
    const [lease] = await api.lease(target);
    assert.deepEqual(await watch.nextInShort(), [2, 'DELIVERED', false]);
    await api.complete(lease);
    const updates = [await watch.nextInShort(), await watch.nextInShort()];
    assert.deepEqual(updates.sort(), [[1, 'COMPLETED', false], [2, 'COMPLETED', true]]);
    await watch.cancel();
  });

  const CHANGES = 100;

  /**
   * A stuck stream: the changes of a command, watched as 0, are more than the transport buffers,
   * and the client does not read. All later updates wait in the tracker.
   */
  async function stuck() {
    const { command_id, target } = await registered();
    const [lease] = await api.lease(target);
    const watch = api.watch({ add: [{ watch_id: 0, command_id }] });
    assert.deepEqual(await watch.nextInShort(), [0, 'DELIVERED', false]);
    for (let i = 0; i < CHANGES; ++i) {
      const context = Buffer.from(JSON.stringify({ i, filler: 'x'.repeat(8_000) }));
      await api.acknowledge(lease, { context });
    }
    return { watch, lease };
  }

  test('merges changes for slow readers and frees ids with pending updates', TIMEOUT, async () => {
    const [first, second] = [await registered(), await registered()];
    const { watch, lease } = await stuck();
    const only_end = true;
    watch.write({ add: [{ watch_id: 1, command_id: first.command_id, only_end }] });
    await cancel(first.command_id);
    watch.write({
      remove: [1],
      add: [{ watch_id: 1, command_id: second.command_id, only_end }],
    });
    watch.halfClose();
    await cancel(second.command_id);
    await api.complete(lease);
    // By the contract, an update of the first command may still arrive. The second one must end
    // once.
    const ended = [];
    const revisions = [];
    while (ended.length < 2) {
      const { watch_id, command, last } = await watch.nextUpdate();
      if (watch_id === 0) revisions.push(command.revision);
      const isStale = watch_id === 1 && command.command_id === first.command_id;
      if (last && !isStale) ended.push(command.command_id);
    }
    assert.deepEqual(ended.sort(), [lease.command.command_id, second.command_id].sort());
    assert.ok(revisions.length < CHANGES, `${revisions.length} changes were kept`);
    assert.deepEqual(revisions, [...new Set(revisions)].sort((a, b) => a - b));
    await watch.end();
  });
});

describe('StreamCommands', () => {
  /** Registers commands of these types one after another. */
  async function register(target, types, settings = {}) {
    const commands = [];
    for (const type of types) commands.push(await api.register({ target, type, ...settings }));
    return commands;
  }

  /** The next `count` leases of a stream without other messages in between. */
  async function nextLeases(stream, count) {
    const taken = [];
    while (taken.length < count) {
      const { leases, ended_command_ids } = await stream.next();
      assert.deepEqual(ended_command_ids, []);
      taken.push(...leases);
    }
    assert.equal(taken.length, count);
    return taken;
  }

  test('pushes existing and new commands', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a', 'b']);
    const stream = api.stream(target, 'worker');
    const leases = await nextLeases(stream, 2);
    await register(target, ['c']);
    leases.push(...(await nextLeases(stream, 1)));
    assert.deepEqual(leases.map(({ command }) => command.type), ['a', 'b', 'c']);
    assert.equal(leases[0].command.attempt, 1);
    assert.equal(leases[0].start_to_close.seconds, 10);
    for (const lease of leases) assert.equal((await api.complete(lease)).accepted, true);
    await stream.cancel();
  });

  test('returns unsent commands to the queue when the caller disconnects', TIMEOUT, async () => {
    const target = unique('target');
    const stream = api.stream(target, 'worker');
    await register(target, ['small']);
    await nextLeases(stream, 1);
    // More than gRPC buffers: since the client does not read, the last one is stuck.
    const params = Buffer.from(JSON.stringify('x'.repeat(1e6)));
    const large = await register(target, ['large', 'large', 'large'], { params });
    for (const { command_id } of large) await api.reached(command_id, 'DELIVERED');
    await stream.cancel();
    let again;
    do {
      [again] = await api.lease(target, 'another', { max_commands: 1, max_wait: { seconds: 20 } });
      assert.equal(again.command.attempt, 1);
      assert.equal((await api.complete(again)).accepted, true);
    } while (again.command.command_id !== large.at(-1).command_id);
  });
});

describe('the shutdown of the tracker', () => {
  const draining = refusal('UNAVAILABLE', 'draining', { retryAfterMs: '5000' });

  /** A tracker of the test's own, which waits for reports longer than the test lasts. */
  async function ownTracker(context) {
    const own = await startTracker(['--drain-grace', '60s']);
    context.after(() => own.kill());
    const client = new TrackerApi(own.address);
    context.after(() => client.close());
    return { own, client };
  }

  /** Sends SIGTERM to the tracker; returns once its shutdown has begun. */
  async function drain({ own, client }) {
    const service = 'callslip.tracker.v1.CommandService';
    const health = new Messages(client.health.Watch({ service }));
    assert.deepEqual(await health.next(), { status: 'SERVING' });
    own.child.kill('SIGTERM');
    assert.deepEqual(await health.next(), { status: 'NOT_SERVING' });
    // The tracker refuses new commands a moment later; each check is a call.
    for (;;) {
      try {
        await client.register({ target: 'elsewhere' });
      } catch (error) {
        return error;
      }
    }
  }

  test('ends streams, refuses work, and waits for reports', TIMEOUT, async (context) => {
    const setting = await ownTracker(context);
    const { own, client } = setting;
    const [held, queued] = [
      await client.register({ target: 't' }), await client.register({ target: 'other' }),
    ];
    const [lease] = await client.lease('t', 'holder');
    await client.acknowledge(lease);
    const stream = client.stream('idle', 'worker');
    const poll = client.lease('idle', 'poller', { max_wait: { seconds: 30 } });
    const wait = client.wait({ command_id: held.command_id, after_revision: 1000 });
    const watch = client.watch({
      add: [
        { watch_id: 1, command_id: held.command_id, only_end: true },
        { watch_id: 2, filter: { label: 'none' } },
        { watch_id: 3, command_id: queued.command_id },
      ],
    });
    assert.deepEqual(await watch.nextInShort(), [3, 'QUEUED', false]);

    assert.ok(draining(await drain(setting)));
    await stream.end();
    await wait.end();
    assert.deepEqual(await poll, []);
    const last = [];
    for (let i = 0; i < 3; ++i) last.push(await watch.nextInShort());
    const over = (watch_id) => [watch_id, undefined, true];
    assert.deepEqual(last.sort(([a], [b]) => a - b), [over(1), over(2), over(3)]);
    await watch.end();

    await assert.rejects(client.lease('other'), draining);
    await assert.rejects(client.stream('other').next(), draining);
    await assert.rejects(client.wait({ command_id: held.command_id }).next(), draining);
    assert.equal(stateOf(await client.get(queued.command_id)), 'QUEUED');
    assert.equal(stateOf(await client.acknowledge(lease)), 'RUNNING');
    // A worker whose connection broke can still reconnect and report its result.
    const again = new TrackerApi(own.address);
    context.after(() => again.close());
    assert.equal((await again.complete(lease)).accepted, true);
    await own.exited;
    assert.equal(own.child.exitCode, 0);
  });

  test('also ends a busy worker stream with OK', TIMEOUT, async (context) => {
    const setting = await ownTracker(context);
    const { own, client } = setting;
    const patient = { ack_wait: { seconds: 25 }, heartbeat_timeout: { seconds: 29 } };
    const deadlines = { ...patient, start_to_close: { seconds: 29 } };
    const stream = client.stream('t', 'worker');
    await client.register({ target: 't', deadlines });
    const leases = [...(await stream.next()).leases];
    // Since the client does not read, the stream is still sending when the shutdown begins.
    const params = Buffer.from(JSON.stringify('x'.repeat(1e6)));
    for (let i = 0; i < 3; ++i) {
      const { command_id } = await client.register({ target: 't', deadlines, params });
      await client.reached(command_id, 'DELIVERED');
    }
    await drain(setting);
    while (leases.length < 4) leases.push(...(await stream.next()).leases);
    await stream.end();
    for (const lease of leases) assert.equal((await client.complete(lease)).accepted, true);
    await own.exited;
    assert.equal(own.child.exitCode, 0);
  });
});
