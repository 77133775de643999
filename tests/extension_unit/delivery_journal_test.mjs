import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDeliveryJournal } from '../../extension/src/delivery_journal.js';
import {
  KEPT_COMMAND_BYTES,
  KEPT_REPORTS_BYTES,
  NAMED_DELIVERIES,
  REMEMBERED_DELIVERIES,
} from '../../extension/src/limits.js';
import { settled } from './support/settled.mjs';
import { FakeStorage } from './support/fake_storage.mjs';

let wallMs = 1_000;
const wallNow = () => wallMs;

const delivery = (number) => ({ id: `d-${number}`, correlation_id: `corr-${number}` });

describe('delivery journal', () => {
  test('only the first claim of a delivery wins', async () => {
    const journal = await openDeliveryJournal(new FakeStorage(), wallNow);
    assert.equal(journal.claim(delivery(1), 0), true);
    assert.equal(journal.claim(delivery(1), 0), false);
  });

  test('a delivery stays claimed for the next service worker', async () => {
    const storage = new FakeStorage();
    const earlier = await openDeliveryJournal(storage, wallNow);
    earlier.claim(delivery(1), 0);
    await earlier.finish('d-1');
    const journal = await openDeliveryJournal(storage, wallNow);
    assert.equal(journal.claim(delivery(1), 0), false);
    assert.deepEqual(journal.takeUnfinished(), []);
  });

  test('lists the latest deliveries, and for how long it has known all of them', async () => {
    const storage = new FakeStorage();
    wallMs = 1_000;
    const earlier = await openDeliveryJournal(storage, wallNow);
    assert.deepEqual(earlier.known(), { ids: [], forMs: 0 });
    earlier.claim(delivery(1), 0);
    await earlier.finish('d-1');
    wallMs = 9_000;
    const journal = await openDeliveryJournal(storage, wallNow);
    for (let number = 2; number <= NAMED_DELIVERIES; number += 1) journal.claim(delivery(number), 0);
    assert.deepEqual(journal.known().ids.slice(0, 2), ['d-1', 'd-2']);
    assert.equal(journal.known().forMs, 8_000);
    journal.claim(delivery(NAMED_DELIVERIES + 1), 0);
    assert.deepEqual(journal.known().ids[0], 'd-2');
    assert.equal(journal.known().ids.length, NAMED_DELIVERIES);
  });

  test('returns unfinished deliveries once, in order, with their last state', async () => {
    const storage = new FakeStorage();
    const earlier = await openDeliveryJournal(storage, wallNow);
    const report = { id: 'd-3', status: 'complete' };
    for (const number of [1, 2, 3, 4]) earlier.claim(delivery(number), 77);
    await earlier.begin('d-2');
    earlier.keep(report);
    await earlier.finish('d-4');
    const journal = await openDeliveryJournal(storage, wallNow);
    const shared = (number, rest) => ({ ...delivery(number), sequence: number, ...rest });
    assert.deepEqual(journal.takeUnfinished(), [
      shared(1, { state: 'claimed', command: delivery(1), expiresAt: 77 }),
      shared(2, { state: 'begun' }),
      shared(3, { state: 'reported', report }),
    ]);
    assert.deepEqual(journal.takeUnfinished(), []);
  });

  test('remembers the delivery of a command that is too large to keep', async () => {
    const storage = new FakeStorage();
    const params = { script: 'a'.repeat(KEPT_COMMAND_BYTES) };
    (await openDeliveryJournal(storage, wallNow)).claim({ ...delivery(1), params }, 0);
    const [entry] = (await openDeliveryJournal(storage, wallNow)).takeUnfinished();
    assert.deepEqual(entry, { ...delivery(1), sequence: 1, state: 'claimed' });
  });

  test('limits the size of all reports together; finished deliveries free space', async () => {
    const storage = new FakeStorage();
    const journal = await openDeliveryJournal(storage, wallNow);
    const half = 'a'.repeat(KEPT_REPORTS_BYTES / 2 - 100);
    for (const number of [1, 2, 3, 4]) journal.claim(delivery(number), 0);
    for (const number of [1, 2, 3]) journal.keep({ id: `d-${number}`, half });
    await journal.finish('d-1');
    journal.keep({ id: 'd-4', half });
    const left = (await openDeliveryJournal(storage, wallNow)).takeUnfinished();
    assert.deepEqual(left.map(({ state }) => state), ['reported', 'claimed', 'reported']);
  });

  test('a full storage keeps a command from beginning, but not from being claimed', async () => {
    const storage = new FakeStorage();
    storage.set = () => Promise.reject(new Error('QUOTA_BYTES quota exceeded'));
    const journal = await openDeliveryJournal(storage, wallNow);
    assert.equal(journal.claim(delivery(1), 0), true);
    await settled();
    await assert.rejects(journal.begin('d-1'), /QUOTA/);
  });

  test('forgets the oldest deliveries beyond the limit', async () => {
    const storage = new FakeStorage();
    const journal = await openDeliveryJournal(storage, wallNow);
    for (let number = 0; number <= REMEMBERED_DELIVERIES; number += 1) {
      journal.claim(delivery(number), 0);
      await journal.finish(`d-${number}`);
    }
    const stored = Object.keys(storage.values).filter((key) => key.startsWith('delivery:'));
    assert.equal(stored.length, REMEMBERED_DELIVERIES);
    const later = await openDeliveryJournal(storage, wallNow);
    assert.equal(later.claim(delivery(0), 0), true);
    assert.equal(later.claim(delivery(1), 0), false);
  });
});
