/** Whatever happens to the gateway, each call gets exactly one answer. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { FakeWorker } from './support/fake_worker.js';
import { Services } from './support/services.js';
import { Sessions } from './support/watcher.js';

const TIMEOUT = { timeout: stretched(60_000) };

/** The timeouts of each class of calls, without the server's waits, short enough for a test. */
const SHORT_TIMEOUTS = ['fast', 'slow', 'blocking'].flatMap((name, i) => [
  `--timeout-${name}`, `${500 * (i + 1)}ms`, `--server-wait-${name}`, '0s']);

const CLICK = { action: 'click', selector: '#go' };

/** The number of kills of the gateway, one each second. */
const KILLS = 12;

async function open(context) {
  const services = await Services.open();
  context.after(() => services.close());
  return services;
}

async function startBridge(context, services, ...args) {
  const bridge = services.keepAgent(await Bridge.start(['--gateway', services.gatewayUrl, ...args]));
  await bridge.initialize();
  return bridge;
}

function assertAnsweredOnce(bridge) {
  for (const [id, answers] of bridge.answers) {
    assert.equal(answers.length, 1, `${id}: ${JSON.stringify(answers)}`);
  }
}

test('read-only calls continue with the next gateway', TIMEOUT, async (context) => {
  const services = await open(context);
  await services.step(async () => {
    const bridge = await startBridge(context, services);
    const sessions = new Sessions(services);
    const session_id = await sessions.create();
    await sessions.call('POST', `/sessions/${session_id}/queue`, { message: 'wait' });
    const { result } = await bridge.call('interact', CLICK);
    const { correlation_id } = result.structuredContent;
    const waits = [
      bridge.call('observe', { what: 'command_result', correlation_id, wait_ms: 30_000 }),
      bridge.request('tasks/result', { taskId: correlation_id }),
      bridge.call('session', { what: 'wait', session_id }),
    ];
    const underWay = /callslip_http_requests_under_way{[^}]*route="\/mcp"} 3/;
    const metrics = async () => (await fetch(`${services.gatewayUrl}/metrics`)).text();
    while (!underWay.test(await metrics())) await pause(10);
    await services.gateway.kill();
    // These calls come while there is no gateway.
    waits.push(bridge.call('observe', { what: 'pending_commands' }), bridge.request('tools/list'));
    await services.startGateway();
    const worker = FakeWorker.start(services.gatewayUrl, () => ({ success: true }));
    await sessions.call('DELETE', `/sessions/${session_id}/queue`);
    const statuses = (await Promise.all(waits)).map(
      (answer) => answer.result?.structuredContent?.status ?? Object.keys(answer.result ?? {})[0]);
    await worker.stop();
    assert.deepEqual(statuses, ['complete', 'complete', 'complete', 'complete', 'tools']);
    assertAnsweredOnce(bridge);
  });
});

test('calls to a frozen gateway are each answered once in time', TIMEOUT, async (context) => {
  const services = await open(context);
  await services.step(async () => {
    const bridge = await startBridge(context, services, ...SHORT_TIMEOUTS);
    await services.gateway.freeze();
    const calls = [
      bridge.request('tools/list'),
      bridge.call('interact', CLICK),
      bridge.call('observe', { what: 'command_result', correlation_id: 'ann_1_a' }),
    ];
    const cancelled = bridge.send('tools/call', { name: 'interact', arguments: CLICK });
    await bridge.notify('notifications/cancelled', { requestId: cancelled.id });
    const [list, interact, observe] = await Promise.all(calls);
    services.gateway.thaw();

    assert.equal(list.error.code, -32001);
    assert.equal(interact.result.isError, true);
    assert.match(interact.result.structuredContent.hint, /request_id/);
    assert.equal(observe.result.structuredContent.correlation_id, 'ann_1_a');
    assert.ok((await bridge.request('ping')).result);
    assert.deepEqual(bridge.answers.get(cancelled.id), []);
    bridge.answers.delete(cancelled.id);
    assertAnsweredOnce(bridge);
  });
});

test('the bridge survives a gateway restart with new tokens and key', TIMEOUT, async (context) => {
  const services = await Services.open({ guarded: true });
  context.after(() => services.close());
  await services.step(async () => {
    const bridge = await startBridge(context, services, '--token-file', services.tokenFile);
    await services.gateway.kill();
    await rm(services.tokenFile);
    await services.startGateway();

    const answers = await Promise.all(Array.from({ length: 50 }, () => bridge.request('ping')));
    for (const answer of answers) assert.ok(answer.result, JSON.stringify(answer));
    assertAnsweredOnce(bridge);
  });
});

test('a call whose connection breaks registers only one command', TIMEOUT, async (context) => {
  const services = await open(context);
  // Forwards each request, but resets the connection instead of the first answer to an interact.
  let cut = 0;
  const proxy = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(services.gatewayUrl + request.url,
      { method: request.method, headers, body: body || undefined });
    const text = await answer.text();
    if (body.includes('"interact"') && cut++ === 0) return request.socket.resetAndDestroy();
    const session = answer.headers.get('mcp-session-id');
    response.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? 'application/json',
      ...(session ? { 'Mcp-Session-Id': session } : {}),
    }).end(text);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  context.after(() => proxy.close());
  await services.step(async () => {
    const gateway = `http://127.0.0.1:${proxy.address().port}`;
    const bridge = services.keepAgent(await Bridge.start(['--gateway', gateway]));
    await bridge.initialize();
    const answer = await bridge.call('interact', CLICK);
    assert.ok(!answer.result.isError, JSON.stringify(answer));
    assert.equal(cut, 2);
    const { result } = await bridge.call('observe', { what: 'pending_commands' });
    const ids = result.structuredContent.pending.map((command) => command.correlation_id);
    assert.deepEqual(ids, [answer.result.structuredContent.correlation_id]);
    assertAnsweredOnce(bridge);
    await bridge.close();
  });
});

test('calls get one answer while the gateway is killed repeatedly', TIMEOUT, async (context) => {
  const services = await open(context);
  await services.step(async () => {
    const bridge = await startBridge(context, services);
    let ending = false;
    const counts = { answered: 0, failed: 0 };
    const caller = async (next) => {
      while (!ending) {
        const { result } = await next();
        counts[!result || result.isError ? 'failed' : 'answered'] += 1;
      }
    };
    const callers = [
      () => bridge.request('ping'),
      () => bridge.request('tools/list'),
      () => bridge.call('observe', { what: 'pending_commands' }),
      () => bridge.call('interact', { ...CLICK, wait_ms: 300 }),
    ].flatMap((next) => [caller(next), caller(next)]);
    for (let i = 0; i < KILLS; ++i) {
      // The pace of the faults, not a wait.
      await pause(1000);
      await services.gateway.kill();
      await services.startGateway();
    }
    ending = true;
    await Promise.all(callers);
    assertAnsweredOnce(bridge);
    assert.ok(counts.answered > 10 * KILLS, JSON.stringify(counts));
    context.diagnostic(JSON.stringify(counts));
    const last = await bridge.request('ping');
    assert.ok(last.result, JSON.stringify(last));
  });
});
