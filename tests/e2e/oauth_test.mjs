/**
 * A gateway that takes the tokens of a real authorization server, and the official client, which
 * finds its way to them by itself.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  discoverAuthorizationServerMetadata, exchangeAuthorization, registerClient, startAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { AuthorizationServer, OAuthClient } from './support/authorization_server.js';
import { FakeWorker } from './support/fake_worker.js';
import { Services } from './support/services.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'callslip-e2e', version: '1.0.0' },
  },
};

const TIMEOUT = { timeout: stretched(30_000) };

let provider;
let services;
let resource;

before(async () => {
  provider = await AuthorizationServer.start();
  const gatewayOptions = [];
  services = await Services.open({ gatewayOptions });
  services.onClose(() => provider.close());
  // It has to know its own URL, which is that of its first start.
  await services.gateway.stop();
  resource = `${services.gatewayUrl}/mcp`;
  gatewayOptions.push('--oauth-issuer', provider.issuer, '--oauth-resource', resource);
  await services.startGateway();
});

after(() => services?.close());

function transportOf(authProvider) {
  return new StreamableHTTPClientTransport(new URL(resource), { authProvider });
}

/** An agent whose person has signed in as `login` and agreed to what it asked for. */
async function signIn(login, oauth = new OAuthClient()) {
  const transport = transportOf(oauth);
  const first = new Client({ name: 'callslip-e2e', version: '1.0.0' });
  await assert.rejects(first.connect(transport), UnauthorizedError);
  await transport.finishAuth(await provider.approve(oauth.authorizationUrl, login));
  return services.keepAgent(await Agent.over(transportOf(oauth)));
}

/** The tokens of a client that asks for `scope` at `forResource`, and of a person who agrees. */
async function tokensFor(login, scope, forResource = resource) {
  const { redirectUrl, clientMetadata } = new OAuthClient();
  const metadata = await discoverAuthorizationServerMetadata(provider.issuer);
  const clientInformation = await registerClient(
    provider.issuer, { metadata, clientMetadata, scope });
  const request = { metadata, clientInformation, resource: new URL(forResource) };
  const { authorizationUrl, codeVerifier } = await startAuthorization(
    provider.issuer, { ...request, redirectUrl, scope });
  const authorizationCode = await provider.approve(authorizationUrl, login);
  return exchangeAuthorization(
    provider.issuer, { ...request, authorizationCode, codeVerifier, redirectUri: redirectUrl });
}

async function tokenFor(login, scope) {
  return (await tokensFor(login, scope)).access_token;
}

/** Calls with a token; answers status, code and challenge. */
async function ask(token, path = '/mcp') {
  const response = await fetch(services.gatewayUrl + path, {
    method: path === '/mcp' ? 'POST' : 'GET',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: path === '/mcp' ? JSON.stringify(INITIALIZE) : undefined,
  });
  const { error } = await response.json();
  return { status: response.status, error, challenge: response.headers.get('www-authenticate') };
}

test('a client finds the server, registers, has a person agree, and calls', TIMEOUT, () =>
  services.step(async () => {
    const oauth = new OAuthClient();
    const agent = await signIn('alice', oauth);
    const { origin, searchParams } = oauth.authorizationUrl;
    assert.equal(origin, provider.issuer);
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    assert.equal(searchParams.get('resource'), resource);
    assert.equal(searchParams.get('scope'), 'callslip.client');

    const token = await tokenFor('browser', 'callslip.work');
    const worker = FakeWorker.start(
      services.gatewayUrl, ({ script }) => ({ success: true, data: script }), token);
    const id = await agent.submit({ action: 'execute_js', script: 'the answer' });
    assert.equal((await agent.collect(id)).result, 'the answer');
    await worker.stop();

    // The same person sees it with another client too; another person does not.
    assert.equal((await (await signIn('alice')).ask(id)).status, 'complete');
    const stranger = await signIn('Bob <bob@example.org>');
    const { isError } = await stranger.call('observe', { what: 'command_result', correlation_id: id });
    assert.ok(isError);
  }));

test('the metadata are where the challenge says, and at the root', TIMEOUT, async () => {
  const { status, error, challenge } = await ask();
  assert.deepEqual([status, error], [401, 'token_missing']);
  const [, url] = challenge.match(/resource_metadata="([^"]+)"/);
  assert.equal(url, `${services.gatewayUrl}/.well-known/oauth-protected-resource/mcp`);
  assert.match(challenge, /scope="callslip.client"/);
  const expected = {
    resource,
    authorization_servers: [provider.issuer],
    scopes_supported: ['callslip.client', 'callslip.view', 'callslip.admin', 'callslip.work'],
    bearer_methods_supported: ['header'],
  };
  for (const place of [url, url.replace(/\/mcp$/, '')]) {
    assert.deepEqual(await (await fetch(place)).json(), expected);
  }
});

for (const alg of ['RS256', 'ES256', 'EdDSA']) {
  test(`tokens signed with ${alg} are taken`, TIMEOUT, () => services.step(async () => {
    provider.alg = alg;
    const token = await tokenFor('alice', 'callslip.client');
    assert.equal(JSON.parse(Buffer.from(token.split('.')[0], 'base64url')).alg, alg);
    assert.equal((await ask(token)).status, 200);
  }));
}

test('a scope lets in where its role may go', TIMEOUT, () => services.step(async () => {
  const viewer = await tokenFor('eve', 'callslip.view');
  assert.equal((await ask(viewer)).status, 200);
  const { status, error, challenge } = await ask(viewer, '/pending-queries');
  assert.deepEqual([status, error], [403, 'role_not_allowed']);
  assert.match(challenge, /error="insufficient_scope".*scope="callslip.work"/);
}));

test('tokens that are for others, or for something else, are refused', TIMEOUT, () =>
  services.step(async () => {
    const elsewhere = await tokensFor('alice', 'callslip.client', 'https://other.example/mcp');
    const openid = await tokensFor('alice', 'openid callslip.client');
    const good = openid.access_token;
    assert.equal((await ask(good)).status, 200);
    const bad = {
      [elsewhere.access_token]: /not for this resource/,
      [openid.id_token]: /not an access token of type/,
      [`${good.slice(0, -4)}AAAA`]: /signature is wrong/,
      [openid.refresh_token]: /not a signed JWT/,
    };
    for (const [token, reason] of Object.entries(bad)) {
      const { status, error, challenge } = await ask(token);
      assert.deepEqual([status, error], [401, 'token_invalid']);
      assert.match(challenge, /error="invalid_token"/);
      assert.match(challenge, reason);
      assert.match(challenge, /resource_metadata="/);
      assert.ok(!services.gateway.log.includes(token));
    }
    assert.match(services.gateway.log, /"token refused".*"audience_wrong"/);
  }));

test('a held call ends with its token, and goes on with a refreshed one', TIMEOUT, () =>
  services.step(async () => {
    provider.tokenTtl = 2;
    const agent = await signIn('carol');
    const token = await tokenFor('browser', 'callslip.work');
    provider.tokenTtl = 600;
    const held = ask(token, '/pending-queries?wait=5&target=elsewhere');
    // Nobody does it: the question waits for longer than the token lasts.
    const id = await agent.submit({ action: 'execute_js', script: 'never' });
    const answer = await agent.ask(id, 4_000);
    assert.equal(answer.final, false);
    assert.equal(provider.grants.refresh_token, 1);
    const { status, error, challenge } = await held;
    assert.deepEqual([status, error], [401, 'token_unknown']);
    assert.match(challenge, /error="invalid_token", resource_metadata="/);
  }));

test('keys that are rotated are fetched again, once for all who come', { timeout: stretched(60_000) }, () =>
  services.step(async () => {
    const old = await tokenFor('alice', 'callslip.client');
    const before = provider.keyRequests;
    provider.rotateKeys('second');
    const fresh = await tokenFor('alice', 'callslip.client');
    // The gateway fetches keys for a name that it does not know twice a minute at most.
    let answers;
    do {
      await new Promise((resolve) => { setTimeout(resolve, 250); });
      answers = await Promise.all(Array.from({ length: 5 }, () => ask(fresh)));
      // Those before go on meanwhile.
      if (provider.keyRequests === before) assert.equal((await ask(old)).status, 200);
    } while (answers[0].status === 401);
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(provider.keyRequests, before + 1);
    const { status, challenge } = await ask(old);
    assert.equal(status, 401);
    assert.match(challenge, /no key of the token's kid/);
  }));
