import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createConsoleRecords } from '../../extension/src/console_records.js';
import { CONSOLE_SITES } from '../../extension/src/limits.js';

let registered;
let logged;
let records;

beforeEach(() => {
  registered = [];
  logged = [];
  const scripting = {
    getRegisteredContentScripts: async () => registered,
    async registerContentScripts(scripts) {
      if (scripts[0].matches[0].includes('[')) throw new Error('Invalid match pattern');
      registered.push(...scripts);
    },
  };
  const pageScripts = { install: async () => true };
  records = createConsoleRecords({ scripting, pageScripts, log: (text) => logged.push(text) });
});

describe('the console records', () => {
  test('follow a site once, for all ports and paths, until the browser ends', async () => {
    await records.follow('http://site.test:8080/a');
    await records.follow('https://site.test/b?c');
    assert.equal(registered.length, 1);
    assert.deepEqual(registered[0].matches, ['*://site.test/*']);
    assert.equal(registered[0].persistAcrossSessions, false);
  });

  test('follow no more sites than the limit, and no pages without a site', async () => {
    await records.follow('about:blank');
    await records.follow('file:///etc/hostname');
    for (let number = 0; number <= CONSOLE_SITES; number += 1) {
      await records.follow(`http://site${number}.test/`);
    }
    assert.equal(registered.length, CONSOLE_SITES);
    assert.deepEqual(logged, []);
  });

  test('only log a site that the browser cannot follow', async () => {
    await records.follow('http://[::1]:8080/');
    assert.match(logged[0], /\[::1\].*Invalid match pattern/);
  });
});
