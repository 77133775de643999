/**
 * The spans of tracker, gateway and bridge, at a collector that decodes them by the official
 * protos.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { FakeWorker } from './support/fake_worker.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { binary, ServerProcess } from './support/processes.js';
import { TrackerApi } from './support/tracker_api.js';

const SECRET = 'secret-of-the-page';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const AGENT_SPAN = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${AGENT_SPAN}-01`;
/** Batches are sent almost at once. */
const SOON = { OTEL_BSP_SCHEDULE_DELAY: '50' };

const closers = new WeakMap();

/** Calls `close` at the end of the test, before the earlier ones. */
function onClose(t, close) {
  if (!closers.has(t)) {
    closers.set(t, []);
    t.after(async () => {
      for (const each of closers.get(t).reverse()) await each();
    });
  }
  closers.get(t).push(close);
}

async function startCollector(t) {
  const collector = await OtlpCollector.start();
  onClose(t, () => collector.close());
  return collector;
}

function startWorker(t, gateway) {
  const worker = FakeWorker.start(`http://${gateway.address}`, () => ({ success: true, data: SECRET }));
  onClose(t, () => worker.stop());
}

function connect(t, tracker) {
  const api = new TrackerApi(tracker.address);
  onClose(t, () => api.close());
  return api;
}

/** Tracker and gateway with these variables. */
async function startBoth(t, env) {
  const metrics = ['--metrics-listen', '127.0.0.1:0'];
  const data = await mkdtemp(join(tmpdir(), 'callslip-traces-'));
  onClose(t, () => rm(data, { recursive: true, force: true }));
  const start = async (...words) => {
    const server = await ServerProcess.start(...words, { ...SOON, ...env });
    onClose(t, () => server.stop());
    return server;
  };
  const args = ['--listen', `unix:${data}/tracker.sock`, '--data-dir', data, ...metrics];
  const tracker = await start('callslip-tracker', args);
  const gateway = await start('callslip-gateway', ['--listen', '127.0.0.1:0', '--tracker', tracker.address]);
  const restartTracker = async () => {
    await tracker.kill();
    return start('callslip-tracker', args);
  };
  return { tracker, gateway, data, restartTracker };
}

/** Calls a tool as a client of 2025-11-25 does, whose trace is the agent's own. */
async function callTool(gateway, name, args, headers = { traceparent: TRACEPARENT }) {
  const post = (body, more) => fetch(`http://${gateway.address}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...more },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  const initialized = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  const called = await post({ id: 2, method: 'tools/call', params: { name, arguments: args } },
    { ...headers, 'Mcp-Session-Id': initialized.headers.get('mcp-session-id') });
  return (await called.json()).result;
}

const INTERACT = { action: 'execute_js', script: SECRET, wait_ms: 8000 };

/** The names of a span and its parents, up to the agent's. */
function pathOf(span, spans) {
  const above = spans.find(({ id }) => id === span.parent);
  return above ? [...pathOf(above, spans), span.name] : [span.name];
}

function orphansOf(spans, roots) {
  const ids = new Set([...spans.map(({ id }) => id), ...roots]);
  return spans.filter(({ parent }) => !ids.has(parent));
}

const HTTP = 'POST /mcp';
const MCP = 'tools/call interact';
const REGISTER = 'callslip.tracker.v1.CommandService/RegisterCommand';
const COMPLETE = 'callslip.tracker.v1.CommandService/CompleteCommand';
const COMMAND = 'command execute_js';
/** The client's span of the call and the server's span have the same name. */
const ABOVE_COMMAND = [HTTP, MCP, REGISTER, REGISTER, COMMAND];
const PROCESS = [...ABOVE_COMMAND, 'process browser'];
const TREE = [
  [HTTP], [HTTP, MCP], [HTTP, MCP, 'wait'], [HTTP, MCP, REGISTER], [HTTP, MCP, REGISTER, REGISTER],
  ABOVE_COMMAND, [...ABOVE_COMMAND, 'queue browser'], PROCESS,
  [...PROCESS, 'POST /query-result'], [...PROCESS, 'POST /query-result', COMPLETE],
  [...PROCESS, 'POST /query-result', COMPLETE, COMPLETE],
];

/** The id of the only command in a collector's spans. */
async function commandIn(collector) {
  const ofCommand = ({ name }) => name === COMMAND;
  return (await collector.until(1, ofCommand)).find(ofCommand).attributes['messaging.message.id'];
}

describe('the trace of a command', { timeout: stretched(60_000) }, () => {
  for (const protocol of ['http/protobuf', 'grpc']) {
    test(`is one tree from the agent's call to the worker's report, over ${protocol}`, async (t) => {
      const collector = await startCollector(t);
      const { gateway, tracker } = await startBoth(t, {
        OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? collector.grpcUrl : collector.httpUrl,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
      });
      startWorker(t, gateway);
      const { structuredContent } = await callTool(gateway, 'interact', INTERACT);
      assert.equal(structuredContent.status, 'complete');

      const ofCall = ({ traceId }) => traceId === TRACE_ID;
      const spans = (await collector.until(TREE.length, ofCall)).filter(ofCall);
      assert.deepEqual(orphansOf(spans, [AGENT_SPAN]), []);
      // Each process sends its spans at its own pace.
      await collector.untilSo(() => orphansOf(collector.spans, [AGENT_SPAN, '']).length === 0);
      const paths = spans.map((span) => pathOf(span, spans).join(' > '));
      assert.deepEqual(paths.sort(), TREE.map((path) => path.join(' > ')).sort());
      for (const span of spans) {
        assert.ok(span.start <= span.end, span.name);
        assert.equal(span.failed, false, span.name);
      }
      const services = (name) => spans.filter((span) => span.name === name).map(({ service }) => service);
      assert.deepEqual(services(REGISTER).sort(), ['callslip-gateway', 'callslip-tracker']);
      assert.deepEqual(services(COMMAND), ['callslip-tracker']);
      const command = spans.find(({ name }) => name === COMMAND);
      assert.match(command.attributes['messaging.message.id'], /^corr-/);
      assert.equal(command.attributes['callslip.command.state'], 'completed');
      const call = spans.find(({ name }) => name === MCP);
      assert.equal(call.attributes['gen_ai.tool.name'], 'interact');
      assert.equal(call.attributes['mcp.protocol.version'], '2025-11-25');
      assert.equal(collector.headers[0]['x-tenant'], 'a b');
      const said = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      assert.ok(!said.includes(SECRET), said);
      for (const { log } of [gateway, tracker]) assert.ok(!log.includes('can\'t be exported'), log);
    });
  }

  test('is below the span of the bridge when the agent uses one', async (t) => {
    const collector = await startCollector(t);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl };
    const { gateway } = await startBoth(t, env);
    startWorker(t, gateway);
    const bridge = await Bridge.start(['--gateway', `http://${gateway.address}`], { ...SOON, ...env });
    onClose(t, () => bridge.close());
    await bridge.initialize();
    const { result } = await bridge.request('tools/call',
      { name: 'interact', arguments: INTERACT, _meta: { traceparent: TRACEPARENT } });
    assert.equal(result.structuredContent.status, 'complete');

    const ofCall = ({ traceId }) => traceId === TRACE_ID;
    const spans = (await collector.until(TREE.length + 1, ofCall)).filter(ofCall);
    assert.deepEqual(orphansOf(spans, [AGENT_SPAN]), []);
    const [call] = spans.filter(({ service }) => service === 'callslip-bridge');
    assert.equal(call.name, MCP);
    assert.equal(call.parent, AGENT_SPAN);
    const below = spans.filter(({ parent }) => parent === call.id).map(({ name }) => name);
    assert.deepEqual(below.sort(), [HTTP, MCP]);
    const said = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    assert.ok(!said.includes(SECRET), said);
  });

  test('has the same span ids in the collector, over REST and in the data directory', async (t) => {
    const collector = await startCollector(t);
    const { gateway, data } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    startWorker(t, gateway);
    await callTool(gateway, 'interact', INTERACT);
    const id = await commandIn(collector);
    const ofCommand = ({ service, attributes }) =>
      service === 'callslip-tracker' && attributes['messaging.message.id'] === id;
    const recorded = (await collector.until(3, ofCommand)).filter(ofCommand).map((span) => `${span.name} ${span.id}`);
    const detail = await (await fetch(`http://${gateway.address}/api/commands/${id}`)).json();
    const shown = detail.spans.map((span) => `${span.name} ${span.span_id}`);
    assert.deepEqual(shown.toSorted(), recorded.toSorted());
    for (const { start, end } of detail.spans) assert.ok(Date.parse(start) <= Date.parse(end));
    assert.equal(detail.traceparent.split('-')[1], TRACE_ID);
    const { stdout } = await promisify(execFile)(binary('callslip-tracker'),
      ['inspect', '--data-dir', data, '--command', id]);
    for (const line of recorded) {
      const [, name, span] = /^(.*) (\w+)$/.exec(line);
      assert.match(stdout, new RegExp(`ms  ${name} +${span}$`, 'm'));
    }
    assert.ok(stdout.includes(`Trace ${TRACE_ID}`), stdout);
    assert.ok(!stdout.includes(SECRET), stdout);
  });

  test('is linked from the separate trace of a later lookup', async (t) => {
    const collector = await startCollector(t);
    const { gateway } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    startWorker(t, gateway);
    await callTool(gateway, 'interact', INTERACT);
    await callTool(gateway, 'observe', { what: 'command_result', correlation_id: await commandIn(collector) }, {});
    const observed = ({ name }) => name === 'tools/call observe';
    const spans = await collector.until(1, observed);
    const [command] = (await collector.until(1, ({ name }) => name === COMMAND))
      .filter(({ name }) => name === COMMAND);
    assert.notEqual(spans.find(observed).traceId, TRACE_ID);
    assert.deepEqual(spans.find(observed).links, [`${TRACE_ID}-${command.id}`]);
  });

  test('is complete when the tracker is killed and restarted in between', async (t) => {
    const collector = await startCollector(t);
    const { tracker, restartTracker } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const before = connect(t, tracker);
    await before.register({ target: 'browser', type: 'execute_js', traceparent: TRACEPARENT });
    const [lease] = await before.lease('browser');
    const [, traceId, delivery] = lease.command.traceparent.split('-');
    assert.equal(traceId, TRACE_ID);
    // The call itself has ended, and its span was exported.
    await collector.until(1, ({ name }) => name === REGISTER);
    await restartTracker();
    const api = connect(t, tracker);
    await api.complete(lease, { result: Buffer.from('{}') });
    const spans = await collector.until(4);
    assert.deepEqual(orphansOf(spans, [AGENT_SPAN]), []);
    assert.equal(spans.find(({ id }) => id === delivery)?.name, 'process browser');
  });

  test('is below the gRPC client span, unless the command names another trace', async (t) => {
    const collector = await startCollector(t);
    const { tracker } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const api = connect(t, tracker);
    const register = (field, metadata) => new Promise((resolve, reject) => {
      const trace = new grpc.Metadata();
      trace.set('traceparent', metadata);
      api.commands.RegisterCommand({ target: 'browser', type: 'execute_js', traceparent: field }, trace,
        (error, answer) => (error ? reject(error) : resolve(answer.command)));
    });
    const nearer = `00-${TRACE_ID}-00000000000000c1-01`;
    const other = `00-${'f'.repeat(32)}-00000000000000c2-01`;
    await register(TRACEPARENT, nearer);
    await register(TRACEPARENT, other);
    await register('', other);
    const ofCall = ({ name }) => name === REGISTER;
    const spans = (await collector.until(3, ofCall)).filter(ofCall);
    assert.deepEqual(spans.map(({ traceId, parent }) => `${traceId}-${parent}`).sort(),
      [nearer, TRACEPARENT, other].map((each) => each.slice(3, -3)).sort());
  });

  test('has the error code of a failed command and no other detail', async (t) => {
    const collector = await startCollector(t);
    const { tracker } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const api = connect(t, tracker);
    await api.register({ target: 'browser', type: 'execute_js' });
    const [lease] = await api.lease('browser');
    const error = { code: 'no_such_tab', message: SECRET, hint: SECRET };
    await api.complete(lease, { error });
    await collector.until(1, ({ name }) => name === COMMAND);
    const failed = collector.spans.filter((span) => span.failed);
    assert.deepEqual(failed.map(({ name }) => name).sort(), [COMMAND, 'process browser']);
    for (const span of failed) assert.equal(span.attributes['error.type'], 'no_such_tab');
    await collector.untilSo(() => orphansOf(collector.spans, ['']).length === 0);
  });
});

describe('a traced call', { timeout: stretched(60_000) }, () => {
  /** Metadata that names the agent's trace. */
  function inTrace() {
    const metadata = new grpc.Metadata();
    metadata.set('traceparent', TRACEPARENT);
    return metadata;
  }

  test('has a tracker span, whether it is answered at once, later or by a stream', async (t) => {
    const collector = await startCollector(t);
    const { tracker } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const api = connect(t, tracker);
    const unary = (method, request) => new Promise((resolve) => {
      api.commands[method](request, inTrace(), (error) => resolve(error));
    });
    assert.equal((await unary('GetCommand', { command_id: 'corr-0' })).code, grpc.status.NOT_FOUND);
    assert.equal(await unary('LeaseCommands', { target: 'browser', max_wait: { seconds: 0, nanos: 50_000_000 } }), null);
    const { command_id } = await api.register({ target: 'browser' });
    const ended = (stream) => new Promise((resolve) => {
      stream.on('error', () => {}).on('status', resolve).resume();
    });
    const left = api.commands.WaitForCommand({ command_id }, inTrace());
    left.once('data', () => left.cancel());
    await ended(left);
    await ended(api.commands.WaitForCommand({ command_id: 'corr-0' }, inTrace()));
    const both = api.commands.WatchCommands(inTrace());
    both.end();
    await ended(both);

    const ofCall = ({ traceId }) => traceId === TRACE_ID;
    const spans = (await collector.until(5, ofCall)).filter(ofCall);
    const inShort = ({ name, parent, attributes, failed }) =>
      [name.split('/')[1], parent, attributes['rpc.response.status_code'], failed].join(' ');
    assert.deepEqual(spans.map(inShort).sort(), [
      `GetCommand ${AGENT_SPAN} NOT_FOUND false`,
      `LeaseCommands ${AGENT_SPAN} OK false`,
      `WaitForCommand ${AGENT_SPAN} CANCELLED false`,
      `WaitForCommand ${AGENT_SPAN} NOT_FOUND false`,
      `WatchCommands ${AGENT_SPAN} OK false`,
    ]);
    const lease = spans.find(({ name }) => name.endsWith('LeaseCommands'));
    assert.ok(lease.end - lease.start >= 50_000_000n, `${lease.end - lease.start} ns`);
  });

  test('has gateway and tracker spans over REST', async (t) => {
    const collector = await startCollector(t);
    const { gateway } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const headers = { traceparent: TRACEPARENT };
    await (await fetch(`http://${gateway.address}/api/sessions`, { headers })).json();
    await (await fetch(`http://${gateway.address}/api/sessions`)).json();
    const ofCall = ({ traceId }) => traceId === TRACE_ID;
    const spans = (await collector.until(3, ofCall)).filter(ofCall);
    const LIST = 'callslip.tracker.v1.SessionService/ListSessions';
    assert.deepEqual(spans.map((span) => pathOf(span, spans).join(' > ')).sort(),
      ['GET /api/sessions', `GET /api/sessions > ${LIST}`, `GET /api/sessions > ${LIST} > ${LIST}`]);
    assert.deepEqual(orphansOf(collector.spans, [AGENT_SPAN, '']), []);
  });

  test('has a span with its JSON-RPC id below the request over MCP', async (t) => {
    const collector = await startCollector(t);
    const { gateway } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    await callTool(gateway, 'session', { what: 'read', session_id: 'nobody' });
    const ofCall = ({ traceId }) => traceId === TRACE_ID;
    const READ = 'callslip.tracker.v1.SessionService/ReadEvents';
    const spans = (await collector.until(4, ofCall)).filter(ofCall);
    const TOOL = [HTTP, 'tools/call session'];
    assert.deepEqual(spans.map((span) => pathOf(span, spans).join(' > ')).sort(),
      [[HTTP], TOOL, [...TOOL, READ], [...TOOL, READ, READ]].map((path) => path.join(' > ')).sort());
    assert.equal(spans.find(({ name }) => name === TOOL[1]).attributes['jsonrpc.request.id'], '2');
    const [client] = spans.filter(({ name, service }) => name === READ && service === 'callslip-gateway');
    assert.equal(client.attributes['error.type'], 'NOT_FOUND');
    for (const span of spans.filter(({ name }) => name === READ)) {
      assert.equal(span.attributes['callslip.error.reason'], 'unknown_session', span.service);
    }
  });
});

/** A collector that runs `behave` for each connection. */
async function badCollector(t, behave) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    behave(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onClose(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, server };
}

const BAD = {
  hangs: (socket) => socket.resume(),
  'resets connections': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  'refuses connections': null,
};

async function countsOf(gateway) {
  const text = await (await fetch(`http://${gateway.address}/metrics`)).text();
  return Object.fromEntries([...text.matchAll(/^callslip_spans_total\{result="(\w+)"\} (\d+)$/gm)]
    .map(([, result, count]) => [result, Number(count)]));
}

describe('a collector', { timeout: stretched(60_000) }, () => {
  for (const [how, behave] of Object.entries(BAD)) {
    for (const protocol of ['http/protobuf', 'grpc']) {
      test(`causes only lost spans when it ${how}, over ${protocol}`, async (t) => {
        const { url, server } = await badCollector(t, behave ?? (() => {}));
        if (!behave) server.close();
        const { gateway, tracker } = await startBoth(t, {
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          OTEL_BSP_MAX_QUEUE_SIZE: '16',
        });
        const began = performance.now();
        for (let i = 0; i < 20; ++i) {
          const result = await callTool(gateway, 'interact', { action: 'execute_js', script: '1' });
          assert.equal(result.structuredContent.status, 'queued');
        }
        // Each call would take seconds if it waited for the collector; all of them take a fraction
        // of one.
        assert.ok(performance.now() - began < stretched(5_000), `${performance.now() - began} ms`);
        const { exported, dropped, failed } = await countsOf(gateway);
        assert.equal(exported, 0);
        // 20 calls of three spans each; at most 16 wait, and as many are in flight.
        assert.ok(dropped + failed >= 60 - 32, JSON.stringify({ dropped, failed }));
        const stopping = performance.now();
        await Promise.all([gateway.stop(), tracker.stop()]);
        assert.ok(performance.now() - stopping < stretched(4_500), `${performance.now() - stopping} ms`);
        for (const { child } of [gateway, tracker]) assert.equal(child.exitCode, 0);
      });
    }
  }

  test('does not delay the end of a bridge when it hangs', async (t) => {
    const { url } = await badCollector(t, BAD.hangs);
    const { gateway } = await startBoth(t, {});
    const bridge = await Bridge.start(['--gateway', `http://${gateway.address}`, '--otlp-endpoint', url], SOON);
    await bridge.initialize();
    const closing = performance.now();
    await bridge.close();
    assert.ok(performance.now() - closing < stretched(1_500), `${performance.now() - closing} ms`);
  });

  test('causes no metrics and no log lines if it is not configured', async (t) => {
    const { gateway } = await startBoth(t, { OTEL_TRACES_SAMPLER: 'nonsense' });
    await callTool(gateway, 'interact', { action: 'execute_js', script: '1' });
    assert.deepEqual(await countsOf(gateway), {});
    assert.ok(!gateway.log.includes('spans'), gateway.log);
  });
});
