import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSecretName, shownAddress, shownText } from '../../extension/src/secrets.js';
import { shownBody, shownHeaders } from '../../extension/src/request_details.js';

const raw = (...texts) => ({ raw: texts.map((text) => ({ bytes: new TextEncoder().encode(text).buffer })) });
const HUSH = 'hush7731';

test('secret names are recognized', () => {
  for (const name of ['pass', 'pw', 'userpw', 'passphrase', 'passcode', 'encpass', 'otp', 'totp', 'otpCode', 'pin',
    'newPin', 'mfa_code', 'verification_code', 'verificationCode', 'code', 'card[number]', 'cardNumber', 'cc-number',
    'cc-csc', 'cc-exp', 'card_holder', 'cvc', 'cvv2', 'pan', 'X-JWT', 'x-otp', 'Authorization', 'Cookie', 'j_password',
    'session[password]', 'apiKey', 'api-key', 'csrfToken', 'client_secret', 'refresh_token', '2fa', 'credentials', 'sid',
    'iban', 'ssn', 'privateKey', 'SAMLResponse', 'recovery-code', 'sms code', 'kennwort', 'private_key']) {
    assert.equal(isSecretName(name), true, name);
  }
  for (const name of ['name', 'author', 'passenger', 'country_code', 'postal-code', 'statusCode', 'code_challenge_method',
    'pinned', 'opinion', 'cc', 'company', 'span', 'spawn', 'laptop', 'expires', 'card_title', 'Accept', 'key', 'id', 'user',
    'shipping', 'side', 'assign']) {
    assert.equal(isSecretName(name), false, name);
  }
});

describe('a reported body', () => {
  test('omits the values of form fields with secret names', () => {
    const formData = { user: ['ada'], pass: [HUSH], 'card[number]': [HUSH], note: [`my password=${HUSH}`] };
    const shown = shownBody({ formData });
    assert.equal(shown.includes(HUSH), false, shown);
    assert.match(shown, /^user=ada&pass=%28value\+omitted%29&/);
    assert.equal(shownBody(raw(`user=ada&passcode=${HUSH}`)), 'user=ada&passcode=%28value+omitted%29');
  });

  test('omits whole JSON members, and values next to a secret name', () => {
    const bodies = [
      { password: [HUSH] }, { password: { v: HUSH } }, { fields: [{ name: 'password', value: HUSH }] },
      { variables: { input: { otp: 773_155, value: 'x' } } }, [['user', 'ada'], ['pw', HUSH]],
      { card: { number: HUSH, exp_month: 12 } }, { id: 'cc-number', val: HUSH, more: { text: HUSH } },
      { query: `mutation { login(user: "ada", password: "${HUSH}") { ok } }` },
      { query: `mutation { login(input: {p: "${HUSH}"}) { ok } }` },
      { operationName: 'a', query: `query q { a(b: """${HUSH}""") }` },
      { body: JSON.stringify({ passphrase: HUSH }) }, { body: `user=ada&pw=${HUSH}` },
      { text: `eyJhbGciOiJIUzI1NiJ9.eyJ${HUSH}.${HUSH}` }, { a: '4242 4242 4242 4242' },
    ];
    for (const body of bodies) {
      const shown = shownBody(raw(JSON.stringify(body)));
      assert.equal(/hush7731|773155|4242/.test(shown), false, shown);
      assert.match(shown, /\(value omitted\)/);
      JSON.parse(shown);
    }
    const plain = { name: 'Ada', query: 'red shoes', list: [1, 2.5, null, true], time: '1795543110002', more: { id: 'x' } };
    assert.deepEqual(JSON.parse(shownBody(raw(JSON.stringify(plain)))), plain);
    assert.equal(shownBody(raw('{"a":', '1}')), '{"a":1}');
  });

  test('is reduced to its length in any other format', () => {
    for (const text of [`password: ${HUSH}`, `user=ada password=${HUSH}`, `<login><password>${HUSH}</password></login>`,
      `"${HUSH}"`, '773155', `{"password": "${HUSH}`, `${HUSH}=`, `{"a": 1}\n{"password": "${HUSH}"}`]) {
      assert.equal(shownBody(raw(text)), `(${text.length} bytes, neither a form nor JSON)`);
    }
    const long = JSON.stringify({ a: 'x'.repeat(300_000), pin: HUSH });
    assert.equal(shownBody(raw(long)), `(${long.length} bytes, too long to be looked through)`);
    assert.equal(shownBody({ raw: [{ file: '/a' }] }), undefined);
    assert.equal(shownBody(undefined), undefined);
  });
});

test('a reported address omits its user, and secrets in its query and fragment', () => {
  const shown = {
    'https://a.test/cb?code=x1&state=2': 'https://a.test/cb?code=(value omitted)&state=2',
    'https://a.test/#access_token=x1&b': 'https://a.test/#access_token=(value omitted)&b',
    'https://ada:x1@a.test/?q=a': 'https://a.test/?q=a',
    'https://a.test/?next=%2Fcb%3Fcode%3Dx1&q=%20': 'https://a.test/?next=(value omitted)&q=%20',
    'https://a.test/?key=x1&ticket=x1': 'https://a.test/?key=(value omitted)&ticket=(value omitted)',
    'https://a.test/?p%61ssword=x1': 'https://a.test/?p%61ssword=(value omitted)',
    'https://a.test/a=1;b=2?q=%E0&country_code=de': 'https://a.test/a=1;b=2?q=%E0&country_code=de',
  };
  for (const [url, expected] of Object.entries(shown)) assert.equal(shownAddress(url), expected);
});

test('reported headers omit the values of secret names, and secrets in addresses', () => {
  const list = Object.entries({ 'X-JWT': 'x', 'X-OTP': 'x', Accept: 'a;q=0.9', Referer: 'https://a.test/?access_token=x1',
    Location: '/cb?code=x1', 'X-Any': 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.x1' }).map(([name, value]) => ({ name, value }));
  assert.deepEqual(shownHeaders(list), {
    'x-jwt': '(value omitted)', 'x-otp': '(value omitted)', accept: 'a;q=0.9', referer: 'https://a.test/?access_token=(value omitted)',
    location: '/cb?code=(value omitted)', 'x-any': '(value omitted)',
  });
});

test('a reported text omits the value after a secret name', () => {
  assert.equal(shownText('a: b, token = "x y", d'), 'a: b, token = (value omitted), d');
  assert.equal(shownText('Note: the password is gone'), 'Note: the password is gone');
});
