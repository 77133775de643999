import assert from 'node:assert/strict';
import {test} from 'node:test';
import {challengeOf, hostOf} from '../src/api/provider.ts';

test('the challenge is that of RFC 7636, appendix B', async () => {
  assert.equal(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});

test('the button names the host', () => {
  assert.equal(hostOf({issuer: 'https://login.example/realms/team'}), 'login.example');
});
