import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDeliveryJournal } from '../../extension/src/delivery_journal.js';
import { REMEMBERED_DELIVERIES } from '../../extension/src/limits.js';
import { FakeStorage } from './support/fake_storage.mjs';

const delivery = (number) => ({ id: `d-${number}`, correlation_id: `corr-${number}` });

describe('delivery journal', () => {
  test('only the first claim of a delivery wins, also when claims overlap', async () => {
    const journal = await openDeliveryJournal(new FakeStorage());
    const claims = [journal.claim(delivery(1)), journal.claim(delivery(1))];
    assert.deepEqual(await Promise.all(claims), [true, false]);
  });

  test('a delivery stays claimed for the next service worker', async () => {
    const storage = new FakeStorage();
    const earlier = await openDeliveryJournal(storage);
    await earlier.claim(delivery(1));
    await earlier.finish('d-1');
    const journal = await openDeliveryJournal(storage);
    assert.equal(await journal.claim(delivery(1)), false);
    assert.deepEqual(journal.takeUnfinished(), []);
  });

  test('the unfinished deliveries are handed over once', async () => {
    const storage = new FakeStorage();
    await (await openDeliveryJournal(storage)).claim(delivery(1));
    const journal = await openDeliveryJournal(storage);
    assert.deepEqual(journal.takeUnfinished().map(({ id }) => id), ['d-1']);
    assert.deepEqual(journal.takeUnfinished(), []);
  });

  test('the oldest deliveries are forgotten beyond the limit', async () => {
    const storage = new FakeStorage();
    const journal = await openDeliveryJournal(storage);
    for (let number = 0; number <= REMEMBERED_DELIVERIES; number += 1) {
      await journal.claim(delivery(number));
      await journal.finish(`d-${number}`);
    }
    assert.equal(Object.keys(storage.values).length, REMEMBERED_DELIVERIES);
    const later = await openDeliveryJournal(storage);
    assert.equal(await later.claim(delivery(0)), true);
    assert.equal(await later.claim(delivery(1)), false);
  });
});
