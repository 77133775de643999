import assert from 'node:assert/strict';
import {test} from 'node:test';
import {addressOf, hostOf} from '../src/api/provider.ts';

const provider = {issuer: 'https://login.example/realms/team', authorization_endpoint: 'https://login.example/authorize?kept=1',
  client_id: 'page', scope: 'callslip.client callslip.view', resource: 'https://gw.example/mcp'};

test('the address has what PKCE and the server want, and the challenge of RFC 7636, appendix B', async () => {
  Object.assign(globalThis, {location: new URL('https://gw.example/ui/sessions')});
  const url = new URL(await addressOf(provider, 'the-state', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'));
  assert.equal(url.origin + url.pathname, 'https://login.example/authorize');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    kept: '1', response_type: 'code', client_id: 'page', redirect_uri: 'https://gw.example/ui/login',
    scope: 'callslip.client callslip.view', resource: 'https://gw.example/mcp', state: 'the-state',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256'});
  assert.equal(hostOf(provider), 'login.example');
});
