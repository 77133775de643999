import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadSettings } from '../../extension/src/settings.js';
import { FakeStorage } from './support/fake_storage.mjs';

async function load(stored) {
  const storage = new FakeStorage();
  await storage.set(stored);
  return loadSettings({ storage, newId: () => 'made-up', log() {} });
}

const DEFAULTS = {
  serverUrl: 'http://127.0.0.1:7890',
  token: undefined,
  paired: false,
  target: 'browser',
  name: '',
  paused: false,
  workerId: 'made-up',
};

describe('settings', () => {
  test('have defaults', async () => assert.deepEqual(await load({}), DEFAULTS));

  test('use the values that the user has chosen', async () => {
    const chosen = {
      serverUrl: 'https://gateway.test',
      token: 'sesame',
      target: ' office ',
      name: ' Desk ',
      paused: true,
      workerId: 'known',
    };
    const expected = { ...chosen, paired: true, target: 'office', name: 'Desk' };
    assert.deepEqual(await load(chosen), expected);
  });

  test('mark the browser as paired by a token or by an open gateway', async () => {
    const isPaired = async (stored) => (await load(stored)).paired;
    assert.equal(await isPaired({ serverUrl: 'http://127.0.0.1:7890' }), false);
    assert.equal(await isPaired({ token: '', openGateway: false }), false);
    assert.equal(await isPaired({ openGateway: 'yes' }), false);
    // The settings of users who paired before this question existed.
    assert.equal(await isPaired({ token: 'sesame' }), true);
    assert.equal(await isPaired({ token: '', openGateway: true }), true);
  });

  test('replace invalid values with the defaults', async () => {
    const odd = { serverUrl: 'gateway', target: '  ', name: 7, paused: 'no' };
    assert.deepEqual(await load(odd), DEFAULTS);
    assert.equal((await load({ name: 'a'.repeat(100) })).name.length, 64);
  });

  test('keep the id of the worker', async () => {
    const storage = new FakeStorage();
    const ids = ['first', 'second'];
    const settings = { storage, newId: () => ids.shift(), log() {} };
    assert.equal((await loadSettings(settings)).workerId, 'first');
    assert.equal((await loadSettings(settings)).workerId, 'first');
  });
});
