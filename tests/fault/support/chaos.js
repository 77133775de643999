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
/** The kinds of processes that are killed, with their relative frequency. */
const KINDS = ['tracker', 'tracker', 'gateway', 'gateway', 'bridge', 'bridge', 'worker'];
/** The least number of answered calls between two kills, and the time limit for them, in ms. */
const ANSWERS_BETWEEN = 10;
const STANDSTILL_MS = stretched(60_000);
/** The longest fault of a fleet over a database, in ms, by default. */
const LONGEST_MS = 6_000;
/** The time until the last command has ended there, in ms: repeated faults of the worst kind. */
const CLUSTER_LIFE_MS = stretched(180_000);
/** The least lifetime of a tracker, in ms: gateways take up to 1 s to reconnect to it. */
const TRACKER_PEACE_MS = 3_000;

/**
 * A whole installation under mixed load, whose processes are killed one after another: a tracker,
 * two gateways, bridges, an agent over HTTP, and simulated workers. Over a database there are three
 * trackers, with the faults of CLUSTER_FAULTS.
 */
export class Chaos {
  /** The number of kills of each kind of process. */
  kills = { tracker: 0, gateway: 0, bridge: 0, worker: 0 };
  /** The peak memory of each kind of process, and the open files of its latest one. */
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
   * Waits until some calls were answered: on a slow machine, too, there has to be work between
   * kills. Fails if no call is answered.
   */
  async progress() {
    const enough = this.ledger.answers + ANSWERS_BETWEEN;
    const until = performance.now() + STANDSTILL_MS;
    while (this.ledger.answers < enough) {
      assert.ok(performance.now() < until, 'nothing is answered any more');
      await pause(10);
    }
  }

  /** Kills a random process; returns once it is running again. */
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
      // An answer in between may be from before or after the kill.
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

  /** The same with the given fault, for a fleet over a database. */
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

  /** Fails if anything was lost, late, or happened twice, and prints the logs. */
  assertClean() {
    const { ledger } = this;
    if (ledger.complaints.length > 0) this.fleet.printLogs();
    assert.deepEqual(ledger.complaints, []);
    assert.ok(ledger.isClean);
    assert.equal(ledger.answers + ledger.orphaned, ledger.calls);
  }

  /** A summary of the run, in a line. */
  summary() {
    const { ends, ...totals } = this.ledger.totals();
    const { calls, answers, orphaned, refused, late, forgotten, repeated } = this.ledger;
    return JSON.stringify({ ...totals, calls, answers, orphaned, refused, late, forgotten, repeated,
      kills: this.kills, ends: Object.fromEntries(ends),
      failures: Object.fromEntries(this.ledger.failures) });
  }

  /** Records the processes' current resource usage. */
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

  /** Lets all accepted commands end, and judges them. */
  async finish() {
    await this.load.stop();
    this.ledger.settle({ final: true });
  }

  /** Ends all processes. May be called again. */
  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.load?.end();
    await Promise.all(this.workers.map((worker) => worker.stop()));
    await Promise.all(this.pipes.map((pipe) => pipe.close()));
    await this.fleet.stop();
  }
}
