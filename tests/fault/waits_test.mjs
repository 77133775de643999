/**
 * A tracker is stopped, killed or frozen under many waits of each kind, over HTTP and over bridges,
 * and is back 17 s later: longer than the interval in which each wait is renewed. However the
 * tracker ended, each wait ends with its right answer, and the three faults give the same answers.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Watcher } from '../e2e/support/watcher.js';
import { stretched } from '../support/patience.js';
import { BridgeCaller, HttpCaller } from './support/callers.js';
import { Fleet } from './support/fleet.js';

const AWAY_MS = 17_000;
/**
 * The number of waits of each kind over HTTP and over bridges; those over bridges share a few
 * bridges.
 */
const MANY = 30;
const FEW = 10;
const BRIDGES = 3;
const TASKS_OF_SUBSCRIPTION = 3;
const SOCKETS = 20;
/** A wait that ends while the tracker is down, and one that does not, in ms. */
const SHORT_MS = 6_000;
const LONG_MS = 30_000;
/** No worker takes the commands before the end, and the queue of a target holds a hundred. */
const TRACKER = ['--schedule-to-start', '2m'];
const TARGETS = ['one', 'two', 'three', 'four', 'five'];

/** The faults of the tracker; each returns a function for its return. */
const WAYS = {
  stopped: async (fleet) => {
    fleet.tracker.child.kill('SIGTERM');
    await fleet.tracker.exited;
    return () => fleet.startTracker();
  },
  killed: async (fleet) => {
    await fleet.tracker.kill();
    return () => fleet.startTracker();
  },
  frozen: async (fleet) => {
    await fleet.tracker.freeze();
    return () => fleet.tracker.thaw();
  },
};

/** The expected answers of all three: all outcomes, and their numbers. */
const EXPECTED = Object.fromEntries(['http', 'bridge'].flatMap((way) => [
  [`${way} tasks/result`, { complete: MANY }],
  [`${way} subscription`, { complete: FEW * TASKS_OF_SUBSCRIPTION }],
  [`${way} session wait`, { complete: FEW }],
  [`${way} observe`, { complete: MANY }],
  [`${way} observe with progress`, { complete: FEW }],
  [`${way} observe that is over`, { 'pending tracker_unreachable not final': MANY }],
]).concat([['socket', { 'its event': SOCKETS }]]));

class Scene {
  told = {};
  #fleet;
  #http;
  #bridges;
  #next = 0;
  #sessions = 0;
  #all = [];

  static async open(fleet) {
    const scene = new Scene();
    scene.#fleet = fleet;
    scene.#http = await HttpCaller.open(fleet.gatewayUrl(0));
    scene.#bridges = await Promise.all(
      Array.from({ length: BRIDGES }, () => BridgeCaller.open(fleet.gatewayUrl(0))));
    return scene;
  }

  /** Begins waits of all kinds, the shortest last; resolves once the tracker has them. */
  async begin() {
    const callers = { http: () => this.#http, bridge: (i) => this.#bridges[i % BRIDGES] };
    const each = async (count, begin) => {
      for (const [way, callerOf] of Object.entries(callers)) {
        await Promise.all(Array.from({ length: count }, (_, i) => begin(callerOf(i), way)));
      }
    };
    const commands = (count) => Promise.all(Array.from({ length: count }, () => this.#newCommand()));
    const sessions = (count) => Promise.all(Array.from({ length: count }, () => this.#newSession()));
    const observe = (kind, ids, wait_ms, params = {}) => (caller, way) => {
      const args = { what: 'command_result', correlation_id: ids.pop(), wait_ms };
      this.#await(`${way} ${kind}`,
        caller.request('tools/call', { name: 'observe', arguments: args, ...params }));
    };
    const [tasks, followed, long, told, short] = await Promise.all(
      [2 * MANY, 2 * FEW * TASKS_OF_SUBSCRIPTION, 2 * MANY, 2 * FEW, 2 * MANY].map(commands));
    const [watched, waited] = await Promise.all([SOCKETS, 2 * FEW].map(sessions));

    this.sockets = await Promise.all(watched.map(async (id) => {
      const socket = await Watcher.open(
        `ws://${this.#fleet.gateways[0].address}/api/sessions/${id}/ws`);
      await socket.ofType('connected');
      return { id, socket };
    }));
    await each(MANY, (caller, way) => {
      this.#await(`${way} tasks/result`, caller.request('tasks/result', { taskId: tasks.pop() }));
    });
    await each(FEW, async (caller, way) => {
      const ids = followed.splice(0, TASKS_OF_SUBSCRIPTION);
      const subscription = caller.listen(ids);
      this.#all.push(this.#follow(`${way} subscription`, subscription, ids));
      await subscription.acknowledged;
    });
    await each(FEW, (caller, way) => {
      const args = { what: 'wait', session_id: waited.pop(), wait_ms: LONG_MS };
      this.#await(`${way} session wait`,
        caller.request('tools/call', { name: 'session', arguments: args }));
    });
    await each(MANY, observe('observe', long, LONG_MS));
    await each(FEW, observe('observe with progress', told, LONG_MS,
      { _meta: { progressToken: 'p' } }));
    await each(MANY, observe('observe that is over', short, SHORT_MS));
    const waits = 2 * (3 * MANY + FEW + FEW * TASKS_OF_SUBSCRIPTION);
    while (await this.#metric('callslip_waits') < waits) await pause(20);
  }

  /** Ends everything that has a wait. */
  async end() {
    await Promise.all(TARGETS.map((target) => this.#completeAll(target)));
    for (let i = 1; i <= this.#sessions; ++i) {
      await this.#api('DELETE', `/sessions/s-${i}/queue`);
    }
    this.#all.push(...this.sockets.map(async ({ id, socket }) => {
      const { last_seq: last } = await this.#api('POST', `/sessions/${id}/events`, {
        events: [{ type: 'agent_message', data: { text: 'back' } }] });
      await socket.withSeq(last);
      // Once, and on the original connection.
      const isTold = socket.seqs().filter((seq) => seq === last).length === 1;
      this.#note('socket', isTold && socket.socket.readyState === 1 ? 'its event' : 'something else');
    }));
    await Promise.all(this.#all);
  }

  async close() {
    this.#http.close();
    for (const { socket } of this.sockets ?? []) socket.socket.terminate();
    await Promise.all(this.#bridges.map((bridge) => bridge.close()));
  }

  #note(kind, what) {
    this.told[kind] ??= {};
    this.told[kind][what] = (this.told[kind][what] ?? 0) + 1;
  }

  #await(kind, answer) {
    this.#all.push(answer.then(({ result, error }) => {
      const content = result?.structuredContent ?? error?.data ?? {};
      const words = [content.status, content.error, content.reason,
        content.error && (content.final ? 'final' : 'not final')];
      this.#note(kind, words.filter(Boolean).join(' '));
    }, (failure) => this.#note(kind, `broke: ${failure.message}`)));
  }

  async #follow(kind, subscription, ids) {
    while (subscription.over === null && ids.some((id) => !subscription.ends.has(id))) await pause(20);
    for (const id of ids) {
      const told = subscription.ends.get(id) ?? [subscription.over];
      for (const end of told) this.#note(kind, end);
    }
  }

  async #newCommand() {
    const target = TARGETS[this.#next++ % TARGETS.length];
    const { result } = await this.#http.request('tools/call', {
      name: 'interact', arguments: { action: 'get_page', target } });
    const id = result.structuredContent.correlation_id;
    assert.ok(id, JSON.stringify(result));
    return id;
  }

  /** A session whose queue has a message that no runner takes. */
  async #newSession() {
    const id = `s-${++this.#sessions}`;
    await this.#api('POST', '/sessions', { session_id: id, acp_server: 'test', working_dir: '/' });
    await this.#api('POST', `/sessions/${id}/queue`, { message: 'wait' });
    return id;
  }

  async #completeAll(target) {
    for (;;) {
      const queries = await this.#ask('GET', `/pending-queries?target=${target}&worker=w-${target}`);
      if (queries.length === 0) return;
      for (const { id, correlation_id } of queries) {
        await this.#ask('POST', '/query-result', { id, correlation_id, status: 'complete', result: 1 });
      }
    }
  }

  #api(method, path, body) {
    return this.#ask(method, `/api${path}`, body);
  }

  /** Repeats the call until the gateway has reconnected to the tracker. */
  async #ask(method, path, body) {
    for (;;) {
      const response = await fetch(`${this.#fleet.gatewayUrl(0)}${path}`, {
        method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
      const text = await response.text();
      if (response.ok) return text === '' ? undefined : JSON.parse(text);
      if (response.status !== 503) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    }
  }

  async #metric(name) {
    const text = await (await fetch(`${this.#fleet.gatewayUrl(0)}/metrics`)).text();
    return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
  }
}

describe('many waits', { concurrency: true, timeout: stretched(100_000) }, () => {
  for (const [way, go] of Object.entries(WAYS)) {
    it(`end correctly when the tracker is ${way}`, async (context) => {
      const fleet = await Fleet.start({ trackerOptions: TRACKER });
      context.after(() => fleet.stop());
      const scene = await Scene.open(fleet);
      context.after(() => scene.close());
      await scene.begin();
      const comeBack = await go(fleet);
      await pause(AWAY_MS);
      await comeBack();
      await scene.end();
      assert.deepEqual(scene.told, EXPECTED);
    });
  }
});
