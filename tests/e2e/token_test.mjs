/** A gateway that asks for tokens: who has one is served as ever, all others get nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { House } from './support/house.js';
import { binary } from './support/processes.js';

/** What an agent, an extension and a page may ask for. */
const ROUTES = [['POST', '/mcp'], ['GET', '/pending-queries'], ['POST', '/query-result']];

const GET_TITLE = { action: 'execute_js', script: 'document.title' };

describe('a gateway with a token file', () => {
  let house;
  before(async () => { house = await House.open({ guarded: true }); });
  after(() => house?.close());

  const request = (method, path, headers = {}) => fetch(house.gatewayUrl + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: method === 'POST' ? '{}' : undefined,
  });

  for (const way of ['agentOverBridge', 'agentOverHttp']) {
    test(`serves an ${way} and the extension`, { timeout: stretched(60_000) }, () => house.step(async () => {
      const agent = await house[way]();
      const page = await house.browser.open(`${house.pages.url}/`);
      const tabId = await house.browser.tabIdOf(page);
      const answer = await agent.collect(await agent.submit({ ...GET_TITLE, tab_id: tabId }));
      assert.equal(answer.status, 'complete', JSON.stringify(answer));
      assert.equal(answer.result, await page.title());
    }));
  }

  test('has made the file for its owner only, and tells no token', async () => {
    const { mode } = await stat(house.tokenFile);
    assert.equal((mode & 0o777).toString(8), '600');
    const text = await readFile(house.tokenFile, 'utf8');
    const secrets = text.match(/\b[0-9a-f]{64}\b/g);
    assert.equal(new Set(secrets).size, 7);
    assert.ok(house.gateway.log.includes(house.tokenFile));
    for (const secret of secrets) assert.ok(!house.gateway.log.includes(secret));
  });

  test('answers others with what to do, and nothing else', async () => {
    for (const [method, path] of ROUTES) {
      const missing = await request(method, path);
      assert.equal(missing.status, 401);
      assert.equal(missing.headers.get('www-authenticate'), 'Bearer');
      const { error, hint } = await missing.json();
      assert.equal(error, 'token_missing');
      assert.match(hint, /--token-file/);
      const unknown = await request(method, path, { Authorization: `Bearer ${'0'.repeat(64)}` });
      assert.equal((await unknown.json()).error, 'token_unknown');
    }
    assert.equal((await request('GET', '/readyz')).status, 200);
  });

  test('is tested from the options page', { timeout: stretched(30_000) }, async () => {
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

  test('keeps its tokens over a restart', { timeout: stretched(30_000) }, async () => {
    await house.gateway.stop();
    await house.startGateway();
    const headers = { Authorization: `Bearer ${await house.tokenOf('extension')}` };
    assert.equal((await request('GET', '/pending-queries', headers)).status, 200);
    assert.equal((await request('POST', '/mcp', headers)).status, 403);
  });
});

describe('a gateway that others can reach', () => {
  const refusal = (...args) => {
    const run = spawnSync(binary('callslip-gateway'), ['--listen', '0.0.0.0:0', ...args],
      { encoding: 'utf8', timeout: stretched(10_000) });
    assert.equal(run.status, 1, run.stderr);
    return run.stderr;
  };

  test('does not start without tokens', () => {
    assert.match(refusal(), /Set --token-file/);
  });

  test('does not start with a file that others can read', () => {
    assert.match(refusal('--token-file', '/etc/hostname'), /chmod 600/);
  });
});
