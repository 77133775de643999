import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesAddress, waitFor } from '../../extension/src/actions/wait_for.js';
import { gatewayPage } from '../../extension/src/gateway_page.js';

test('wait_for matches an address by a pattern or a part of it', () => {
  const url = 'https://shop.test/a/done?id=1';
  for (const wanted of ['**/done*', '**/done?id=1', '/done', url, 'https://*/a/*', '**']) {
    assert.equal(matchesAddress(url, wanted), true, wanted);
  }
  for (const wanted of ['**/done', '*/done*', 'https://*.test/*', '/dome', '**.test/b/**']) {
    assert.equal(matchesAddress(url, wanted), false, wanted);
  }
});

test('wait_for does not search a restricted page', async () => {
  const off = 'http://127.0.0.1:7890/ui/';
  const guard = async (url) => {
    if (url === off) throw gatewayPage(url);
  };
  let seen = off;
  let looks = 0;
  const pageParts = {
    async callAll() {
      looks += 1;
      return [{ frameId: 0, url: seen, result: { found: true, shown: true } }];
    },
  };
  const run = (url) => waitFor.run({
    tab: { id: 7 },
    params: { text: 'a' },
    tools: { now: () => 0, guard, pageParts, tabs: { named: async () => ({ url, status: 'complete' }) } },
    signal: new AbortController().signal,
    progress() {},
  });
  await assert.rejects(run(off), { code: 'restricted_page' });
  assert.equal(looks, 0);
  // The tab may have got there only while the page was read.
  await assert.rejects(run('http://page.test/'), { code: 'restricted_page' });
  seen = 'http://page.test/';
  assert.equal((await run(seen)).url, seen);
});
