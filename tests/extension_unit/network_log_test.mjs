import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { NETWORK_ENTRIES, NETWORK_TABS } from '../../extension/src/limits.js';
import { watchNetwork } from '../../extension/src/network_log.js';
import { FakeEvent } from './support/fake_browser.mjs';

let requests;
let tabs;
let network;

beforeEach(() => {
  const names = ['onBeforeRequest', 'onSendHeaders', 'onHeadersReceived', 'onBeforeRedirect', 'onResponseStarted',
    'onCompleted', 'onErrorOccurred'];
  requests = Object.fromEntries(names.map((name) => [name, new FakeEvent()]));
  tabs = { onRemoved: new FakeEvent() };
  network = watchNetwork({ requests, tabs, wallNow: () => 0 });
});

function begin(requestId, fields = {}) {
  const url = `http://page.test/${requestId}`;
  const details = { requestId, tabId: 7, method: 'GET', type: 'script', url, timeStamp: 1_000 };
  requests.onBeforeRequest.fire({ ...details, ...fields });
}

const shown = (requestId, rest) => ({
  id: requestId,
  time: '1970-01-01T00:00:01.000Z',
  method: 'GET',
  type: 'script',
  url: `http://page.test/${requestId}`,
  ...rest,
});

describe('network log', () => {
  test('reports the outcome of each request of a tab', () => {
    for (const id of ['a', 'b', 'c', 'd']) begin(id);
    const end = (requestId, rest) => ({ requestId, timeStamp: 1_040.4, ...rest });
    const redirectUrl = 'http://page.test/b2';
    requests.onCompleted.fire(end('a', { statusCode: 200, fromCache: false }));
    requests.onBeforeRedirect.fire(end('b', { statusCode: 302, redirectUrl }));
    requests.onErrorOccurred.fire(end('c', { error: 'net::ERR_FAILED' }));
    assert.deepEqual(network.recent(7, 50, ''), {
      entries: [
        shown('a', { status: 200, from_cache: false, duration_ms: 40 }),
        shown('b', { status: 302, redirected_to: redirectUrl, duration_ms: 40 }),
        shown('c', { error: 'net::ERR_FAILED', duration_ms: 40 }),
        shown('d'),
      ],
      truncated: false,
      observed_since: '1970-01-01T00:00:00.000Z',
    });
  });

  test('reports addresses without their secrets', () => {
    begin('a', { url: 'http://page.test/?code=hush' });
    const redirectUrl = 'http://page.test/#access_token=hush';
    requests.onBeforeRedirect.fire({ requestId: 'a', timeStamp: 1_040, statusCode: 302, redirectUrl });
    const [entry] = network.recent(7, 50, '').entries;
    assert.deepEqual([entry.url, entry.redirected_to],
      ['http://page.test/?code=(value omitted)', 'http://page.test/#access_token=(value omitted)']);
    assert.equal(network.entry(7, 'a').url, 'http://page.test/?code=hush');
  });

  test('filters by address and returns the latest requests', () => {
    for (const id of ['api/1', 'image', 'api/2', 'api/3']) begin(id);
    const { entries, truncated } = network.recent(7, 2, '/api/');
    assert.deepEqual(entries, [shown('api/2'), shown('api/3')]);
    assert.equal(truncated, true);
  });

  test('separates the requests of other tabs and of no tab', () => {
    begin('a', { tabId: 8 });
    begin('b', { tabId: -1 });
    assert.deepEqual(network.recent(7, 50, '').entries, []);
    assert.equal(network.recent(8, 50, '').entries.length, 1);
  });

  test('drops the oldest requests and reports the truncation', () => {
    for (let number = 0; number <= NETWORK_ENTRIES; number += 1) begin(`r${number}`);
    requests.onCompleted.fire({ requestId: 'r0', timeStamp: 2_000, statusCode: 200 });
    const { entries, truncated } = network.recent(7, NETWORK_ENTRIES, '');
    assert.equal(entries.length, NETWORK_ENTRIES);
    assert.deepEqual(entries[0], shown('r1'));
    assert.equal(truncated, true);
  });

  test('drops closed tabs and the tabs that were idle the longest', () => {
    begin('a');
    tabs.onRemoved.fire(7);
    assert.deepEqual(network.recent(7, 50, '').entries, []);
    for (let tabId = 100; tabId <= 100 + NETWORK_TABS; tabId += 1) begin(`t${tabId}`, { tabId });
    assert.deepEqual(network.recent(100, 50, '').entries, []);
    assert.equal(network.recent(101, 50, '').entries.length, 1);
  });

  test('reports the details of a request without its secrets', () => {
    const bytes = new TextEncoder().encode('{"name": "Ada", "password": "hush", "api_key": 12}').buffer;
    begin('a', { method: 'POST', requestBody: { raw: [{ bytes }] } });
    begin('a', { requestBody: { formData: { user: ['ada'], pwd: ['hush'] } } });
    const headers = (...pairs) => pairs.map(([name, value]) => ({ name, value }));
    requests.onSendHeaders.fire({ requestId: 'a', requestHeaders: headers(
      ['Accept', 'text/html'], ['Authorization', 'Bearer hush'], ['Cookie', 'a=hush'], ['X-Api-Key', 'hush']) });
    requests.onHeadersReceived.fire({ requestId: 'a', responseHeaders: headers(
      ['Vary', 'a'], ['vary', 'b'], ['Set-Cookie', 'a=hush'], ['set-cookie', 'b=hush']) });
    const { entry: first, url } = network.entry(7, 'a');
    assert.equal(first.request_body, '{"name":"Ada","password":"(value omitted)","api_key":"(value omitted)"}');
    assert.equal(url, 'http://page.test/a');
    const { entry } = network.entry(7, 'a.2');
    assert.equal(entry.request_body, 'user=ada&pwd=%28value+omitted%29');
    assert.deepEqual(entry.request_headers, {
      accept: 'text/html', authorization: '(value omitted)', cookie: '(value omitted)', 'x-api-key': '(value omitted)',
    });
    assert.deepEqual(entry.response_headers, { vary: 'a, b', 'set-cookie': '(value omitted)' });
    assert.equal(network.entry(8, 'a'), undefined);
    assert.equal(JSON.stringify([first, entry]).includes('hush'), false);
  });

  test('reports the open requests and the downloads of an action', () => {
    begin('before', { type: 'xmlhttprequest', timeStamp: 900 });
    begin('image', { type: 'image' });
    begin('call', { type: 'xmlhttprequest' });
    begin('stream', { type: 'xmlhttprequest' });
    const type = [{ name: 'Content-Type', value: 'text/event-stream' }];
    requests.onResponseStarted.fire({ requestId: 'stream', responseHeaders: type });
    assert.deepEqual(network.since(7, 1_000), { open: 1, page: false, endedAt: 0 });
    begin('page', { type: 'main_frame' });
    assert.deepEqual(network.since(7, 1_000), { open: 2, page: true, endedAt: 0 });
    requests.onHeadersReceived.fire({ requestId: 'page', type: 'main_frame', url: 'http://page.test/page',
      responseHeaders: [{ name: 'Content-Disposition', value: 'attachment; filename=a.pdf' }] });
    assert.deepEqual(network.downloads(7, 1_000), [{ name: 'a.pdf', url: 'http://page.test/page' }]);
    assert.deepEqual(network.downloads(7, 1_001), []);
  });
});
