/** SIGTERM is not a fault: a graceful stop loses nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '../e2e/support/agent.js';
import { stretched } from '../support/patience.js';
import { HttpPipe, BridgePipe } from './support/agent_pipe.js';
import { Balancer } from './support/balancer.js';
import { Fleet } from './support/fleet.js';
import { Ledger } from './support/ledger.js';
import { Load, TRACKER_CLOCKS } from './support/load.js';
import { Random } from './support/random.js';
import { SimulatedWorker } from './support/simulated_worker.js';

/** Longer than a balancer takes to notice the drain, and than clients keep idle connections. */
const DRAIN_DELAY = ['--drain-delay', '3s'];
const SETTLED_MS = 1_000;

test('a gateway drains and ends its waits on SIGTERM', { timeout: stretched(60_000) },
  async (context) => {
  const fleet = await Fleet.start({ gatewayOptions: ['--drain-delay', '1s'] });
  context.after(() => fleet.stop());
  const url = fleet.gatewayUrl(0);
  const agent = await Agent.overHttp(url);
  const id = await agent.submit({ action: 'get_page' });
  const waiting = agent.ask(id, 20_000);
  const readiness = async () => (await fetch(`${url}/readyz`)).json();
  assert.equal((await readiness()).status, 'ready');

  fleet.gateways[0].child.kill('SIGTERM');
  let answer;
  do answer = await readiness(); while (answer.error === undefined);
  assert.equal(answer.error, 'draining');
  // It is no longer ready, but still serves.
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.match(await agent.submit({ action: 'get_page' }), /^corr-/);
  const { status, final } = await waiting;
  assert.deepEqual({ status, final }, { status: 'pending', final: false });
  await fleet.gateways[0].exited;
  assert.equal(fleet.gateways[0].child.exitCode, 0);
});

test('a stopping gateway answers the requests that it has received', { timeout: stretched(60_000) }, async (context) => {
  const fleet = await Fleet.start();
  context.after(() => fleet.stop());
  const [gateway] = fleet.gateways;
  const agent = await Agent.overHttp(fleet.gatewayUrl(0));
  await fleet.tracker.freeze();
  const id = agent.submit({ action: 'get_page' });
  const arrived = /callslip_http_requests_under_way{[^}]*route="\/mcp"} 1/;
  const metrics = async () => (await fetch(`${fleet.gatewayUrl(0)}/metrics`)).text();
  while (!arrived.test(await metrics())) await pause(10);
  gateway.child.kill('SIGTERM');
  while (!gateway.log.includes('draining')) await pause(10);
  fleet.tracker.thaw();
  assert.match(await id, /^corr-/);
  await gateway.exited;
});

test('a tracker ends its waits and exits on SIGTERM', { timeout: stretched(60_000) },
  async (context) => {
  const fleet = await Fleet.start();
  context.after(() => fleet.stop());
  const agent = await Agent.overHttp(fleet.gatewayUrl(0));
  const id = await agent.submit({ action: 'get_page' });
  // The wait ends before another tracker starts; waits_test.mjs tests longer waits.
  const waiting = agent.ask(id, 2_000);
  await agent.ask(id, 0);
  fleet.tracker.child.kill('SIGTERM');
  const { status, final } = await waiting;
  assert.deepEqual({ status, final }, { status: 'pending', final: false });
  await fleet.tracker.exited;
  assert.equal(fleet.tracker.child.exitCode, 0);
});

test('clients do not notice that two gateways behind one address restart in turn', { timeout: stretched(60_000) }, async (context) => {
  const balancer = await Balancer.start();
  context.after(() => balancer.stop());
  const fleet = await Fleet.start({
    gateways: 2, trackerOptions: TRACKER_CLOCKS,
    gatewayOptions: ['--allowed-hosts', balancer.address, ...DRAIN_DELAY],
  });
  context.after(() => fleet.stop());
  await balancer.use(fleet.gateways.map(({ address }) => address));
  const url = `http://${balancer.address}`;
  const ledger = new Ledger({ durable: true });
  const workers = ['browser', 'worker'].map((target) => new SimulatedWorker({
    name: `${target}-0`, target, ledger, gatewayUrls: () => [url] }));
  const pipes = [
    await BridgePipe.open(url, ledger), await BridgePipe.open(url, ledger),
    await HttpPipe.open(url, ledger), await HttpPipe.open(url, ledger),
  ];
  const load = new Load({ pipes, ledger, random: new Random(1), targets: ['browser', 'worker'] });
  for (const i of fleet.gateways.keys()) {
    await pause(SETTLED_MS);
    const gateway = fleet.gateways[i];
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    assert.equal(gateway.child.exitCode, 0);
    await fleet.startGateway(i);
    while (!balancer.isReady(gateway.address)) await pause(20);
  }
  await pause(SETTLED_MS);
  await load.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(pipes.map((pipe) => pipe.close()));
  ledger.settle({ final: true });
  const totals = ledger.totals();
  context.diagnostic(JSON.stringify({ ...totals, ends: Object.fromEntries(totals.ends),
    calls: ledger.calls, failures: Object.fromEntries(ledger.failures) }));
  assert.deepEqual(ledger.complaints, []);
  assert.ok(totals.accepted > 40);
  assert.equal(ledger.answers, ledger.calls);
  // No client noticed.
  assert.deepEqual([...ledger.failures], []);
});
