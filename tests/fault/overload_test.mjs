/**
 * Agents submit twice as many commands as the workers can execute. The excess is refused at once,
 * with a time for the next attempt; accepted commands have a true end in time.
 *   CALLSLIP_FAULT_OVERLOAD_S=60 node --test tests/fault/overload_test.mjs
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { BridgePipe } from './support/agent_pipe.js';
import { Fleet, usageOf } from './support/fleet.js';
import { Ledger } from './support/ledger.js';
import { collect, TRACKER_CLOCKS } from './support/load.js';
import { instructions, SimulatedWorker } from './support/simulated_worker.js';

const SECONDS = Number(process.env.CALLSLIP_FAULT_OVERLOAD_S ?? 8);
/** A worker executes 5 commands at a time, so with this duration it completes 50 in a second. */
const WORK_MS = 100;
const CAPACITY = 5 * 1_000 / WORK_MS;
const OVERLOAD = 2;
const PIPES = 4;
const TICK_MS = 100;
/** The limit of a tracker's memory for some thousand commands, in MiB. */
const MOST_MEMORY = 100;

test('commands beyond the capacity of the workers are refused at once', { timeout: stretched(60_000 + SECONDS * 1_000) }, async (context) => {
  const fleet = await Fleet.start({ trackerOptions: TRACKER_CLOCKS });
  context.after(() => fleet.stop());
  const ledger = new Ledger({ durable: true });
  const url = fleet.gatewayUrl(0);
  const worker = new SimulatedWorker({
    name: 'w', target: 'browser', ledger, gatewayUrls: () => [url] });
  const pipes = await Promise.all(
    Array.from({ length: PIPES }, () => BridgePipe.open(url, ledger)));
  const refusals = new Map();

  const handIn = async (pipe) => {
    const job = ledger.newJob(false);
    const script = instructions(job, WORK_MS, 'complete');
    const answer = await pipe.call('interact', { action: 'execute_js', script });
    if (answer.correlation_id === undefined) {
      refusals.set(answer.error, (refusals.get(answer.error) ?? 0) + 1);
      assert.ok(answer.retry_after_ms > 0, JSON.stringify(answer));
      assert.equal(answer.may_have_executed, false);
      return;
    }
    ledger.accepted(job, answer.correlation_id);
    await collect(pipe, ledger, job, answer.correlation_id);
  };
  const handedIn = [];
  const begun = performance.now();
  // At a steady pace, whatever happens to earlier commands.
  while (performance.now() < begun + SECONDS * 1_000) {
    const due = (performance.now() - begun) / 1_000 * CAPACITY * OVERLOAD;
    while (handedIn.length < due) handedIn.push(handIn(pipes[handedIn.length % PIPES]));
    await pause(TICK_MS);
  }
  await Promise.all(handedIn);
  const { memory } = await usageOf(fleet.tracker.child.pid);
  await worker.stop();
  await Promise.all(pipes.map((pipe) => pipe.close()));
  ledger.settle({ final: true });

  const { ends, ...totals } = ledger.totals();
  context.diagnostic(JSON.stringify({ ...totals, handedIn: handedIn.length,
    ends: Object.fromEntries(ends), refusals: Object.fromEntries(refusals), memory }));
  assert.deepEqual(ledger.complaints, []);
  assert.equal(ledger.answers, ledger.calls);
  assert.ok(memory < MOST_MEMORY, `${memory} MiB`);
  // The worker was busy all the time.
  assert.ok(ends.get('complete') > 0.7 * CAPACITY * SECONDS);
  assert.deepEqual([...refusals.keys()], ['queue_full']);
});
