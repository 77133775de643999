import assert from 'node:assert/strict';
import {test} from 'node:test';
import {challengeOf, goToProvider, hostOf} from '../src/api/provider.ts';

test('the challenge matches the example of RFC 7636, appendix B', async () => {
  assert.equal(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});

test('the button names the host', () => {
  assert.equal(hostOf({issuer: 'https://login.example/realms/team'}), 'login.example');
});

test('a login on an insecure page fails with a hint and sends no request', async () => {
  const before = globalThis.fetch;
  let asked = 0;
  Object.assign(globalThis, {isSecureContext: false, fetch: () => { asked++; return Promise.reject(new Error()); }});
  try {
    await assert.rejects(goToProvider({issuer: 'https://login.example'}),
      ({code, hint}: {code: string; hint: string}) => code === 'insecure_page' && /https.*gateway's machine/.test(hint));
    assert.equal(asked, 0);
  } finally {
    Reflect.deleteProperty(globalThis, 'isSecureContext');
    globalThis.fetch = before;
  }
});
