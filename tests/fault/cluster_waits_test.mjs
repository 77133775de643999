/**
 * Many waits of agents, half of them at each gateway, while the serving tracker is killed: each
 * ends with its right answer, once, and soon after the end of its command.
 *   CALLSLIP_CLUSTER_WAITS=5000 node --test tests/fault/cluster_waits_test.mjs
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { range, Sessions } from '../e2e/support/watcher.js';
import { stretched } from '../support/patience.js';
import { HttpCaller } from './support/callers.js';
import { Fleet } from './support/fleet.js';

const WAITS = Number(process.env.CALLSLIP_CLUSTER_WAITS ?? 600);
/** Commands of a client in the queue of a target; commands of a subscription. */
const PER_TARGET = 100;
const PER_SUBSCRIPTION = 100;
/**
 * The share of waits that are held calls; the others are subscriptions to a hundred commands each.
 */
const HELD = 1 / 6;
const READ_ONLY = 50;
/** The number of concurrent calls. */
const AT_A_TIME = 32;

/** Calls `work` for each item, some at a time. */
async function each(items, work) {
  const left = [...items.entries()];
  await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
    for (let next; (next = left.pop()) !== undefined;) await work(next[1], next[0]);
  }));
}

/** Repeats a call while no tracker serves. */
async function insist(call) {
  const until = performance.now() + stretched(60_000);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!/: 503 /.test(String(error)) || performance.now() > until) throw error;
      await pause(50);
    }
  }
}

class Waits {
  /** The ends that each wait received, with their times, by command id. */
  told = new Map();

  constructor(callers) {
    this.callers = callers;
  }

  async begin(ids) {
    const held = ids.slice(0, Math.round(ids.length * HELD));
    held.forEach((id, i) => {
      this.callers[i % this.callers.length].request('tasks/result', { taskId: id }).then(
        ({ result, error }) => this.#note(id, result?.structuredContent?.status ?? error?.message),
        (error) => this.#note(id, error.message));
    });
    for (let at = held.length, i = 0; at < ids.length; at += PER_SUBSCRIPTION, ++i) {
      const some = ids.slice(at, at + PER_SUBSCRIPTION);
      const subscription = this.callers[i % this.callers.length].listen(some);
      const take = subscription.take.bind(subscription);
      subscription.take = (message) => {
        take(message);
        const { taskId: id, status } = message.params ?? {};
        if (message.method === 'notifications/tasks' && status !== 'working') this.#note(id, 'complete');
      };
      await subscription.acknowledged;
    }
  }

  #note(id, what) {
    this.told.set(id, [...this.told.get(id) ?? [], { what, at: performance.now() }]);
  }
}

test('waits end once and correctly when the tracker is killed', { timeout: stretched(120_000 + WAITS * 40) }, async (context) => {
  const fleet = await Fleet.start({ trackers: 3, database: true, gateways: 2,
    trackerOptions: ['--schedule-to-start', '10m'] });
  context.after(() => fleet.stop());
  const api = async () => new TrackerApi(fleet.trackerAddresses[await fleet.owner()], { ownConnection: true });
  const before = await api();
  const targets = Array.from({ length: Math.ceil(WAITS / PER_TARGET) }, (_, i) => `target-${i}`);
  const ids = [];
  await each(Array.from({ length: WAITS }, (_, i) => targets[i % targets.length]), async (target) => {
    ids.push((await before.register({ target })).command_id);
  });
  const callers = await Promise.all(fleet.gatewayUrls().map((url) => HttpCaller.open(url)));
  context.after(() => callers.forEach((caller) => caller.close()));
  const waits = new Waits(callers);
  await waits.begin(ids);
  before.close();

  const owner = await fleet.owner();
  await fleet.trackers[owner].kill();
  const killed = performance.now();
  await fleet.owner();
  const after = await api();
  const ended = new Map();
  await each(targets.flatMap((target) => Array.from({ length: AT_A_TIME }, (_, i) => [target, `${target}-${i}`])),
    async ([target, worker]) => {
      for (;;) {
        const leases = await after.lease(target, worker);
        if (leases.length === 0) return;
        for (const lease of leases) {
          await after.complete(lease);
          ended.set(lease.command.command_id, performance.now());
        }
      }
    });
  const until = performance.now() + stretched(60_000);
  while (waits.told.size < WAITS && performance.now() < until) await pause(50);
  after.close();

  assert.equal(ended.size, WAITS);
  const wrong = ids.filter((id) => waits.told.get(id)?.length !== 1 || waits.told.get(id)[0].what !== 'complete');
  assert.deepEqual(wrong.map((id) => [id, waits.told.get(id)]), []);
  const late = ids.map((id) => waits.told.get(id)[0].at - ended.get(id)).sort((a, b) => a - b);
  context.diagnostic(`${WAITS} waits; ms after their events: median ${Math.round(late[WAITS >> 1])}, `
    + `longest ${Math.round(late.at(-1))}; all ended ${Math.round(performance.now() - killed)} ms after the kill`);
});

test('observers of a session get each event once when the tracker is killed', { timeout: stretched(120_000) }, async (context) => {
  const fleet = await Fleet.start({ trackers: 3, database: true, gateways: 2 });
  context.after(() => fleet.stop());
  const [sessions, elsewhere] = [0, 1].map((i) => new Sessions(
    { gatewayUrl: fleet.gatewayUrl(i), gateway: fleet.gateways[i] }));
  const id = await sessions.create();
  const watchers = await Promise.all(Array.from({ length: READ_ONLY },
    (_, i) => (i % 2 === 0 ? sessions : elsewhere).watch(id)));
  await Promise.all(watchers.map((watcher) => watcher.ofType('connected')));
  const { last_seq: first } = await sessions.append(id, 'first');
  await fleet.trackers[await fleet.owner()].kill();
  let last;
  for (let i = 0; i < 20; ++i) {
    ({ last_seq: last } = await insist(() => sessions.append(id, `event ${i}`)));
  }
  await Promise.all(watchers.map((watcher) => watcher.withSeq(last)));
  // All events, once and in order, on each observer's original connection.
  for (const watcher of watchers) {
    assert.equal(watcher.socket.readyState, 1);
    assert.deepEqual(watcher.seqs(), range(first, last));
    watcher.socket.terminate();
  }
});
