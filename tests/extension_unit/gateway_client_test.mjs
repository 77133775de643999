import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createGatewayClient,
  GatewayRefused,
  GatewayUnavailable,
} from '../../extension/src/gateway_client.js';
import { SpoofedGateway } from '../../extension/src/proven_fetch.js';
import { nonceIn, proofOf } from '../support/request_signature.js';

/** A client whose requests all get one answer, and its requests. */
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

const poll = { known: { ids: ['d-1', 'd-2'], forMs: 7_900 }, hold: true };
const json = (value, status = 200) => () => new Response(JSON.stringify(value), { status });

describe('gateway client', () => {
  test('polls with its worker, its target and the requested hold', async () => {
    const { client, requests } = clientAnswered(json([{ id: 'd-1' }]));
    assert.deepEqual(await client.pendingQueries(poll), [{ id: 'd-1' }]);
    const [{ url, headers }] = requests;
    assert.equal(
      url,
      'http://gateway.test/pending-queries?wait=5&back_within=45&target=office&worker=w-1'
        + '&cancels=1&known=d-1%2Cd-2&known_for=7',
    );
    assert.equal('Authorization' in headers, false);
  });

  test('polls without a hold on request, and reports at most 60 s of memory', async () => {
    const { client, requests } = clientAnswered(json([]));
    await client.pendingQueries({ known: { ids: [], forMs: 3_600_000 }, hold: false });
    const { searchParams } = new URL(requests[0].url);
    assert.equal(searchParams.get('wait'), '0');
    assert.equal(searchParams.get('known'), '');
    assert.equal(searchParams.get('known_for'), '60');
  });

  test('posts a result as JSON', async () => {
    const { client, requests } = clientAnswered(json({ accepted: true }));
    assert.deepEqual(await client.postResult({ id: 'd-1' }), { accepted: true });
    const [{ url, method, headers, body }] = requests;
    assert.equal(url, 'http://gateway.test/query-result');
    assert.equal(method, 'POST');
    assert.deepEqual(headers, { 'Content-Type': 'application/json' });
    assert.equal(body, '{"id":"d-1"}');
  });

  test('replaces lone surrogates in all posts', async () => {
    const { client, requests } = clientAnswered(json({ accepted: true }));
    const half = 'a\ud83d';
    await client.postResult({ id: 'd-1', url: half, error: { message: half }, result: { data: { [half]: [half] } } });
    await client.postStatus({ name: half, tabs: [{ title: half }] });
    await client.completeDrawing({ title: half, annotations: [{ note: half, element: { text: half } }] });
    for (const { body } of requests) {
      assert.ok(body.includes('a\ufffd'));
      assert.equal(/\\ud83d|[\ud800-\udfff]/.test(body), false, body);
    }
  });

  test('sends the trace of a command back in headers, not in the report', async () => {
    const { client, requests } = clientAnswered(json({ accepted: true }));
    await client.postResult({ id: 'd-1', traceparent: '00-1-2-01' });
    const [{ headers, body }] = requests;
    assert.deepEqual(headers, { 'Content-Type': 'application/json', traceparent: '00-1-2-01' });
    assert.equal(body, '{"id":"d-1"}');
    await client.postResult({ id: 'd-1', traceparent: '00-1-2-01', tracestate: 'a=1' });
    assert.equal(requests[1].headers.tracestate, 'a=1');
    assert.equal(requests[1].body, '{"id":"d-1"}');
  });

  test('reports how long ago the work ended, recalculated for each post', async () => {
    let wall = 5_000;
    const { client, requests } = clientAnswered(json({ accepted: true }), { wallNow: () => wall });
    const report = { id: 'd-1', work: { beganAt: 4_000, endedAt: 4_900 } };
    await client.postResult(report);
    wall = 7_000;
    await client.postResult(report);
    wall = 1_000;
    await client.postResult(report);
    const told = requests.map(({ body }) => JSON.parse(body).work);
    assert.deepEqual(told, [100, 2_100, 0].map((ago) => ({ duration_ms: 900, ended_ms_ago: ago })));
  });

  test('posts a drawing', async () => {
    const { client, requests } = clientAnswered(json({ status: 'ok' }));
    assert.deepEqual(await client.completeDrawing({ annotations: [] }), { status: 'ok' });
    const [{ url, method, body }] = requests;
    assert.equal(url, 'http://gateway.test/draw-mode/complete');
    assert.deepEqual([method, body], ['POST', '{"annotations":[]}']);
  });

  test('posts the status with its worker and target', async () => {
    const { client, requests } = clientAnswered(json({ status: 'ok' }));
    await client.postStatus({ name: 'Desk', tabs: [] });
    const [{ url, body }] = requests;
    assert.equal(url, 'http://gateway.test/worker-status');
    assert.deepEqual(JSON.parse(body), { worker: 'w-1', target: 'office', name: 'Desk', tabs: [] });
  });

  for (const status of [400, 401, 404, 413]) {
    test(`reports ${status} as a refusal`, async () => {
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
    ['an unrelated page', () => new Response('<html>')],
    ['a failed connection', () => Promise.reject(new TypeError('Failed to fetch'))],
  ];
  for (const [what, respond] of outages) {
    test(`reports ${what} as an outage`, async () => {
      const { client } = clientAnswered(respond);
      await assert.rejects(client.postResult({}), GatewayUnavailable);
    });
  }

  test('reports work that is not an array as an outage', async () => {
    const { client } = clientAnswered(json({}));
    await assert.rejects(client.pendingQueries(poll), GatewayUnavailable);
  });
});

describe('gateway client with a token', () => {
  const token = 'sesame-sesame-sesame-sesame-sesame';

  /**
   * A client whose requests `gateway` answers, which a test may replace: it returns the answer,
   * `{status, body}`, and the token of its proof.
   */
  function guarded(gateway) {
    const setting = { gateway, requests: [], nowMs: 0, wallMs: 1_000_000 };
    const fetch = async (url, options) => {
      setting.requests.push({ path: new URL(url).pathname, url, ...options });
      const answer = setting.gateway(options, new URL(url).pathname);
      if (!answer) throw new TypeError('Failed to fetch');
      const { status = 200, body = '{}', knows = token, proven = body } = answer;
      const nonce = nonceIn(options.headers.Authorization);
      const proof = proofOf(knows, { nonce, status, body: proven });
      return new Response(body, { status, headers: { 'Callslip-Proof': proof } });
    };
    setting.client = createGatewayClient({
      serverUrl: 'http://gateway.test',
      workerId: 'w-1',
      target: 'office',
      token,
      fetch,
      now: () => setting.nowMs,
      wallNow: () => setting.wallMs,
    });
    setting.paths = () => setting.requests.splice(0).map(({ path }) => path);
    return setting;
  }

  const genuine = () => ({ body: '[]' });
  const spoofedGateways = [
    ['proves nothing', () => ({ knows: '' })],
    ['knows another token', () => ({ knows: `${token}x` })],
    ['changes the body', () => ({ body: '[{"id":"d-1"}]', proven: '[]' })],
    ['fakes a refusal', () => ({ status: 401, body: '{"error":"token_unknown"}', knows: '' })],
  ];

  test('signs its requests, and never sends the token', async () => {
    const { client, requests } = guarded(genuine);
    assert.deepEqual(await client.pendingQueries(poll), []);
    await client.postResult({ id: 'd-1' });
    for (const { headers } of requests) {
      assert.match(headers.Authorization, /^Callslip-HMAC key="[0-9a-f]{12}", time="1000000", /);
    }
    assert.ok(!JSON.stringify(requests).includes(token));
  });

  test('greets the gateway once, before it sends anything else', async () => {
    const { client, paths } = guarded(genuine);
    await Promise.all([client.pendingQueries(poll), client.postResult({}), client.postStatus({})]);
    assert.equal(paths().filter((path) => path === '/healthz').length, 1);
    await client.postResult({});
    assert.deepEqual(paths(), ['/query-result']);
  });

  for (const [what, spoofed] of spoofedGateways) {
    test(`exchanges no data with a gateway that ${what}`, async () => {
      const setting = guarded(spoofed);
      await assert.rejects(setting.client.pendingQueries(poll), SpoofedGateway);
      await assert.rejects(setting.client.postResult({ secret: 1 }), SpoofedGateway);
      assert.deepEqual(setting.paths(), ['/healthz']);
      setting.nowMs += 999;
      await assert.rejects(setting.client.pendingQueries(poll), SpoofedGateway);
      assert.deepEqual(setting.paths(), []);
      setting.nowMs += 1;
      await assert.rejects(setting.client.pendingQueries(poll), SpoofedGateway);
      assert.deepEqual(setting.paths(), ['/healthz']);
      setting.gateway = genuine;
      setting.nowMs += 1_000;
      assert.deepEqual(await setting.client.pendingQueries(poll), []);
    });

    test(`no longer trusts a gateway that now ${what}`, async () => {
      const setting = guarded(genuine);
      await setting.client.pendingQueries(poll);
      setting.gateway = spoofed;
      setting.paths();
      await assert.rejects(setting.client.pendingQueries(poll), SpoofedGateway);
      await assert.rejects(setting.client.postResult({ secret: 1 }), SpoofedGateway);
      assert.deepEqual(setting.paths(), ['/pending-queries', '/healthz']);
    });
  }

  test('greets again immediately after a lost connection', async () => {
    const setting = guarded(genuine);
    await setting.client.pendingQueries(poll);
    setting.gateway = () => null;
    await assert.rejects(setting.client.pendingQueries(poll), GatewayUnavailable);
    await assert.rejects(setting.client.pendingQueries(poll), GatewayUnavailable);
    setting.paths();
    setting.gateway = genuine;
    await setting.client.postResult({});
    assert.deepEqual(setting.paths(), ['/healthz', '/query-result']);
  });

  test('greets again after the gateway has reported that it is unavailable', async () => {
    const setting = guarded(() => ({ status: 503 }));
    await assert.rejects(setting.client.pendingQueries(poll), GatewayUnavailable);
    await assert.rejects(setting.client.postResult({}), GatewayUnavailable);
    assert.deepEqual(setting.paths(),
      ['/healthz', '/pending-queries', '/healthz', '/query-result']);
  });

  const stale = (knows) => ({ headers }) => (headers.Authorization.includes('time="5000000"')
    ? { body: '[]' }
    : { status: 401, body: '{"error":"signature_stale","server_time_ms":5000000}', knows });

  test('corrects its clock from a proven answer', async () => {
    const setting = guarded(stale(token));
    assert.deepEqual(await setting.client.pendingQueries(poll), []);
    assert.deepEqual(setting.paths(), ['/healthz', '/healthz', '/pending-queries']);
  });

  test('does not correct its clock from the answer of a spoofed gateway', async () => {
    const setting = guarded(stale(''));
    await assert.rejects(setting.client.pendingQueries(poll), SpoofedGateway);
    assert.deepEqual(setting.paths(), ['/healthz']);
  });

  test('accepts proven refusals', async () => {
    const setting = guarded(({ method }) =>
      (method === 'POST' ? { status: 403, body: '{"error":"role_not_allowed"}' } : {}));
    await assert.rejects(setting.client.postResult({}), (error) => {
      assert.ok(error instanceof GatewayRefused);
      assert.match(error.message, /role_not_allowed/);
      return true;
    });
  });
});
