import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testConnection } from '../../extension/src/connection_test.js';
import { gatewayOfPage, parsePairing, serverUrlWarning, settingsProblem } from '../../extension/src/pairing.js';
import { loadSettings } from '../../extension/src/settings.js';
import { nonceIn, proofOf } from '../support/request_signature.js';
import { FakeStorage } from './support/fake_storage.mjs';

const VALID = { serverUrl: '', token: '', openGateway: true, target: '', name: '' };

describe('the pairing parser', () => {
  const token = 'f'.repeat(64);
  const pairs = [
    [`callslip:http://127.0.0.1:7890#${token}`, { serverUrl: 'http://127.0.0.1:7890', token }],
    [`  callslip:https://gate.example/sub#${token}\n`,
      { serverUrl: 'https://gate.example/sub', token }],
    ['callslip:http://[::1]:7890', { serverUrl: 'http://[::1]:7890', token: '' }],
    ['http://127.0.0.1:7890', null],
    ['callslip:', null],
    ['callslip:ftp://127.0.0.1#x', null],
    ['callslip:http://user:pass@127.0.0.1#x', null],
    ['callslip:http://127.0.0.1#two words', null],
    [`callslip:http://127.0.0.1#${'x'.repeat(513)}`, null],
    ['see callslip:http://127.0.0.1#x', null],
  ];
  for (const [text, expected] of pairs) {
    test(`${expected ? 'accepts' : 'rejects'} ${JSON.stringify(text.slice(0, 50))}`, () => {
      assert.deepEqual(parsePairing(text), expected);
    });
  }
});

test('a gateway page is recognized by its path on a loopback host', () => {
  for (const path of ['/ui', '/ui/', '/ui/start', '/ui/sessions/s-1?seq=3#x']) {
    assert.equal(gatewayOfPage(`http://127.0.0.1:7890${path}`), 'http://127.0.0.1:7890', path);
  }
  assert.equal(gatewayOfPage('https://localhost:8443/ui/start'), 'https://localhost:8443');
  for (const url of ['', 'about:blank', 'http://127.0.0.1:7890/', 'http://127.0.0.1:7890/uix', 'file:///ui/',
    'http://a.example/?/ui/',
    'https://gate.example/ui/start', 'http://192.168.1.7:7890/ui/', 'http://127.0.0.1.example/ui/', 'chrome-extension://ui/ui/', 'view-source:http://127.0.0.1:7890/ui/', undefined]) {
    assert.equal(gatewayOfPage(url), null, url);
  }
});

describe('settings', () => {
  test('are valid if they are empty', () => {
    assert.equal(settingsProblem(VALID), null);
  });

  test('require a token unless the gateway is open', () => {
    const { field, problem } = settingsProblem({ ...VALID, openGateway: false });
    assert.equal(field, 'token');
    assert.match(problem, /Enter the token/);
    assert.equal(settingsProblem({ ...VALID, openGateway: false, token: 'sesame' }), null);
  });

  const addresses = [
    ['', false],
    ['http://127.0.0.1:7890', false],
    ['http://127.1.2.3:7890', false],
    ['http://localhost:7890', false],
    ['http://[::1]:7890', false],
    ['https://gate.example', false],
    ['ftp://gate.example', false],
    ['http://gate.example', true],
    ['http://192.168.1.7:7890', true],
    ['http://127.0.0.1.evil.example', true],
    ['http://localhost.evil.example', true],
  ];
  for (const [address, warned] of addresses) {
    test(`${warned ? 'show' : 'do not show'} a warning for ${address || 'the default'}`, () => {
      assert.equal(serverUrlWarning(address) !== null, warned);
    });
  }

  const problems = [
    ['serverUrl', '127.0.0.1:7890', /http:\/\/ or https/],
    ['serverUrl', 'http://127.0.0.1:7890/#abc', /must not contain/],
    ['serverUrl', 'http://127.0.0.1:7890/?token=abc', /must not contain/],
    ['token', 'a b', /spaces/],
    ['token', 'schlüssel', /non-ASCII/],
    ['token', 'x'.repeat(513), /512/],
    ['target', 'my browser', /letters/],
    ['target', 'x'.repeat(65), /64/],
    ['name', 'x'.repeat(65), /64/],
  ];
  for (const [field, text, sentence] of problems) {
    test(`reject "${text.slice(0, 32)}" as ${field}`, () => {
      const wrong = settingsProblem({ ...VALID, [field]: text });
      assert.equal(wrong.field, field);
      assert.match(wrong.problem, sentence);
    });
  }

  test('load the defaults, and the stored values after a change', async () => {
    const storage = new FakeStorage();
    const load = () => loadSettings({ storage, newId: () => 'w-1', log() {} });
    const settings = await load();
    assert.deepEqual(settings, {
      serverUrl: 'http://127.0.0.1:7890',
      token: undefined,
      paired: false,
      target: 'browser',
      name: '',
      paused: false,
      workerId: 'w-1',
    });
    await storage.set({ target: 'laptop', name: 'Work', paused: true });
    const changed = await load();
    assert.deepEqual(changed, { ...settings, target: 'laptop', name: 'Work', paused: true });
  });
});

describe('the connection test', () => {
  /** A gateway with these answers to /readyz and /query-result, proven with the token `knows`. */
  function run({
    ready = 200, report = [400, 'missing_correlation_id'], token = 'sesame', knows = token,
  }) {
    const asked = [];
    const respond = (headers, text, status) => {
      const nonce = nonceIn(headers.Authorization);
      const proof = nonce && knows ? proofOf(knows, { nonce, status, body: text }) : '';
      return new Response(text, { status, headers: { 'Callslip-Proof': proof } });
    };
    const fetch = async (url, { headers = {} }) => {
      asked.push({ url, headers });
      if (!report) throw new TypeError('Failed to fetch');
      if (url.endsWith('/readyz')) return respond(headers, '{}', ready);
      const [status, error] = report;
      return respond(headers, error ? JSON.stringify({ error }) : '<html>', status);
    };
    const serverUrl = 'http://127.0.0.1:7890/';
    return testConnection({ serverUrl, token, fetch }).then((answer) => ({ ...answer, asked }));
  }

  const outcomes = [
    ['ok', {}, /^Connected/],
    ['ok without tokens', { token: '' }, /^Connected/],
    ['no response', { report: null }, /No response from http:\/\/127\.0\.0\.1:7890\./],
    ['no token', { report: [401, 'token_missing'], token: '' }, /requires a token/],
    ['a gateway that does not know the token', { knows: '' }, /does not know this token/],
    ['a gateway with another token', { knows: 'other' }, /does not know this token/],
    ['the token of an agent', { report: [403, 'role_not_allowed'] }, /not a worker token/],
    ['a foreign origin', { report: [403, 'origin_not_allowed'] }, /--allowed-origins/],
    ['another server', { report: [200], token: '' }, /not a Callslip gateway/],
    ['no tracker', { ready: 503 }, /tracker/],
  ];
  for (const [what, given, sentence] of outcomes) {
    test(`reports ${what}`, async () => {
      const { ok, sentence: told, asksForToken = false } = await run(given);
      assert.match(told, sentence);
      assert.equal(asksForToken, what === 'no token');
      assert.equal(ok, what.startsWith('ok'));
    });
  }

  test('does not send the token, and stops at a gateway that does not know it', async () => {
    const { asked } = await run({ knows: '' });
    assert.deepEqual(asked.map(({ url }) => url), ['http://127.0.0.1:7890/readyz']);
    const { asked: both } = await run({});
    assert.equal(both.length, 2);
    assert.ok(!JSON.stringify([asked, both]).includes('sesame'));
  });
});
