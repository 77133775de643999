/**
 * The tracker's disk is full or read-only: a caller whose request was acknowledged finds its data
 * later, and any other caller gets the reason.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerProcess } from '../e2e/support/processes.js';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { stretched } from '../support/patience.js';
import { SmallDisk } from './support/small_disk.js';

const TIMEOUT = { timeout: stretched(60_000) };

/** A tracker with its data on a small disk, and the events that it has acknowledged. */
class Recorder {
  recorded = [];
  #next = 0;

  static async open(context) {
    const recorder = new Recorder();
    recorder.disk = await SmallDisk.mount(1_024);
    context.after(() => recorder.close());
    await recorder.start();
    await recorder.call('CreateSession', { session_id: 's' });
    return recorder;
  }

  async start(address = '127.0.0.1:0') {
    this.tracker = await ServerProcess.start('callslip-tracker',
      ['--listen', address, '--data-dir', this.disk.path]);
    this.api = new TrackerApi(this.tracker.address);
  }

  async restart() {
    this.api.close();
    await this.tracker.kill();
    await this.start(this.tracker.address);
  }

  call(method, request) {
    return this.api.call(method, request, this.api.sessions);
  }

  /** Appends an event of some KiB; returns the reason of a refusal, or undefined. */
  async append() {
    const message = `${++this.#next} ${'x'.repeat(4_000)}`;
    try {
      await this.call('AppendEvents', {
        session_id: 's', events: [{ type: 'error', data: Buffer.from(JSON.stringify({ message })) }] });
    } catch (error) {
      return error.metadata.get('callslip-reason')[0];
    }
    this.recorded.push(message);
    return undefined;
  }

  /** The log has all acknowledged events and perhaps others, each at most once and in order. */
  async assertRecorded() {
    const found = [];
    for (let after_seq = 0; ;) {
      const page = await this.call('ReadEvents', { session_id: 's', after_seq, limit: 1_000 });
      found.push(...page.events.filter(({ type }) => type === 'error')
        .map(({ data }) => JSON.parse(data).message));
      if (!page.has_more) break;
      after_seq = page.last_seq;
    }
    assert.equal(new Set(found).size, found.length);
    assert.deepEqual(found.filter((message) => this.recorded.includes(message)), this.recorded);
  }

  /** A command goes from a client to a worker and back. */
  async assertCommandPasses() {
    const { command_id } = await this.api.register({ target: 't' });
    const [lease] = await this.api.lease('t');
    await this.api.complete(lease);
    assert.equal((await this.api.get(command_id)).state, 'COMMAND_STATE_COMPLETED');
  }

  async close() {
    this.api?.close();
    await this.tracker?.stop();
    await this.disk.unmount();
  }
}

test('a tracker on a full disk refuses events and loses none', TIMEOUT, async (context) => {
  const recorder = await Recorder.open(context);
  assert.equal(await recorder.append(), undefined);
  await recorder.disk.fill();
  let reason;
  do reason = await recorder.append(); while (reason === undefined);
  assert.equal(reason, 'storage_failed');
  await recorder.assertRecorded();

  await recorder.disk.free();
  assert.equal(await recorder.append(), undefined);
  await recorder.assertCommandPasses();
  await recorder.assertRecorded();
  await recorder.restart();
  await recorder.assertRecorded();
  assert.equal(await recorder.append(), undefined);
});

test('a tracker killed on a full disk starts again once the disk has space', TIMEOUT,
  async (context) => {
  const recorder = await Recorder.open(context);
  await recorder.disk.fill();
  while ((await recorder.append()) === undefined);
  // The tracker has to repair its interrupted write, and reports why it cannot.
  await assert.rejects(recorder.restart(), /disk is full|No space left on device/);
  await recorder.disk.free();
  await recorder.start();
  await recorder.assertRecorded();
  await recorder.assertCommandPasses();
  assert.equal(await recorder.append(), undefined);
  await recorder.assertRecorded();
});

test('a tracker does not start with a read-only data directory', TIMEOUT, async (context) => {
  const disk = await SmallDisk.mount(64);
  context.after(() => disk.unmount());
  await disk.makeReadOnly();
  const start = ServerProcess.start('callslip-tracker',
    ['--listen', '127.0.0.1:0', '--data-dir', disk.path]);
  await assert.rejects(start, new RegExp(`${disk.path}.*Read-only file system`));
});
