/**
 * Programs that take the gateway's place: they get no token, their answers are not believed, and
 * work resumes once the gateway is back.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { proofOf, signRequest } from '../support/request_signature.js';
import { Bridge } from './support/bridge.js';
import { startBrowser } from './support/chromium.js';
import { House } from './support/house.js';
import { Impostor, relay } from './support/impostor.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: stretched(60_000) };
const UNPROVEN = 'unproven_answer';

/** The structured answer of a tool call. */
const saidOf = ({ result }) => result.structuredContent;

async function secretsOf({ tokenFile }) {
  return (await readFile(tokenFile, 'utf8')).match(/\b[0-9a-f]{64}\b/g);
}

async function assertHeardNoSecret(impostor, services) {
  for (const secret of await secretsOf(services)) assert.ok(!impostor.heard.includes(secret));
}

async function untilPopupSays(browser, text) {
  const popup = await browser.openExtensionPage('/popup.html');
  await popup.locator('#state', { hasText: text }).waitFor();
  return popup;
}

describe('a program at the default address', () => {
  test('gets no requests from an unpaired browser', TIMEOUT, async (context) => {
    const impostor = await Impostor.start();
    context.after(() => impostor.stop());
    const browser = await startBrowser({ defaultUrl: impostor.url });
    context.after(() => browser.stop());
    const popup = await untilPopupSays(browser, 'Not paired');
    await popup.locator('#error', { hasText: 'until you pair it' }).waitFor();
    await popup.getByRole('button', { name: 'Pair with a gateway' }).waitFor();
    assert.equal(await popup.isVisible('#gateway'), false);
    assert.equal(await browser.worker.evaluate(() => chrome.action.getBadgeText({})), '?');
    const options = await browser.openExtensionPage('/options.html');
    await options.getByRole('button', { name: 'Save' }).click();
    await options.locator('output', { hasText: 'Enter the token' }).waitFor();
    assert.deepEqual(impostor.requests, []);
    // With the setting that no token is required, the user has chosen to trust it.
    const asked = impostor.asked();
    await options.getByRole('checkbox', { name: 'requires no token' }).check();
    await options.getByRole('button', { name: 'Save' }).click();
    await asked;
  });
});

describe('a program that takes the place of a gateway', () => {
  let house;
  let bridge;
  before(async () => {
    house = await House.open({ guarded: true });
    bridge = await Bridge.start(['--gateway', house.gatewayUrl, '--token-file', house.tokenFile]);
    house.onClose(() => bridge.close());
  });
  after(() => house?.close());

  async function titleOf(page, tabId) {
    const params = { action: 'execute_js', script: 'document.title', tab_id: tabId, wait_ms: 20_000 };
    const answer = saidOf(await bridge.call('interact', params));
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    return answer.result;
  }

  test('gets no secrets, is not trusted, and leaves no trace', TIMEOUT, (context) => house.step(async () => {
    await bridge.initialize();
    const page = await house.browser.open(`${house.pages.url}/`);
    const tabId = await house.browser.tabIdOf(page);
    assert.equal(await titleOf(page, tabId), await page.title());

    const port = Number(house.gateway.address.split(':')[1]);
    await house.gateway.stop();
    const impostor = await Impostor.start(port);
    context.after(() => impostor.stop());
    impostor.command = { action: 'execute_js', script: 'document.title = "taken over"', tab_id: tabId };
    const refused = saidOf(await bridge.call('observe', { what: 'pending_commands' }));
    assert.equal(refused.reason, UNPROVEN);
    assert.match(refused.error, /Something else answers at http:.*does not know the token/);
    assert.doesNotMatch(JSON.stringify(bridge.messages), /a lie/);

    // Two more requests, so that the answer to the first one has been processed.
    await impostor.asked(2);
    const popup = await untilPopupSays(house.browser, 'Gateway not verified');
    await popup.locator('#error', { hasText: 'does not know your token' }).waitFor();
    assert.equal(await house.browser.currentWorker().evaluate(() =>
      chrome.action.getBadgeText({})), '!!');
    await popup.close();
    const ofExtension = impostor.requests.filter(({ url }) => !url.startsWith('/mcp'));
    assert.ok(ofExtension.length >= 2);
    for (const { url, body } of ofExtension) assert.equal(url + body, '/healthz');
    await assertHeardNoSecret(impostor, house);
    assert.notEqual(await page.title(), 'taken over');

    await impostor.stop();
    await house.startGateway();
    assert.equal(await titleOf(page, tabId), await page.title());
    assert.notEqual(await page.title(), 'taken over');
  }));

  test('is detected on the options page', TIMEOUT, async (context) => {
    const impostor = await Impostor.start();
    context.after(() => impostor.stop());
    const options = await house.browser.openExtensionPage('/options.html');
    await options.fill('[name=serverUrl]', impostor.url);
    await options.getByRole('button', { name: 'Test connection' }).click();
    await options.locator('output', { hasText: 'does not know this token' }).waitFor();
    await assertHeardNoSecret(impostor, house);
    await options.close();
  });

  test('content scripts cannot read the token', async () => {
    const page = await house.browser.open(`${house.pages.url}/`);
    const tabId = await house.browser.tabIdOf(page);
    const [{ result }] = await house.browser.currentWorker().evaluate((id) =>
      chrome.scripting.executeScript({
        target: { tabId: id },
        func: () => chrome.storage.local.get(null)
          .then((all) => JSON.stringify(all), (error) => `refused: ${error.message}`),
      }), tabId);
    assert.match(result, /^refused: .*(access|allowed)/i);
    await page.close();
  });
});

describe('a program that relays requests', () => {
  let services;
  let impostor;
  let bridge;

  async function open(context, { isAllowed }) {
    impostor = await Impostor.start();
    context.after(() => impostor.stop());
    const gatewayOptions = isAllowed ? ['--allowed-hosts', impostor.host] : [];
    services = await Services.open({ guarded: true, gatewayOptions });
    context.after(() => services.close());
    bridge = await Bridge.start(['--gateway', impostor.url, '--token-file', services.tokenFile]);
    context.after(() => bridge.close());
  }

  const gateway = () => services.gateway.address;
  const handIn = () => bridge.call('interact', { action: 'get_page' });

  async function commands() {
    const own = await Bridge.start(
      ['--gateway', services.gatewayUrl, '--token-file', services.tokenFile]);
    try {
      await own.initialize();
      return saidOf(await own.call('observe', { what: 'pending_commands' })).pending.length;
    } finally {
      await own.close();
    }
  }

  const ways = [
    ['unchanged', () => ({})],
    ['with another Host', () => ({ host: gateway() })],
  ];
  for (const [how, changed] of ways) {
    test(`gets no proof and no secrets when it forwards them ${how}`, TIMEOUT, async (context) => {
      await open(context, { isAllowed: false });
      impostor.answer = (request) => relay(gateway(), request, changed());
      const { error } = await bridge.initialize();
      assert.equal(error.data.reason, UNPROVEN);
      const browser = await startBrowser({
        serverUrl: impostor.url, token: await services.tokenOf('extension'),
      });
      context.after(() => browser.stop());
      await untilPopupSays(browser, 'Gateway not verified');
      assert.deepEqual(impostor.paths.sort(), ['/healthz', '/mcp']);
      await assertHeardNoSecret(impostor, services);
      assert.equal(await commands(), 0);
    });
  }

  test('cannot change answers undetected even if its host is allowed', TIMEOUT, async (context) => {
    await open(context, { isAllowed: true });
    impostor.answer = (request) => relay(gateway(), request);
    assert.equal((await bridge.initialize()).result.serverInfo.name, 'callslip');

    const changes = [
      (answer) => ({ ...answer, body: answer.body.toString().replace('"id":', ' "id":') }),
      (answer) => ({ ...answer, status: 201 }),
      ({ headers: { 'callslip-proof': _, ...headers }, ...answer }) => ({ ...answer, headers }),
      (answer) => ({
        ...answer,
        headers: { ...answer.headers, 'content-type': 'text/event-stream' },
        body: `data: ${answer.body}\n\n`,
      }),
    ];
    for (const change of changes) {
      impostor.answer = async (request) => change(await relay(gateway(), request));
      assert.equal(saidOf(await bridge.call('observe', { what: 'pending_commands' })).reason, UNPROVEN);
    }
    impostor.answer = (request) => relay(gateway(), request);
    const said = saidOf(await bridge.call('observe', { what: 'pending_commands' }));
    assert.equal(said.reason, undefined, JSON.stringify(said));
  });

  test('cannot replay a request', TIMEOUT, async (context) => {
    await open(context, { isAllowed: true });
    impostor.answer = (request) => relay(gateway(), request);
    await bridge.initialize();
    assert.equal(saidOf(await handIn()).status, 'queued');
    assert.equal(await commands(), 1);
    const recorded = impostor.requests.findLast(({ body }) => body.includes('get_page'));
    for (let i = 0; i < 3; i += 1) {
      const answer = await relay(gateway(), recorded);
      assert.equal(answer.status, 401);
      assert.equal(JSON.parse(answer.body).error, 'signature_replayed');
      assert.equal(answer.headers['callslip-proof'], undefined);
    }
    // Nor with a changed body, nor with another Host.
    const changed = { ...recorded, body: recorded.body.replace('get_page', 'reload') };
    const length = { 'content-length': Buffer.byteLength(changed.body) };
    assert.equal(JSON.parse((await relay(gateway(), changed, length)).body).error, 'signature_wrong');
    const elsewhere = await relay(gateway(), recorded, { host: gateway() });
    assert.equal(JSON.parse(elsewhere.body).error, 'signature_wrong');
    assert.equal(await commands(), 1);
  });
});

describe('signed requests', () => {
  let services;
  before(async () => { services = await Services.open({ guarded: true }); });
  after(() => services?.close());

  /** Sends a signed request; returns the answer, and whether its proof is valid. */
  async function ask(token, method, target, { body, headers = {}, ...signing } = {}) {
    const host = services.gateway.address;
    const { authorization, nonce } = signRequest(token, { method, host, target, body, ...signing });
    const answer = await new Promise((resolve, reject) => {
      const request = {
        method,
        url: target,
        headers: {
          host,
          authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        body,
      };
      relay(host, request).then(resolve, reject);
    });
    const proof = answer.headers['callslip-proof'];
    const { status } = answer;
    const isProven = proof === proofOf(token, { nonce, status, body: answer.body });
    const isStream = proof === proofOf(token, { nonce, status });
    return { ...answer, proof, isProven, isStream };
  }

  /** All routes, from the gateway's own metrics. */
  async function routes() {
    const { body } = await ask(await services.tokenOf('viewer'), 'GET', '/metrics');
    const found = body.toString()
      .matchAll(/^callslip_http_requests_under_way\{method="(\w+)",route="([^"]+)"\}/gm);
    return [...found].map(([, method, route]) => [method, route])
      .filter(([method]) => method !== 'other');
  }

  test('are answered with a proof on every route, whatever the status is', TIMEOUT, async () => {
    const all = await routes();
    assert.ok(all.length > 40, String(all.length));
    assert.ok(all.some(([, route]) => route === '/mcp'));
    const seen = new Set();
    for (const role of ['agent', 'extension', 'viewer', 'admin', 'runner']) {
      const token = await services.tokenOf(role);
      for (const [method, route] of [...all, ['GET', '/nothing'], ['PUT', '/mcp']]) {
        // With ids that do not exist, so that no request waits.
        const target = route.replace(/\{\w+\}/g, 'x');
        const body = ['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : undefined;
        const answer = await ask(token, method, target, { body });
        assert.ok(answer.isProven || answer.isStream,
          `${role} ${method} ${target}: ${answer.status} ${answer.body}`);
        seen.add(answer.status);
      }
    }
    for (const status of [200, 400, 401, 403, 404, 405]) assert.ok(seen.has(status), `no ${status}`);
  });

  test('get the time of the gateway if their own is stale', async () => {
    const token = await services.tokenOf('extension');
    const answer = await ask(token, 'GET', '/pending-queries', { time: Date.now() - 400_000 });
    const { error, server_time_ms: time } = JSON.parse(answer.body);
    assert.equal(answer.status, 401);
    assert.equal(error, 'signature_stale');
    assert.ok(Math.abs(time - Date.now()) < 60_000);
    assert.ok(answer.isProven);
    assert.equal((await ask(token, 'GET', '/pending-queries', { time })).status, 200);
  });

  test('get no proof if their token is unknown', async () => {
    const answer = await ask('0'.repeat(64), 'GET', '/pending-queries');
    assert.equal(JSON.parse(answer.body).error, 'token_unknown');
    assert.equal(answer.proof, undefined);
  });
});
