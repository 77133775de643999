import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createGatewayClient,
  GatewayRefused,
  GatewayUnavailable,
} from '../../extension/src/gateway_client.js';

/** A client whose requests all get one answer, and the requests that it made. */
function clientAnswered(respond, settings = {}) {
  const requests = [];
  const fetch = async (url, options) => {
    requests.push({ url, ...options });
    return respond();
  };
  const serverUrl = 'http://gateway.test/';
  const who = { workerId: 'w-1', target: 'office' };
  const client = createGatewayClient({ serverUrl, ...who, fetch, ...settings });
  return { requests, client };
}

const json = (value, status = 200) => () => new Response(JSON.stringify(value), { status });

describe('gateway client', () => {
  test('asks for work with its name and the hold it wants', async () => {
    const { client, requests } = clientAnswered(json([{ id: 'd-1' }]));
    assert.deepEqual(await client.pendingQueries(), [{ id: 'd-1' }]);
    const [{ url, headers }] = requests;
    assert.equal(
      url,
      'http://gateway.test/pending-queries?wait=5&back_within=45&target=office&worker=w-1'
        + '&cancels=1',
    );
    assert.equal('Authorization' in headers, false);
  });

  test('posts JSON, with the token when there is one', async () => {
    const { client, requests } = clientAnswered(json({ accepted: true }), { token: 'secret' });
    assert.deepEqual(await client.postResult({ id: 'd-1' }), { accepted: true });
    const [{ url, method, headers, body }] = requests;
    assert.equal(url, 'http://gateway.test/query-result');
    assert.equal(method, 'POST');
    assert.deepEqual(headers, {
      'Content-Type': 'application/json',
      Authorization: 'Bearer secret',
    });
    assert.equal(body, '{"id":"d-1"}');
  });

  test('posts a drawing', async () => {
    const { client, requests } = clientAnswered(json({ status: 'ok' }));
    assert.deepEqual(await client.completeDrawing({ annotations: [] }), { status: 'ok' });
    const [{ url, method, body }] = requests;
    assert.equal(url, 'http://gateway.test/draw-mode/complete');
    assert.deepEqual([method, body], ['POST', '{"annotations":[]}']);
  });

  test('posts the status as that of its worker and target', async () => {
    const { client, requests } = clientAnswered(json({ status: 'ok' }));
    await client.postStatus({ name: 'Desk', tabs: [] });
    const [{ url, body }] = requests;
    assert.equal(url, 'http://gateway.test/worker-status');
    assert.deepEqual(JSON.parse(body), { worker: 'w-1', target: 'office', name: 'Desk', tabs: [] });
  });

  for (const status of [400, 401, 404, 413]) {
    test(`${status} is a refusal`, async () => {
      const { client } = clientAnswered(json({ error: 'no' }, status));
      await assert.rejects(client.postResult({}), (error) => {
        assert.ok(error instanceof GatewayRefused);
        assert.match(error.message, new RegExp(`${status}.*no`));
        return true;
      });
    });
  }

  const outages = [
    ['429', json({}, 429)],
    ['500', json({}, 500)],
    ['503', json({}, 503)],
    ['a page of something else', () => new Response('<html>')],
    ['no answer', () => Promise.reject(new TypeError('Failed to fetch'))],
  ];
  for (const [what, respond] of outages) {
    test(`${what} is an outage`, async () => {
      const { client } = clientAnswered(respond);
      await assert.rejects(client.postResult({}), GatewayUnavailable);
    });
  }

  test('work that is no array is an outage', async () => {
    const { client } = clientAnswered(json({}));
    await assert.rejects(client.pendingQueries(), GatewayUnavailable);
  });
});
