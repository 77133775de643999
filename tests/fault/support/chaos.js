import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';
import { BridgePipe, HttpPipe } from './agent_pipe.js';
import { CLUSTER_FAULTS } from './cluster_faults.js';
import { Fleet, usageOf } from './fleet.js';
import { Ledger } from './ledger.js';
import { Load, TRACKER_CLOCKS } from './load.js';
import { Random } from './random.js';
import { SimulatedWorker } from './simulated_worker.js';

const TARGETS = ['browser', 'worker'];
const WORKERS_PER_TARGET = 2;
/** What is killed, and how often one or the other. */
const KINDS = ['tracker', 'tracker', 'gateway', 'gateway', 'bridge', 'bridge', 'worker'];
/** How many calls are answered between two kills at least, and how soon, in ms. */
const ANSWERS_BETWEEN = 10;
const STANDSTILL_MS = stretched(60_000);
/** What happens to a fleet over a database lasts so long at most, in ms, unless it says otherwise. */
const LONGEST_MS = 6_000;
/** Until the last command has ended there, in ms: the worst of them again and again. */
const CLUSTER_LIFE_MS = stretched(180_000);
/** A tracker lives for this long at least, in ms: gateways take up to 1 s to find it again. */
const TRACKER_PEACE_MS = 3_000;

/**
 * A whole installation under mixed load, whose processes are killed one after another: a tracker,
 * two gateways, bridges, an agent over HTTP, and simulated workers. Over a database it is three trackers,
 * and what may happen to them is in CLUSTER_FAULTS.
 */
export class Chaos {
  /** How often each kind of process was killed. */
  kills = { tracker: 0, gateway: 0, bridge: 0, worker: 0 };
  /** The most that a process of each kind had, and how many files the last one has open. */
  usage = new Map();
  #isClosed = false;
  #trackerSince = performance.now();

  /** `durability`: the tracker's option. With `cluster` there is a database instead. */
  static async start({ seed, bridges = 3, agentsPerPipe = 6, http = true, durability = 'relaxed',
    cluster = false, longestMs = LONGEST_MS } = {}) {
    const chaos = new Chaos();
    chaos.longestMs = longestMs;
    chaos.random = new Random(seed);
    chaos.ledger = new Ledger({ durable: durability !== 'memory' });
    chaos.fleet = await Fleet.start(cluster
      ? { gateways: 2, trackers: 3, database: true, links: true, trackerOptions: TRACKER_CLOCKS }
      : { gateways: 2, trackerOptions: [...TRACKER_CLOCKS, '--durability', durability] });
    if (cluster) {
      for (const name of Object.keys(CLUSTER_FAULTS)) chaos.kills[name] = 0;
    }
    chaos.workers = TARGETS.flatMap((target) => Array.from({ length: WORKERS_PER_TARGET },
      (_, i) => new SimulatedWorker({
        name: `${target}-${i}`, target, ledger: chaos.ledger,
        gatewayUrls: () => chaos.fleet.gatewayUrls(),
      })));
    const url = (i) => chaos.fleet.gatewayUrl(i % 2);
    chaos.bridges = await Promise.all(Array.from({ length: bridges },
      (_, i) => BridgePipe.open(url(i), chaos.ledger)));
    chaos.pipes = [...chaos.bridges];
    if (http) chaos.pipes.push(await HttpPipe.open(url(0), chaos.ledger));
    chaos.load = new Load({
      pipes: chaos.pipes, ledger: chaos.ledger, random: chaos.random,
      targets: TARGETS, agentsPerPipe, ...(cluster ? { lifeMs: CLUSTER_LIFE_MS } : {}),
    });
    return chaos;
  }

  /**
   * Waits until some calls were answered: however slow the machine is, kills must leave time for the
   * work between them. Fails where everything stands still.
   */
  async progress() {
    const enough = this.ledger.answers + ANSWERS_BETWEEN;
    const until = performance.now() + STANDSTILL_MS;
    while (this.ledger.answers < enough) {
      assert.ok(performance.now() < until, 'nothing is answered any more');
      await pause(10);
    }
  }

  /** Kills one process, picked at random, and has it back when it returns. */
  async strike() {
    const { random, fleet } = this;
    if (fleet.postgres) {
      await this.strikeCluster(random.pick([...Object.keys(CLUSTER_FAULTS), 'bridge', 'worker']));
      return;
    }
    let kind = random.pick(KINDS);
    if (kind === 'tracker' && performance.now() < this.#trackerSince + TRACKER_PEACE_MS) {
      kind = 'gateway';
    }
    this.kills[kind] += 1;
    if (kind === 'tracker') {
      // What is read between the two may come from before or after.
      this.ledger.trackerDies();
      await fleet.tracker.kill();
      this.ledger.trackerDies();
      await fleet.startTracker();
      this.#trackerSince = performance.now();
    } else if (kind === 'gateway') {
      await fleet.killGateway(random.between(0, fleet.gateways.length));
    } else {
      await this.#strikeOthers(kind);
    }
  }

  /** The same, of those over a database; this one. */
  async strikeCluster(kind) {
    const { random, fleet } = this;
    this.kills[kind] += 1;
    const fault = CLUSTER_FAULTS[kind];
    if (fault === undefined) {
      await this.#strikeOthers(kind);
      return;
    }
    this.ledger.trackerDies();
    await fault(fleet, random, this.longestMs);
    await fleet.restore();
    this.ledger.trackerDies();
  }

  async #strikeOthers(kind) {
    if (kind === 'bridge') {
      await this.random.pick(this.bridges).kill();
    } else {
      this.random.pick(this.workers).crash();
    }
  }

  /** Fails where anything was lost, late, or happened twice, and prints what tells why. */
  assertClean() {
    const { ledger } = this;
    if (ledger.complaints.length > 0) this.fleet.printLogs();
    assert.deepEqual(ledger.complaints, []);
    assert.ok(ledger.isClean);
    assert.equal(ledger.answers + ledger.orphaned, ledger.calls);
  }

  /** What happened, in a line. */
  summary() {
    const { ends, ...totals } = this.ledger.totals();
    const { calls, answers, orphaned, refused, late, forgotten, repeated } = this.ledger;
    return JSON.stringify({ ...totals, calls, answers, orphaned, refused, late, forgotten, repeated,
      kills: this.kills, ends: Object.fromEntries(ends),
      failures: Object.fromEntries(this.ledger.failures) });
  }

  /** Notes what the processes use at this moment. */
  async sample() {
    const { fleet } = this;
    const pids = [...fleet.trackers.map(({ child }) => ['tracker', child.pid]),
      ...fleet.gateways.map(({ child }) => ['gateway', child.pid]),
      ...this.bridges.map(({ pid }) => ['bridge', pid])];
    for (const [kind, pid] of pids) {
      const now = await usageOf(pid);
      if (now === null) continue;
      const most = this.usage.get(kind) ?? { memory: 0, files: 0 };
      this.usage.set(kind, {
        memory: Math.max(most.memory, now.memory), files: Math.max(most.files, now.files) });
    }
  }

  /** Lets everything that was accepted end, and judges it. */
  async finish() {
    await this.load.stop();
    this.ledger.settle({ final: true });
  }

  /** Ends all processes. Harmless when repeated. */
  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.load?.end();
    await Promise.all(this.workers.map((worker) => worker.stop()));
    await Promise.all(this.pipes.map((pipe) => pipe.close()));
    await this.fleet.stop();
  }
}
