/** A page in the user's browser that tries to use the gateway of the same machine gets nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { REBOUND_NAME } from './support/chromium.js';
import { House } from './support/house.js';

const JSON_HEADERS = { 'Content-Type': 'application/json' };

const SUBMIT = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'interact', arguments: { action: 'get_page' } },
});

describe('a page of another origin', () => {
  let house;
  let agent;
  before(async () => {
    house = await House.open();
    agent = await house.agentOverHttp();
  });
  after(() => house?.close());

  /** The page's view of an answer: its status and text, or that the browser withholds it. */
  const fetchIn = (page, path, options) => page.evaluate(async ([url, init]) => {
    try {
      const response = await fetch(url, init);
      return { type: response.type, status: response.status, text: await response.text() };
    } catch (error) {
      return { error: error.name };
    }
  }, [new URL(path, house.gatewayUrl).href, options]);

  async function assertNothingWasSubmitted() {
    const { structuredContent } = await agent.call('observe', { what: 'pending_commands' });
    for (const kind of ['pending', 'completed', 'failed']) {
      assert.deepEqual(structuredContent[kind], []);
    }
  }

  test('can neither read nor submit', { timeout: stretched(30_000) }, () => house.step(async () => {
    const page = await house.browser.open(`${house.pages.url}/`);
    const withheld = { error: 'TypeError' };
    assert.deepEqual(await fetchIn(page, '/healthz'), withheld);
    assert.deepEqual(await fetchIn(page, '/pending-queries?wait=5'), withheld);
    const post = { method: 'POST', headers: JSON_HEADERS, body: SUBMIT };
    assert.deepEqual(await fetchIn(page, '/mcp', post), withheld);
    const simple = { method: 'POST', body: SUBMIT, mode: 'no-cors' };
    assert.deepEqual(await fetchIn(page, '/mcp', simple), { type: 'opaque', status: 0, text: '' });
    await assertNothingWasSubmitted();
  }));

  test('cannot submit from a frame without an origin', { timeout: stretched(30_000) }, () => house.step(async () => {
    const page = await house.browser.open(`${house.pages.url}/`);
    await page.evaluate(() => {
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.srcdoc = '<p>sandboxed</p>';
      document.body.append(frame);
      return new Promise((resolve) => { frame.onload = resolve; });
    });
    const frame = page.frames().at(-1);
    const post = { method: 'POST', headers: JSON_HEADERS, body: SUBMIT };
    assert.deepEqual(await fetchIn(frame, '/mcp', post), { error: 'TypeError' });
    await assertNothingWasSubmitted();
  }));

  test('is refused with a rebound host name', { timeout: stretched(30_000) }, () => house.step(async () => {
    const rebound = house.gatewayUrl.replace('127.0.0.1', REBOUND_NAME);
    const page = await house.browser.open(`${rebound}/healthz`);
    assert.match(await page.textContent('body'), /host_not_allowed/);
    for (const [path, options] of [
      ['/pending-queries', { method: 'GET' }],
      ['/mcp', { method: 'POST', headers: JSON_HEADERS, body: SUBMIT }],
    ]) {
      // For the browser it is the page's own server, so the page can read the answer.
      const { status, text } = await fetchIn(page, new URL(path, rebound).href, options);
      assert.equal(status, 403);
      assert.match(text, /host_not_allowed/);
    }
    await assertNothingWasSubmitted();
  }));
});
