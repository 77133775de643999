/**
 * A gateway that accepts the tokens of a real authorization server, and the official client, which
 * discovers the server by itself.
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
  // The gateway has to know its own URL, which is that of its first start.
  await services.gateway.stop();
  resource = `${services.gatewayUrl}/mcp`;
  gatewayOptions.push('--oauth-issuer', provider.issuer, '--oauth-resource', resource);
  await services.startGateway();
});

after(() => services?.close());

function transportOf(authProvider) {
  return new StreamableHTTPClientTransport(new URL(resource), { authProvider });
}

/** An agent whose user has signed in as `login` and consented. */
async function signIn(login, oauth = new OAuthClient()) {
  const transport = transportOf(oauth);
  const first = new Client({ name: 'callslip-e2e', version: '1.0.0' });
  await assert.rejects(first.connect(transport), UnauthorizedError);
  await transport.finishAuth(await provider.approve(oauth.authorizationUrl, login));
  return services.keepAgent(await Agent.over(transportOf(oauth)));
}

/** The token of a client that requests `scope`, with a user who consents. */
async function tokenFor(login, scope) {
  const { redirectUrl, clientMetadata } = new OAuthClient();
  const metadata = await discoverAuthorizationServerMetadata(provider.issuer);
  const clientInformation = await registerClient(
    provider.issuer, { metadata, clientMetadata, scope });
  const request = { metadata, clientInformation, resource: new URL(resource) };
  const { authorizationUrl, codeVerifier } = await startAuthorization(
    provider.issuer, { ...request, redirectUrl, scope });
  const authorizationCode = await provider.approve(authorizationUrl, login);
  const { access_token: token } = await exchangeAuthorization(
    provider.issuer, { ...request, authorizationCode, codeVerifier, redirectUri: redirectUrl });
  return token;
}

/** Calls with a token; returns status, error code and challenge. */
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

test('a client discovers the server, registers, gets consent, and calls with its token', TIMEOUT, () =>
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

    // The same user sees it with another client too; another user does not.
    assert.equal((await (await signIn('alice')).ask(id)).status, 'complete');
    const stranger = await signIn('Bob <bob@example.org>');
    const { isError } = await stranger.call('observe', { what: 'command_result', correlation_id: id });
    assert.ok(isError);

    // A client may also look for the metadata at the root.
    const root = await fetch(`${services.gatewayUrl}/.well-known/oauth-protected-resource`);
    assert.equal((await root.json()).resource, resource);
    const forged = `${token.slice(0, -4)}AAAA`;
    const { status, error, challenge } = await ask(forged);
    assert.deepEqual([status, error], [401, 'token_invalid']);
    assert.match(challenge, /signature is wrong.*resource_metadata="/);
    assert.match(services.gateway.log, /"token refused".*"signature_wrong"/);
    assert.ok(!services.gateway.log.includes(forged));
  }));

test('a held request ends when its token expires, and a client refreshes its token', TIMEOUT, () =>
  services.step(async () => {
    provider.tokenTtl = 2;
    const agent = await signIn('carol');
    const token = await tokenFor('browser', 'callslip.work');
    provider.tokenTtl = 600;
    const held = ask(token, '/pending-queries?wait=5&target=elsewhere');
    // No worker executes it: the question waits for longer than the token lasts.
    const id = await agent.submit({ action: 'execute_js', script: 'never' });
    const answer = await agent.ask(id, 4_000);
    assert.equal(answer.final, false);
    assert.equal(provider.grants.refresh_token, 1);
    const { status, error, challenge } = await held;
    assert.deepEqual([status, error], [401, 'token_unknown']);
    assert.match(challenge, /error="invalid_token", resource_metadata="/);
  }));
