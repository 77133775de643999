/** Working over the wire, with gRPC for Node: LeaseCommands, StreamCommands, order, shutdown. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  Messages, TrackerApi, refusal, startTracker, stateOf, unique,
} from './support/tracker_api.js';
import { stretched } from '../support/patience.js';

const TIMEOUT = { timeout: stretched(30_000) };

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

/** Registers commands one after another, of these types. */
async function register(target, types, settings = {}) {
  const commands = [];
  for (const type of types) commands.push(await api.register({ target, type, ...settings }));
  return commands;
}

function typesOf(leases) {
  return leases.map(({ command }) => command.type);
}

/** The next `count` leases of a stream, which sends nothing else meanwhile. */
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

function cancel({ command_id, client_id }) {
  return api.call('CancelCommand', { command_id, client_id });
}

async function depthOf(target) {
  const states = ['COMMAND_STATE_QUEUED'];
  return (await api.call('ListCommands', { target, states })).commands.length;
}

describe('LeaseCommands', () => {
  test('answers at once when it shall not wait, with five at most', TIMEOUT, async () => {
    const target = unique('target');
    assert.deepEqual(await api.lease(target), []);
    await register(target, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    assert.deepEqual(typesOf(await api.lease(target, '', { max_commands: 2 })), ['a', 'b']);
    assert.deepEqual(typesOf(await api.lease(target)), ['c', 'd', 'e']);
    assert.deepEqual(await api.lease(target), []);
    assert.deepEqual(typesOf(await api.lease(target, 'another')), ['f', 'g']);
  });

  test('refuses what is out of bounds', TIMEOUT, async () => {
    for (const more of [{ max_commands: 6 }, { max_commands: -1 }, { max_wait: { seconds: 31 } }]) {
      const message = RegExp(Object.keys(more)[0]);
      const refused = refusal('INVALID_ARGUMENT', 'invalid_argument', { message });
      await assert.rejects(api.lease('target', '', more), refused);
    }
  });

  test('wakes for work', TIMEOUT, async () => {
    const target = unique('target');
    const poll = api.lease(target, '', { max_wait: { seconds: 30 } });
    await register(target, ['a']);
    assert.deepEqual(typesOf(await poll), ['a']);
  });

  test('wakes for the end of what the worker holds', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a']);
    const [held] = await api.lease(target);
    const poll = api.call('LeaseCommands', { target, max_wait: { seconds: 30 } });
    await cancel(held.command);
    const { leases, ended_command_ids } = await poll;
    assert.deepEqual([leases, ended_command_ids], [[], [held.command.command_id]]);
    const after = await api.call('LeaseCommands', { target });
    assert.deepEqual(after.ended_command_ids, []);
  });

  test('ends empty when its time is over', TIMEOUT, async () => {
    assert.deepEqual(await api.lease(unique('target'), '', { max_wait: { nanos: 50e6 } }), []);
  });
});

describe('StreamCommands', () => {
  test('pushes what is there and what comes', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a', 'b']);
    const stream = api.stream(target, 'worker');
    const leases = await nextLeases(stream, 2);
    await register(target, ['c']);
    leases.push(...(await nextLeases(stream, 1)));
    assert.deepEqual(typesOf(leases), ['a', 'b', 'c']);
    assert.equal(leases[0].command.attempt, 1);
    assert.equal(leases[0].start_to_close.seconds, 10);
    for (const lease of leases) assert.equal((await api.complete(lease)).accepted, true);
    await stream.cancel();
  });

  test('keeps to the window of five', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    const stream = api.stream(target, 'worker');
    const leases = await nextLeases(stream, 5);
    assert.equal(await depthOf(target), 2);
    await api.complete(leases[3]);
    assert.deepEqual(typesOf(await nextLeases(stream, 1)), ['f']);
    await cancel(leases[0].command);
    // A cancel frees a place as well, and tells of itself.
    const types = [];
    const ended = [];
    while (types.length === 0 || ended.length === 0) {
      const message = await stream.next();
      types.push(...typesOf(message.leases));
      ended.push(...message.ended_command_ids);
    }
    assert.deepEqual([types, ended], [['g'], [leases[0].command.command_id]]);
    await stream.cancel();
  });

  test('keeps to a smaller window, and refuses a larger one', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a', 'b']);
    const stream = api.stream(target, 'worker', 1);
    const [first] = await nextLeases(stream, 1);
    assert.equal(await depthOf(target), 1);
    await api.complete(first);
    assert.deepEqual(typesOf(await nextLeases(stream, 1)), ['b']);
    await stream.cancel();
    await assert.rejects(
      api.stream(target, 'worker', 6).next(), refusal('INVALID_ARGUMENT', 'invalid_argument'));
  });

  test('tells of ends by a cancel, a deadline and another worker', TIMEOUT, async () => {
    const target = unique('target');
    const deadlines = { ack_wait: { nanos: 100e6 } };
    const stream = api.stream(target, 'worker');
    const nextEnded = async () => {
      const { leases, ended_command_ids } = await stream.next();
      assert.deepEqual(leases, []);
      return ended_command_ids;
    };
    await register(target, ['cancelled']);
    const [cancelled] = await nextLeases(stream, 1);
    await cancel(cancelled.command);
    assert.deepEqual(await nextEnded(), [cancelled.command.command_id]);

    await register(target, ['silent'], { deadlines });
    const [silent] = await nextLeases(stream, 1);
    assert.deepEqual(await nextEnded(), [silent.command.command_id]);

    await register(target, ['redelivered'], {
      idempotent: true,
      deadlines: { ack_wait: { seconds: 1 } },
    });
    const [first] = await nextLeases(stream, 1);
    const [second] = await nextLeases(stream, 1);
    assert.equal(second.command.command_id, first.command.command_id);
    await api.complete(first);
    assert.deepEqual(await nextEnded(), [first.command.command_id]);
    await stream.cancel();
  });

  test('gives back what was not sent when the caller leaves', TIMEOUT, async () => {
    const target = unique('target');
    const stream = api.stream(target, 'worker');
    await register(target, ['small']);
    await nextLeases(stream, 1);
    // More than gRPC has room for on the way: as nobody reads, the last one is stuck.
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

  test('goes on in another stream, with what the worker holds in mind', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a', 'b', 'c', 'd', 'e', 'f']);
    const first = api.stream(target, 'worker', 3);
    const held = await nextLeases(first, 3);
    await first.cancel();
    const second = api.stream(target, 'worker', 5);
    assert.deepEqual(typesOf(await nextLeases(second, 2)), ['d', 'e']);
    assert.equal(await depthOf(target), 1);
    await api.complete(held[0]);
    assert.deepEqual(typesOf(await nextLeases(second, 1)), ['f']);
    await cancel(held[1].command);
    assert.deepEqual((await second.next()).ended_command_ids, [held[1].command.command_id]);
    await second.cancel();
  });
});

describe('the order of deliveries', () => {
  test('higher priorities first, older ones first among equals', TIMEOUT, async () => {
    const target = unique('target');
    for (const priority of [0, -1, 5, 0, 100]) {
      await register(target, [`p${priority}`], { priority });
    }
    const leases = await api.lease(target);
    assert.deepEqual(typesOf(leases), ['p100', 'p5', 'p0', 'p0', 'p-1']);
    const [first, second] = leases.slice(2).map(({ command }) => command.command_id);
    const { commands } = await api.call('ListCommands', { target });
    const ids = commands.map(({ command_id }) => command_id);
    assert.ok(ids.indexOf(first) > ids.indexOf(second));
  });

  test('clients take turns', TIMEOUT, async () => {
    const target = unique('target');
    await register(target, ['a1', 'a2', 'a3', 'a4'], { client_id: 'a', priority: 100 });
    await register(target, ['b1', 'b2'], { client_id: 'b', priority: -100 });
    const leases = await api.lease(target);
    assert.deepEqual(typesOf(leases), ['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('one at a time with the same ordering_key', TIMEOUT, async () => {
    const target = unique('target');
    const stream = api.stream(target, 'worker');
    await register(target, ['k1', 'k2', 'k3'], { ordering_key: 'k' });
    await register(target, ['k4'], { ordering_key: 'k', client_id: 'other' });
    await register(target, ['l1'], { ordering_key: 'l' });
    await register(target, ['free']);
    const leases = await nextLeases(stream, 3);
    assert.deepEqual(typesOf(leases), ['k1', 'l1', 'free']);
    // Another worker gets none of them either.
    assert.deepEqual(await api.lease(target, 'another'), []);
    let [k1] = leases;
    const order = [];
    for (let i = 0; i < 3; ++i) {
      await api.acknowledge(k1);
      await (i === 1 ? cancel(k1.command) : api.complete(k1));
      let next = [];
      while (next.length === 0) next = (await stream.next()).leases;
      [k1] = next;
      order.push(...typesOf(next));
    }
    assert.deepEqual(order.filter((type) => type !== 'k4'), ['k2', 'k3']);
    assert.equal(order.length, 3);
    await stream.cancel();
  });

  test('nothing before its time', TIMEOUT, async () => {
    const target = unique('target');
    const stream = api.stream(target, 'worker');
    const at = Date.now() + 700;
    const not_before = { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 };
    await register(target, ['later'], { not_before, priority: 100 });
    await register(target, ['now']);
    const [now, later] = await nextLeases(stream, 2);
    assert.deepEqual(typesOf([now, later]), ['now', 'later']);
    const { deliver_time: delivered, not_before: promised } = later.command;
    assert.deepEqual(promised, not_before);
    const lateBy = (delivered.seconds - promised.seconds) * 1e9 + delivered.nanos - promised.nanos;
    assert.ok(lateBy >= 0, `${-lateBy} ns too early`);
    await stream.cancel();
  });
});

describe('the shutdown of the tracker', () => {
  const draining = refusal('UNAVAILABLE', 'draining', { retryAfterMs: '5000' });

  /** A tracker of its own for the test, that waits longer for reports than the test lasts. */
  async function ownTracker(context) {
    const own = await startTracker(['--drain-grace', '60s']);
    context.after(() => own.kill());
    const client = new TrackerApi(own.address);
    context.after(() => client.close());
    return { own, client };
  }

  /** Asks the tracker to end, and answers once it has begun to. */
  async function drain({ own, client }) {
    const health = new Messages(client.health.Watch({}));
    assert.deepEqual(await health.next(), { status: 'SERVING' });
    own.child.kill('SIGTERM');
    assert.deepEqual(await health.next(), { status: 'NOT_SERVING' });
    // New commands are refused a moment later; each look is a call.
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
    // A worker whose connection broke can still come back with its result.
    const again = new TrackerApi(own.address);
    context.after(() => again.close());
    assert.equal((await again.complete(lease)).accepted, true);
    await own.exited;
    assert.equal(own.child.exitCode, 0);
  });

  test('ends also a worker stream that was busy with OK', TIMEOUT, async (context) => {
    const setting = await ownTracker(context);
    const { own, client } = setting;
    const patient = { ack_wait: { seconds: 25 }, heartbeat_timeout: { seconds: 29 } };
    const deadlines = { ...patient, start_to_close: { seconds: 29 } };
    const stream = client.stream('t', 'worker');
    await client.register({ target: 't', deadlines });
    const leases = [...(await stream.next()).leases];
    // As nobody reads, the stream is still sending when the tracker begins to shut down.
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

  test('watches that come later are refused', TIMEOUT, async (context) => {
    const setting = await ownTracker(context);
    const { command_id } = await setting.client.register({ target: 't' });
    const [lease] = await setting.client.lease('t');
    await drain(setting);
    const watch = setting.client.watch({ add: [{ watch_id: 1, command_id }] });
    // Whether the stream or the watch on it is refused, its caller must learn why.
    const first = await watch.nextUpdate().then(
      ({ error }) => error.reason,
      (error) => error.metadata?.get('callslip-reason')[0],
    );
    assert.equal(first, 'draining');
    await setting.client.complete(lease);
  });
});
