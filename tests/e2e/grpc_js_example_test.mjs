/** The unchanged programs of examples/grpc-js, against a real tracker. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { ExampleProcess } from './support/example_process.js';
import { Proxy } from './support/proxy.js';
import { TrackerApi, startTracker, stateOf, unique } from './support/tracker_api.js';

const TIMEOUT = { timeout: stretched(60_000) };
const FULL_QUEUE = 100;

let tracker;
let api;

before(async () => {
  tracker = await startTracker(['--drain-grace', '0s']);
  api = new TrackerApi(tracker.address);
});

after(async () => {
  api?.close();
  await tracker?.stop();
});

/** Starts a program of the example, which ends with the test. */
function start(context, program, ...args) {
  const example = new ExampleProcess(program, args);
  context.after(() => example.kill());
  return example;
}

/** Starts a worker for a target of its own. */
function startWorker(context, address = tracker.address) {
  const target = unique('target');
  return { target, worker: start(context, 'worker.mjs', address, target) };
}

async function startProxy(context) {
  const proxy = await Proxy.start(tracker.address);
  context.after(() => proxy.stop());
  return proxy;
}

function submit(target, type, params = {}, settings = {}, client = api) {
  const json = Buffer.from(JSON.stringify(params));
  return client.register({ target, type, params: json, ...settings });
}

async function run(target, type, params, settings) {
  const { command_id } = await submit(target, type, params, settings);
  return api.reached(command_id, 'COMPLETED');
}

/** Waits until a worker has reported progress. */
async function progressOf(command_id, client = api) {
  const wait = client.wait({ command_id });
  let command;
  do {
    ({ command } = await wait.next());
  } while (command.progress === null);
  await wait.cancel();
}

/** Deadlines of a command whose worker has to report at least every second and a half. */
const LIVELY = { ack_wait: { seconds: 1 }, heartbeat_timeout: { seconds: 1, nanos: 500e6 } };

test('the service receives the results of the worker', TIMEOUT, async (context) => {
  const { target, worker } = startWorker(context);
  const service = start(context, 'service.mjs', tracker.address, target);
  assert.equal(await service.exited, 0, service.output);
  const expected = [
    /^all: COMPLETED \{"text":"to be"\}$/m,
    /^all: COMPLETED \{"text":"or not"\}$/m,
    /^any: COMPLETED \{"slept_ms":200\}$/m,
    /^cancelled: CANCELLED cancelled /m,
    /^refused: NOT_FOUND unknown_command "no command "corr-0-0" is known"$/m,
    /^hint: Check the id/m,
    /^failed: FAILED told_to_fail /m,
    /^dead letter: fail FAILED told_to_fail /m,
    /^replayed: COMPLETED \{"replay_of":"corr-\S+"\}$/m,
  ];
  for (const line of expected) assert.match(service.output, line);
  // The worker forgets both of the cancelled commands.
  await worker.prints(/forgets [^]*forgets /);
});

describe('the service', () => {
  test('continues its waits after the connection breaks', TIMEOUT, async (context) => {
    const target = unique('target');
    const proxy = await startProxy(context);
    const service = start(context, 'service.mjs', proxy.address, target);
    const stream = api.stream(target);
    const leases = [];
    while (leases.length < 3) leases.push(...(await stream.next()).leases);
    proxy.cut();
    for (const lease of leases) await api.complete(lease, { result: Buffer.from('"done"') });
    await service.prints(/(all: COMPLETED "done"\n){3}/);
    await stream.cancel();
  });

  test('retries when the queue is full', TIMEOUT, async (context) => {
    const target = unique('target');
    const fill = Array.from({ length: FULL_QUEUE }, () => api.register({ target }));
    const commands = await Promise.all(fill);
    const service = start(context, 'service.mjs', tracker.address, target);
    await service.prints(/not accepted yet: RESOURCE_EXHAUSTED queue_full /);
    for (const { command_id } of commands) {
      await api.call('CancelCommand', { command_id });
    }
    const stream = api.stream(target);
    const [{ command }] = (await stream.next()).leases;
    assert.equal(command.type, 'echo');
    await stream.cancel();
  });
});

describe('the worker', () => {
  test('does not execute unknown types, and fails on invalid params', TIMEOUT, async (context) => {
    const { target } = startWorker(context);
    for (const type of ['teleport', 'constructor']) {
      const { command_id } = await submit(target, type);
      const { error } = await api.reached(command_id, 'FAILED');
      assert.deepEqual([error.code, error.may_have_executed], ['unknown_type', false]);
    }
    const { command_id } = await api.register({ target, type: 'echo', params: Buffer.from('no') });
    assert.equal((await api.reached(command_id, 'FAILED')).error.code, 'execution_failed');
  });

  test('keeps a long command alive and reports its progress', TIMEOUT, async (context) => {
    const { target } = startWorker(context);
    const settings = { deadlines: { ...LIVELY, start_to_close: { seconds: 20 } } };
    const command = await run(target, 'sleep', { ms: 2_500 }, settings);
    assert.deepEqual(JSON.parse(command.result), { slept_ms: 2_500 });
    assert.equal(command.attempt, 1);
    assert.match(command.progress.message, /^slept \d of 10 parts$/);
  });

  test('reports a timeout itself', TIMEOUT, async (context) => {
    const { target } = startWorker(context);
    const deadlines = { start_to_close: { seconds: 1 } };
    const { command_id } = await submit(target, 'sleep', { ms: 30_000 }, { deadlines });
    const { trace, error } = await api.reached(command_id, 'TIMED_OUT');
    assert.deepEqual([trace.at(-1).stage, trace.at(-1).source], ['resolved', 'worker']);
    assert.equal(error.message, 'The worker ran out of time.');
  });

  test('stops cancelled work and reports no result', TIMEOUT, async (context) => {
    const { target, worker } = startWorker(context);
    const { command_id } = await submit(target, 'sleep', { ms: 9_000 });
    await api.reached(command_id, 'RUNNING');
    await api.call('CancelCommand', { command_id });
    await worker.prints(RegExp(`forgets ${command_id}`));
    await run(target, 'echo');
    assert.equal((await api.get(command_id)).late_result.length, 0);
    assert.doesNotMatch(worker.output, RegExp(`reported ${command_id}`));
  });

  test('continues to work after the tracker has restarted', TIMEOUT, async (context) => {
    const first = await startTracker();
    context.after(() => first.kill());
    const before = new TrackerApi(first.address);
    context.after(() => before.close());
    const { target, worker } = startWorker(context, first.address);
    const deadlines = { ...LIVELY, start_to_close: { seconds: 60 } };
    const held = await submit(target, 'sleep', { ms: 50_000 }, { deadlines }, before);
    await progressOf(held.command_id, before);
    await first.kill();
    await worker.prints(/reconnects: UNAVAILABLE/);

    const second = await startTracker([], first.address);
    context.after(() => second.kill());
    const again = new TrackerApi(second.address);
    context.after(() => again.close());
    const { command_id } = await submit(target, 'echo', { text: 'again' }, {}, again);
    const { result } = await again.reached(command_id, 'COMPLETED');
    assert.deepEqual(JSON.parse(result), { text: 'again' });
    // The new tracker does not know the command that the worker still holds.
    await worker.prints(RegExp(`forgets ${held.command_id}`));
  });

  test('completes its command during an orderly tracker shutdown', TIMEOUT, async (context) => {
    const first = await startTracker(['--drain-grace', '60s']);
    context.after(() => first.kill());
    const before = new TrackerApi(first.address);
    context.after(() => before.close());
    const { target, worker } = startWorker(context, first.address);
    const { command_id } = await submit(target, 'sleep', { ms: 1_000 }, {}, before);
    await before.reached(command_id, 'RUNNING');
    first.child.kill('SIGTERM');
    await worker.prints(/reconnects: the tracker shuts down\n/);
    // The tracker waits for the report, and ends after it.
    await worker.prints(RegExp(`reported ${command_id}: COMMAND_STATE_COMPLETED`));
    await first.exited;
    assert.equal(first.child.exitCode, 0);
  });

  test('repeats a report whose answer was lost', TIMEOUT, async (context) => {
    const proxy = await startProxy(context);
    const { target, worker } = startWorker(context, proxy.address);
    const { command_id } = await submit(target, 'sleep', { ms: 2_000 }, { deadlines: LIVELY });
    await progressOf(command_id);
    proxy.withholdAnswers();
    // The report has arrived, and its answer has not.
    await api.reached(command_id, 'COMPLETED');
    proxy.cut();
    await worker.prints(RegExp(`repeats the report of ${command_id}`));
    await worker.prints(RegExp(`reported ${command_id}: COMMAND_STATE_COMPLETED`));
    const { trace } = await api.get(command_id);
    assert.equal(trace.filter(({ stage }) => stage === 'resolved').length, 1);
    await run(target, 'echo');
  });

  for (const signal of ['SIGTERM', 'SIGINT']) {
    test(`finishes its commands on ${signal} and takes no more`, TIMEOUT, async (context) => {
      const { target, worker } = startWorker(context);
      const { command_id } = await submit(target, 'sleep', { ms: 1_000 });
      await api.reached(command_id, 'RUNNING');
      worker.child.kill(signal);
      await worker.prints(/stops, and finishes 1 commands/);
      const { command_id: later } = await submit(target, 'echo');
      assert.equal(await worker.exited, 0, worker.output);
      assert.equal(stateOf(await api.get(command_id)), 'COMPLETED');
      assert.doesNotMatch(worker.output, RegExp(later));
    });
  }
});
