/** Accepted commands when the tracker's journal is on a bad disk. */
import assert from 'node:assert/strict';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerProcess } from '../e2e/support/processes.js';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { stretched } from '../support/patience.js';
import { SmallDisk } from './support/small_disk.js';

const TIMEOUT = { timeout: stretched(60_000) };
const PAGE_BYTES = 4_096;
const PARAMS = Buffer.from(JSON.stringify({ text: 'x'.repeat(4_000) }));

/** A tracker with its journal on a small disk, and the commands that it has accepted. */
class Journal {
  accepted = new Set();

  static async open(context, ...options) {
    const journal = new Journal();
    journal.options = options;
    journal.disk = await SmallDisk.mount(2_048);
    context.after(() => journal.close());
    await journal.start();
    return journal;
  }

  async start() {
    this.tracker = await ServerProcess.start('callslip-tracker', [
      '--listen', this.tracker?.address ?? '127.0.0.1:0', '--data-dir', this.disk.path,
      '--schedule-to-start', '1h', ...this.options]);
    this.api = new TrackerApi(this.tracker.address);
  }

  async kill() {
    this.api.close();
    await this.tracker.kill();
  }

  /** Submits a command; returns the reason of a refusal, or undefined. */
  async register() {
    try {
      const { command_id } = await this.api.register({ target: 't', params: PARAMS });
      this.accepted.add(command_id);
      return undefined;
    } catch (error) {
      return error.metadata.get('callslip-reason')[0];
    }
  }

  async assertKept() {
    for (const id of this.accepted) {
      assert.equal((await this.api.get(id)).state, 'COMMAND_STATE_QUEUED', id);
    }
  }

  async close() {
    this.api.close();
    await this.tracker.stop();
    await this.disk.unmount();
  }
}

for (const durability of ['relaxed', 'strict']) {
  test(`a ${durability} journal on a full disk refuses commands and loses none`, TIMEOUT,
    async (context) => {
    const journal = await Journal.open(context, '--durability', durability);
    assert.equal(await journal.register(), undefined);
    await journal.disk.fill();
    let reason;
    do reason = await journal.register(); while (reason === undefined);
    assert.equal(reason, 'storage_unavailable');
    await journal.disk.free();
    // The tracker tries again by itself.
    while ((await journal.register()) !== undefined) await pause(20);
    await journal.assertKept();

    await journal.disk.fill();
    while ((await journal.register()) === undefined);
    await journal.kill();
    await journal.disk.free();
    await journal.start();
    await journal.assertKept();
  });
}

for (const [what, name] of [['database', 'commands.db'], ['log', 'commands-0.log']]) {
  test(`a damaged last page of the ${what} is reported or costs only the latest writes`, TIMEOUT,
    async (context) => {
    const journal = await Journal.open(context);
    for (let i = 0; i < 50; ++i) assert.equal(await journal.register(), undefined);
    if (name === 'commands.db') {
      // A graceful stop leaves everything in the database file.
      await journal.tracker.stop();
    }
    await journal.kill();
    const path = join(journal.disk.path, name);
    const { size } = await stat(path);
    assert.ok(size > 20 * PAGE_BYTES, `${name} has ${size} bytes`);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, size - PAGE_BYTES);
    await file.close();

    const [{ status, reason }] = await Promise.allSettled([journal.start()]);
    if (status === 'rejected') {
      // The tracker names the damaged file instead of starting with less data.
      assert.match(reason.message, new RegExp(`${path}.*damaged`));
      context.diagnostic(reason.message);
      return;
    }
    // The latest writes may be lost, as after a power cut; the rest is intact.
    const kept = [];
    for (const id of journal.accepted) {
      const [{ value }] = await Promise.allSettled([journal.api.get(id)]);
      kept.push(value !== undefined);
      if (value !== undefined) {
        assert.equal(value.state, 'COMMAND_STATE_QUEUED');
        assert.ok(value.params.equals(PARAMS), `${id} has other parameters`);
      }
    }
    const present = kept.filter(Boolean).length;
    context.diagnostic(`${present} of ${kept.length} are there`);
    assert.ok(present > kept.length / 2, `${present}`);
    assert.ok(kept.slice(0, present).every(Boolean), 'one in the middle is missing');
  });
}
