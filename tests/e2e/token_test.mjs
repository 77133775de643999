/**
 * A gateway that requires tokens: callers with a token are served as usual, all others get nothing.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { House } from './support/house.js';
import { binary } from './support/processes.js';

const GET_TITLE = { action: 'execute_js', script: 'document.title' };

describe('a gateway with a token file', () => {
  let house;
  before(async () => { house = await House.open({ guarded: true }); });
  after(() => house?.close());

  for (const way of ['agentOverBridge', 'agentOverHttp']) {
    test(`serves the extension and an agent (${way})`, { timeout: stretched(60_000) }, () => house.step(async () => {
      const agent = await house[way]();
      const page = await house.browser.open(`${house.pages.url}/`);
      const tabId = await house.browser.tabIdOf(page);
      const answer = await agent.collect(await agent.submit({ ...GET_TITLE, tab_id: tabId }));
      assert.equal(answer.status, 'complete', JSON.stringify(answer));
      assert.equal(answer.result, await page.title());
    }));
  }

  test('creates the file for its owner only, and logs its path but no token', async () => {
    const { mode } = await stat(house.tokenFile);
    assert.equal((mode & 0o777).toString(8), '600');
    const text = await readFile(house.tokenFile, 'utf8');
    const secrets = text.match(/\b[0-9a-f]{64}\b/g);
    assert.equal(new Set(secrets).size, 7);
    assert.ok(house.gateway.log.includes(house.tokenFile));
    for (const secret of secrets) assert.ok(!house.gateway.log.includes(secret));
    const { hint } = await (await fetch(`${house.gatewayUrl}/pending-queries`)).json();
    assert.match(hint, /--token-file/);
  });

  test('can be tested from the options page', { timeout: stretched(30_000) }, async () => {
    const options = await house.browser.openExtensionPage('/options.html');
    const outcomes = [
      [await house.tokenOf('extension'), 'Connected: the gateway accepts this browser.'],
      [await house.tokenOf('agent'), 'not a worker token'],
      ['0'.repeat(64), 'does not know this token'],
      ['', 'Enter the token'],
    ];
    const testConnection = async (sentence) => {
      await options.click('[name=test]');
      await options.locator('output', { hasText: sentence }).waitFor();
    };
    for (const [token, sentence] of outcomes) {
      await options.fill('[name=token]', token);
      await testConnection(sentence);
    }
    await options.getByRole('checkbox', { name: 'requires no token' }).check();
    await testConnection('requires a token');
    await options.close();
  });
});

test('a gateway that other hosts can reach does not start without tokens', () => {
  const run = spawnSync(binary('callslip-gateway'), ['--listen', '0.0.0.0:0'],
    { encoding: 'utf8', timeout: stretched(10_000) });
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stderr, /Set --token-file/);
});
