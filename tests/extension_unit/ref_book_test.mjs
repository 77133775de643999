import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { REFS_ASIDE, TABS_ASIDE } from '../../extension/src/limits.js';
import { createRefBook, refNumber } from '../../extension/src/ref_book.js';
import { FakeStorage } from './support/fake_storage.mjs';

const TOP = { frameId: 0, documentId: 'A' };
const INNER = { frameId: 5, documentId: 'B' };

let storage;
let lasting;
let book;

function open() {
  let ids = 0;
  return createRefBook({ storage, lasting, newId: () => `id ${ids += 1} of ${Math.random()}` });
}

beforeEach(() => {
  storage = new FakeStorage();
  lasting = new FakeStorage();
  book = open();
});

describe('the ref book', () => {
  test('assigns each number of a tab once, even to concurrent calls', async () => {
    const firsts = await Promise.all([
      book.take(7, 3, TOP), book.take(7, 2, INNER), book.take(7, 1, TOP), book.take(8, 4, TOP),
    ]);
    assert.deepEqual(firsts, [1, 4, 6, 1]);
  });

  test('continues its numbers after the extension is reloaded', async () => {
    let last = 0;
    for (let at = 0; at < 5; at += 1) {
      for (const count of [3, REFS_ASIDE, 7]) {
        const first = await book.take(7, count, TOP);
        assert.ok(first > last, `${first} after ${last}`);
        last = first + count - 1;
      }
      storage = new FakeStorage();
      book = open();
      assert.equal(await book.frameOf(7, last), undefined);
      assert.equal(await book.take(100 + at, 1, TOP), 1);
    }
  });

  test('writes once for many refs, keeps only the last tabs, works without a disk', async () => {
    let writes = 0;
    const set = lasting.set.bind(lasting);
    lasting.set = (values) => {
      writes += 1;
      return set(values);
    };
    for (let at = 0; at < 100; at += 1) await book.take(7, 5, TOP);
    assert.equal(writes, 1);
    for (let tab = 0; tab < TABS_ASIDE * 2; tab += 1) await book.take(1_000 + tab, 5, TOP);
    assert.equal(lasting.values['refs:aside'].length, TABS_ASIDE);
    await book.forget(1_000 + TABS_ASIDE * 2 - 1);
    assert.equal(lasting.values['refs:aside'].length, TABS_ASIDE - 1);
    lasting.set = async () => { throw new Error('full'); };
    assert.equal(await book.take(8, 5, TOP), 1);
    assert.equal(await book.take(8, 5, TOP), 6);
  });

  test('knows the frame of each assigned number', async () => {
    await book.take(7, 3, TOP);
    await book.take(7, 2, INNER);
    assert.deepEqual(await book.frameOf(7, 3), TOP);
    assert.deepEqual(await book.frameOf(7, 4), INNER);
    assert.equal(await book.frameOf(7, 6), undefined);
    assert.equal(await book.wasGiven(7, 5), true);
    assert.equal(await book.wasGiven(7, 6), false);
    assert.equal(await book.wasGiven(8, 1), false);
  });

  test('continues the state of the previous service worker', async () => {
    await book.take(7, 3, TOP);
    const session = await book.session();
    const next = open();
    assert.equal(await next.session(), session);
    assert.equal(await next.take(7, 1, INNER), 4);
    assert.deepEqual(await next.frameOf(7, 2), TOP);
  });

  test('drops old documents, but remembers the assigned numbers', async () => {
    for (let page = 0; page < 600; page += 1) await book.take(7, 2, { frameId: 0, documentId: `${page}` });
    assert.equal(await book.frameOf(7, 1), undefined);
    assert.equal(await book.wasGiven(7, 1), true);
    assert.equal(await book.take(7, 1, TOP), 1_201);
  });

  test('deletes the data of a closed tab', async () => {
    await book.take(7, 3, TOP);
    await book.forget(7);
    assert.deepEqual(Object.keys(await storage.get(null)), []);
  });
});

test('a ref consists of the letter e and a number', () => {
  assert.equal(refNumber('e12'), 12);
  for (const text of ['e', 'e0', 'e012', 'e1 ', 'E1', '12', 'em', 'e1234567890']) {
    assert.equal(refNumber(text), undefined, text);
  }
});
