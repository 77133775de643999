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
  target: 'browser',
  name: '',
  paused: false,
  workerId: 'made-up',
};

describe('settings', () => {
  test('have defaults', async () => assert.deepEqual(await load({}), DEFAULTS));

  test('are what the user says', async () => {
    const chosen = {
      serverUrl: 'https://gateway.test',
      token: 'sesame',
      target: ' office ',
      name: ' Desk ',
      paused: true,
      workerId: 'known',
    };
    assert.deepEqual(await load(chosen), { ...chosen, target: 'office', name: 'Desk' });
  });

  test('fall back where they cannot be used', async () => {
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
