/** Waiting over the wire, with gRPC for Node: WaitForCommand and WatchCommands. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { TrackerApi, refusal, startTracker, stateOf, unique } from './support/tracker_api.js';

const TIMEOUT = { timeout: stretched(30_000) };
const UNKNOWN_ID = `corr-1-${'0'.repeat(32)}`;

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

/** Registers a command of a target of its own. */
async function registered(settings = {}) {
  return api.register({ target: unique('target'), ...settings });
}

function cancel(command_id, client_id = '') {
  return api.call('CancelCommand', { command_id, client_id });
}

async function rejectsStream(messages, expected) {
  await assert.rejects(messages.next(), expected);
}

describe('WaitForCommand', () => {
  test('tells each change, and the end', TIMEOUT, async () => {
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

  test('goes on after the last revision seen', TIMEOUT, async () => {
    const { command_id, target } = await registered();
    const first = api.wait({ command_id });
    const { command: seen } = await first.next();
    await first.cancel();

    const second = api.wait({ command_id, after_revision: seen.revision });
    const [lease] = await api.lease(target);
    const { command } = await second.next();
    assert.equal(stateOf(command), 'DELIVERED');
    assert.ok(command.revision > seen.revision);
    await api.complete(lease);
    assert.equal(stateOf((await second.next()).command), 'COMPLETED');
    await second.end();

    // The end is told to whoever asks.
    const late = api.wait({ command_id, after_revision: 1000 });
    assert.equal(stateOf((await late.next()).command), 'COMPLETED');
    await late.end();
  });

  test('ends with OK when its time is over', TIMEOUT, async () => {
    const { command_id, revision } = await registered();
    const wait = api.wait({ command_id, after_revision: revision, max_wait: { nanos: 50e6 } });
    await wait.end();
  });

  test('refuses as GetCommand does', TIMEOUT, async () => {
    const { command_id } = await registered();
    const unknown = refusal('NOT_FOUND', 'unknown_command');
    await rejectsStream(api.wait({ command_id: UNKNOWN_ID }), unknown);
    await rejectsStream(api.wait({ command_id, client_id: 'stranger' }), unknown);
    const tooLong = { command_id, max_wait: { seconds: 56 } };
    await rejectsStream(
      api.wait(tooLong), refusal('INVALID_ARGUMENT', 'invalid_argument', { message: /max_wait/ }));
  });
});

describe('WatchCommands', () => {
  test('tells changes of several commands, and ends after the last one', TIMEOUT, async () => {
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

  test('goes on after the last revision seen', TIMEOUT, async () => {
    const { command_id, revision } = await registered();
    const watch = api.watch({ add: [{ watch_id: 1, command_id, after_revision: revision }] });
    watch.write({ add: [{ watch_id: 2, command_id }] });
    assert.deepEqual(await watch.nextInShort(), [2, 'QUEUED', false]);
    await cancel(command_id);
    assert.deepEqual(await watch.nextInShort(), [1, 'CANCELLED', true]);
    assert.deepEqual(await watch.nextInShort(), [2, 'CANCELLED', true]);
    // Now each of them is over, and its id is free.
    watch.write({ add: [{ watch_id: 1, command_id, after_revision: 1000 }] });
    assert.deepEqual(await watch.nextInShort(), [1, 'CANCELLED', true]);
    watch.halfClose();
    await watch.end();
  });

  test('delivers the results with the ends', TIMEOUT, async () => {
    const { command_id, target } = await registered();
    const watch = api.watch({ add: [{ watch_id: 1, command_id, only_end: true }] });
    const [lease] = await api.lease(target);
    await api.complete(lease, { result: Buffer.alloc(3 << 20, '1') });
    const { command } = await watch.nextUpdate();
    assert.equal(command.result.length, 3 << 20);
    await watch.cancel();
  });

  test('ends a watch without news when its time is over', TIMEOUT, async () => {
    const { command_id } = await registered();
    const watch = api.watch();
    watch.write({ add: [{ watch_id: 1, command_id, only_end: true, max_wait: { nanos: 50e6 } }] });
    assert.deepEqual(await watch.nextInShort(), [1, undefined, true]);
    watch.halfClose();
    await watch.end();
  });

  test('lives on after a watch that fails', TIMEOUT, async () => {
    const { command_id } = await registered({ client_id: 'owner' });
    const watch = api.watch();
    const add = async (what) => {
      watch.write({ add: [{ watch_id: 1, ...what }] });
      return watch.nextUpdate();
    };
    const unknown = await add({ command_id: UNKNOWN_ID });
    assert.deepEqual([unknown.error.code, unknown.last], [5, true]);
    assert.equal(unknown.error.reason, 'unknown_command');
    assert.ok(unknown.error.message.includes(UNKNOWN_ID));
    assert.match(unknown.error.hint, /\.$/);
    const stranger = await add({ command_id, client_id: 'stranger' });
    assert.equal(stranger.error.reason, 'unknown_command');

    const invalid = [
      {},
      { command_id, max_wait: { seconds: 25 * 3600 } },
      { filter: {}, max_wait: { seconds: 1 } },
    ];
    for (const what of invalid) {
      const { error, last } = await add({ client_id: 'owner', ...what });
      assert.deepEqual([error?.code, error?.reason, last], [3, 'invalid_argument', true]);
    }
    const fine = await add({ command_id, client_id: 'owner' });
    assert.deepEqual([stateOf(fine.command), fine.last], ['QUEUED', false]);
    await watch.cancel();
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

  test('ends with OK once what is left was removed', TIMEOUT, async () => {
    const { command_id } = await registered();
    const add = [{ watch_id: 1, command_id, only_end: true }, { watch_id: 2, filter: {} }];
    const watch = api.watch({ add });
    watch.write({ remove: [1, 2], add: [{ watch_id: 3, command_id: UNKNOWN_ID }] });
    watch.halfClose();
    let update;
    // What the filter has told before it was removed may still come.
    do {
      update = await watch.nextUpdate();
    } while (update.watch_id === 2);
    assert.equal(update.watch_id, 3);
    await watch.end();
  });

  const broken = {
    'a watch_id that is in use': { add: [{ watch_id: 0, command_id: UNKNOWN_ID }] },
    'too many at once': { remove: Array.from({ length: 1001 }, (_, i) => 1000 + i) },
  };
  for (const [what, request] of Object.entries(broken)) {
    test(`refuses ${what}, and lets go of all watches`, TIMEOUT, async () => {
      const client_id = unique('client');
      await registered({ client_id });
      const invalid = refusal('INVALID_ARGUMENT', 'invalid_argument');
      // As many as a client may have but one: if they stayed, the second stream would be refused.
      const filters = Array.from({ length: 63 }, (_, watch_id) =>
        ({ watch_id, client_id, filter: { label: 'none' } }));
      const first = api.watch({ add: filters });
      first.write(request);
      await rejectsStream(first, invalid);
      const second = api.watch({ add: [...filters, { watch_id: 100, client_id, filter: {} }] });
      assert.deepEqual(await second.nextInShort(), [100, 'QUEUED', false]);
      await second.cancel();
    });
  }

  test('limits the filters of a client', TIMEOUT, async () => {
    const client_id = unique('client');
    const add = Array.from({ length: 65 }, (_, i) => ({ watch_id: i, client_id, filter: {} }));
    const watch = api.watch({ add });
    assert.deepEqual(await watch.nextInShort(), [64, 'too_many_waits', true]);
    await watch.cancel();
  });

  test('tells by a filter what is there and what comes', TIMEOUT, async () => {
    const client_id = unique('client');
    const target = unique('target');
    const settings = { client_id, target, label: 'wanted' };
    const old = await api.register({ ...settings, params: Buffer.from('{"n":1}') });
    await api.register({ ...settings, label: 'other' });
    await api.register({ ...settings, client_id: 'stranger' });
    const watch = api.watch({ add: [{ watch_id: 1, client_id, filter: { label: 'wanted' } }] });
    const snapshot = await watch.nextUpdate();
    assert.equal(snapshot.command.command_id, old.command_id);
    assert.deepEqual([stateOf(snapshot.command), snapshot.last], ['QUEUED', false]);
    assert.equal(snapshot.command.params.length, 0);

    const live = await api.register(settings);
    const registered = await watch.nextUpdate();
    assert.equal(registered.command.command_id, live.command_id);
    await cancel(live.command_id, client_id);
    const ended = await watch.nextUpdate();
    assert.deepEqual([stateOf(ended.command), ended.last], ['CANCELLED', false]);
    assert.equal(ended.command.command_id, live.command_id);
    await watch.cancel();
  });

  test('tells by a filter of states when commands enter them', TIMEOUT, async () => {
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

  test('delivers hundreds of ends that come at once', TIMEOUT, async () => {
    const target = unique('target');
    const commands = [];
    for (let i = 0; i < 5; ++i) {
      const client_id = unique('client');
      const hundred = Array.from({ length: 100 }, () => api.register({ target, client_id }));
      commands.push(...(await Promise.all(hundred)));
    }
    const watch = api.watch({
      add: commands.map(({ command_id, client_id }, watch_id) =>
        ({ watch_id, client_id, command_id, only_end: true })),
    });
    watch.halfClose();
    const workers = Array.from({ length: 100 }, () => unique('worker'));
    const leases = await Promise.all(workers.map((worker) => api.lease(target, worker)));
    await Promise.all(leases.flat().map((lease) => {
      const result = Buffer.from(JSON.stringify(lease.command.command_id));
      return api.complete(lease, { result });
    }));
    const missing = new Set(commands.keys());
    while (missing.size > 0) {
      const { watch_id, command, last } = await watch.nextUpdate();
      assert.equal(JSON.parse(command.result), commands[watch_id].command_id);
      assert.ok(last && missing.delete(watch_id));
    }
    await watch.end();
  });

  describe('read slowly', () => {
    const CHANGES = 100;

    /**
     * A stream that is stuck: changes of a command, watched as 0, are more than fit on the way, and
     * nobody reads them. All later updates wait in the tracker.
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

    test('merges changes, and never loses the end', TIMEOUT, async () => {
      const { watch, lease } = await stuck();
      await api.complete(lease);
      const revisions = [];
      let update;
      do {
        update = await watch.nextUpdate();
        revisions.push(update.command.revision);
      } while (!update.last);
      assert.equal(stateOf(update.command), 'COMPLETED');
      assert.ok(revisions.length < CHANGES, `${revisions.length} changes were kept`);
      assert.deepEqual(revisions, [...new Set(revisions)].sort((a, b) => a - b));
      await watch.cancel();
    });

    test('can use a watch_id again while its last update waits', TIMEOUT, async () => {
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
      // An update of the first one may still come, by the contract. The second one must end once.
      const ended = [];
      while (ended.length < 2) {
        const { watch_id, command, last } = await watch.nextUpdate();
        const isStale = watch_id === 1 && command.command_id === first.command_id;
        if (last && !isStale) ended.push(command.command_id);
      }
      assert.deepEqual(ended.sort(), [lease.command.command_id, second.command_id].sort());
      await watch.end();
    });
  });
});
