import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayPage } from '../../extension/src/gateway_page.js';

test('a local gateway is recognized by all names of this machine', () => {
  const server = 'http://127.0.0.1:7890';
  for (const url of ['http://127.0.0.1:7890/ui/', 'http://localhost:7890/', 'http://[::1]:7890/ui/sessions/a',
    'http://127.1.2.3:7890/', 'http://app.localhost:7890/', 'https://localhost:7890/', 'http://LOCALHOST:7890/ui/',
    'http://0.0.0.0:7890/', 'http://localhost.:7890/', 'http://[::ffff:127.0.0.1]:7890/', 'view-source:http://localhost:7890/ui/', 'blob:http://localhost:7890/1f2e']) {
    assert.equal(isGatewayPage(url, server), true, url);
  }
  for (const url of ['http://127.0.0.1:7891/', 'http://example.org:7890/', 'http://example.org/', 'about:blank', '',
    'chrome://extensions/', 'http://localhost/', 'file:///ui/', 'http://127.0.0.1.example.org:7890/']) {
    assert.equal(isGatewayPage(url, server), false, url);
  }
});

test('a remote gateway is recognized only by its own name', () => {
  const server = 'https://callslip.example.org';
  assert.equal(isGatewayPage('https://callslip.example.org/ui/', server), true);
  assert.equal(isGatewayPage('https://callslip.example.org:443/', server), true);
  assert.equal(isGatewayPage('http://callslip.example.org/', server), false);
  assert.equal(isGatewayPage('https://localhost/', server), false);
  assert.equal(isGatewayPage('https://other.example.org/', server), false);
});
