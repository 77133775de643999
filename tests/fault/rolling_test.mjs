/**
 * Three trackers over a database and two gateways behind a balancer are restarted one after
 * another, as in an upgrade, while agents call: no caller notices.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { BridgePipe, HttpPipe } from './support/agent_pipe.js';
import { Balancer } from './support/balancer.js';
import { Fleet } from './support/fleet.js';
import { Ledger } from './support/ledger.js';
import { Load, TRACKER_CLOCKS } from './support/load.js';
import { Random } from './support/random.js';
import { SimulatedWorker } from './support/simulated_worker.js';

/** Longer than a balancer takes to notice the drain, and than clients keep idle connections. */
const DRAIN_DELAY = ['--drain-delay', '3s'];
const SETTLED_MS = 1_000;
const TARGETS = ['browser', 'worker'];
const PIPES = 6;

test('callers do not notice a rolling restart', { timeout: stretched(180_000) },
  async (context) => {
  const balancer = await Balancer.start();
  context.after(() => balancer.stop());
  const fleet = await Fleet.start({
    gateways: 2, trackers: 3, database: true, trackerOptions: [...TRACKER_CLOCKS, '--drain-grace', '0s'],
    gatewayOptions: ['--allowed-hosts', balancer.address, ...DRAIN_DELAY],
  });
  context.after(() => fleet.stop());
  await balancer.use(fleet.gateways.map(({ address }) => address));
  const url = `http://${balancer.address}`;
  const ledger = new Ledger({ durable: true });
  const workers = TARGETS.flatMap((target) => [0, 1].map((i) => new SimulatedWorker({
    name: `${target}-${i}`, target, ledger, gatewayUrls: () => [url] })));
  const pipes = await Promise.all(Array.from({ length: PIPES },
    (_, i) => (i % 2 === 0 ? BridgePipe : HttpPipe).open(url, ledger)));
  const begun = performance.now();
  const load = new Load({ pipes, ledger, random: new Random(1), targets: TARGETS, agentsPerPipe: 8 });

  const handovers = [];
  await pause(SETTLED_MS);
  // The trackers that stand by first, the serving one last.
  const owner = await fleet.owner();
  const order = fleet.trackers.map((_, i) => i).sort((a, b) => (a === owner) - (b === owner));
  for (const i of order) {
    const from = performance.now();
    const stopped = fleet.trackers[i].stop();
    if (i === owner) {
      fleet.trackers[i].log = '';
      await fleet.owner();
      handovers.push(Math.round(performance.now() - from));
    }
    await stopped;
    await fleet.startTracker(i);
    await pause(SETTLED_MS);
  }
  for (const i of fleet.gateways.keys()) {
    const gateway = fleet.gateways[i];
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    assert.equal(gateway.child.exitCode, 0);
    await fleet.startGateway(i);
    while (!balancer.isReady(gateway.address)) await pause(20);
    await pause(SETTLED_MS);
  }
  const seconds = (performance.now() - begun) / 1_000;
  await load.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(pipes.map((pipe) => pipe.close()));
  ledger.settle({ final: true });
  const totals = ledger.totals();
  context.diagnostic(JSON.stringify({ ...totals, ends: Object.fromEntries(totals.ends), calls: ledger.calls,
    commandsPerSecond: Math.round(totals.accepted / seconds), handoverMs: handovers,
    failures: Object.fromEntries(ledger.failures), orphaned: ledger.orphaned }));
  assert.deepEqual(ledger.complaints, []);
  assert.ok(totals.accepted > 40);
  assert.equal(ledger.answers, ledger.calls);
  // No caller noticed.
  assert.deepEqual([...ledger.failures], []);
});
