/** Logins at the page through a real authorization server, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { stretched } from '../support/patience.js';
import { AuthorizationServer } from './support/authorization_server.js';
import { checkAccess, Person, screen } from './support/page.js';
import { Services } from './support/services.js';

const CLIENT = 'callslip-page';

describe('a login with an authorization server', { timeout: stretched(180_000) }, () => {
  let provider;
  let services;
  let browser;
  let host;
  before(async () => {
    provider = await AuthorizationServer.start();
    const gatewayOptions = process.env.CALLSLIP_WEB_ROOT ? ['--web-root', process.env.CALLSLIP_WEB_ROOT] : [];
    services = await Services.open({ gatewayOptions });
    services.onClose(() => provider.close());
    // Each needs the other's address.
    await services.gateway.stop();
    provider.addClient({ client_id: CLIENT, redirect_uris: [`${services.gatewayUrl}/ui/login`],
      token_endpoint_auth_method: 'none', grant_types: ['authorization_code'], response_types: ['code'] });
    gatewayOptions.push('--oauth-issuer', provider.issuer, '--oauth-resource', `${services.gatewayUrl}/mcp`,
      '--oauth-page-client', CLIENT);
    await services.startGateway();
    host = new URL(provider.issuer).host;
    browser = await chromium.launch({ executablePath: process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'] });
    services.onClose(() => browser.close());
  });
  after(() => services?.close());

  const person = async (options) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(60_000);
    return new Person({ url: (path) => `${services.gatewayUrl}/ui/${path}` }, context);
  };
  const begin = (page) => page.getByRole('button', { name: `Sign in with ${host}` }).click();
  const agree = async (page, login) => {
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    // After the login the server asks for consent.
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
    await page.locator('button[type=submit]').click();
  };

  test('returns to the linked page, and leaves no trace of a token', () => services.step(async () => {
    const one = await person();
    const page = await one.open('commands?q=some');
    await page.getByRole('button', { name: `Sign in with ${host}` }).waitFor();
    assert.equal(await page.getByLabel('Token').count(), 0);
    await screen(page, 'login-provider');
    const sent = [];
    page.on('request', (request) => sent.push(request.url()));
    await begin(page);
    await agree(page, 'alice');
    await page.getByRole('table', { name: 'Commands' }).or(page.getByRole('heading', { name: 'Commands' })).first().waitFor();
    assert.ok(page.url().endsWith('/ui/commands?q=some'), page.url());
    await page.getByText('oauth-alice').first().waitFor();
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML]));
    assert.doesNotMatch(kept, /eyJ/, 'no JWT');
    assert.deepEqual(sent.filter((url) => /eyJ|access_token/.test(url)), []);
    assert.equal(provider.grants.authorization_code, 1);
    // Still signed in after a reload; then signs out.
    await page.reload();
    await page.getByText('oauth-alice').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await begin(page);
    // The authorization server still has its session.
    await page.getByText('oauth-alice').first().waitFor();
    await one.close();
  }));

  test('reports that it was rejected, or not started in this tab', () => services.step(async () => {
    const one = await person();
    const page = await one.open('sessions');
    await begin(page);
    await page.locator('a[href*="/abort"]').click();
    await page.getByText(`${host} rejected the sign-in`).waitFor();
    await screen(page, 'login-provider-refused');
    await page.goto(`${services.gatewayUrl}/ui/login?code=stolen&state=mine`);
    await page.getByText('This sign-in was not started in this tab.').waitFor();
    assert.ok(page.url().endsWith('/ui/login'), page.url());
    assert.equal(provider.grants.authorization_code, 2);
    await one.close();
  }));

  test('ends when its token expires, and can be repeated', () => services.step(async () => {
    provider.tokenTtl = 4;
    const one = await person();
    const page = await one.open('sessions');
    await begin(page);
    await agree(page, 'bob');
    await page.getByText('oauth-bob').first().waitFor();
    provider.tokenTtl = 600;
    await page.getByRole('button', { name: `Sign in with ${host}` }).waitFor();
    await begin(page);
    await page.getByText('oauth-bob').first().waitFor();
    await one.close();
  }));

  test('is accessible in light and in dark mode', () => services.step(async () => {
    for (const colorScheme of ['light', 'dark']) {
      const one = await person({ colorScheme, viewport: { width: 320, height: 640 } });
      const page = await one.open('sessions');
      await page.getByRole('button', { name: `Sign in with ${host}` }).waitFor();
      await checkAccess(page, colorScheme);
      await screen(page, `login-provider-${colorScheme}`);
      await one.close();
    }
  }));
});
