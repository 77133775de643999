/** What the programs report to an operator: the tracker's metrics listener, and the logs. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { request } from 'node:http';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { ServerProcess } from './support/processes.js';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const SECRET = 'secret-of-the-page';

describe('an operator', { timeout: stretched(60_000) }, () => {
  const servers = [];
  let tracker;
  let gateway;
  let metricsUrl;

  const start = async (...words) => {
    const server = await ServerProcess.start(...words);
    servers.push(server);
    return server;
  };
  before(async () => {
    const debug = ['--listen', '127.0.0.1:0', '--log-level', 'debug'];
    tracker = await start('callslip-tracker', [...debug, '--metrics-listen', '127.0.0.1:0']);
    metricsUrl = tracker.log.match(/metrics on (http:\S+)/)[1];
    gateway = await start('callslip-gateway', [...debug, '--tracker', tracker.address]);
  });
  after(async () => {
    for (const server of servers.reverse()) await server.stop();
  });

  const post = (path, body, headers = {}) =>
    fetch(`http://${gateway.address}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('follows a command from the metrics to the log lines of both servers', async () => {
    const initialized = await post('/mcp', {
      jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' },
    });
    const session = initialized.headers.get('mcp-session-id');
    const called = await post('/mcp', {
      jsonrpc: '2.0', id: 2, method: 'tools/call',
      params: { name: 'interact', arguments: { action: 'execute_js', script: SECRET } },
    }, { 'Mcp-Session-Id': session, traceparent: TRACE });
    const { correlation_id: id } = (await called.json()).result.structuredContent;
    const [query] = await (await fetch(`http://${gateway.address}/pending-queries?wait=5`)).json();
    assert.equal(query.traceparent, TRACE);

    const numbers = await (await fetch(metricsUrl)).text();
    assert.match(numbers, /^callslip_commands\{state="delivered"\} 1$/m);
    assert.match(numbers, /^callslip_build_info\{version="[0-9.]+"\} 1$/m);
    const ours = await (await fetch(`http://${gateway.address}/metrics`)).text();
    assert.match(ours, /^callslip_mcp_calls_total\{tool="interact",status="ok"\} 1$/m);

    for (const [server, event] of [[gateway, 'command submitted'], [tracker, 'command delivered']]) {
      const lines = server.log.split('\n').filter((line) => line.startsWith('{')).map(JSON.parse);
      const line = lines.find((each) => each.event === event);
      assert.equal(line?.correlation_id, id, server.describeLog());
      assert.equal(line.traceparent, TRACE);
      assert.equal(line.client, 'local');
      assert.equal(line.process, server.name);
      assert.ok(!server.log.includes(SECRET), server.describeLog());
    }
  });

  test('finds the log lines of errors by the trace of the call in each program', async (t) => {
    // No collector accepts the spans.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_METRICS_EXPORTER: 'none' };
    const listen = ['--listen', '127.0.0.1:0', '--log-level', 'info'];
    const recording = await ServerProcess.start('callslip-tracker', listen, env);
    t.after(() => recording.stop());
    const behind = await ServerProcess.start('callslip-gateway', [...listen, '--tracker', recording.address], env);
    t.after(() => behind.stop());
    const bridge = await Bridge.start(['--gateway', `http://${behind.address}`], env);
    t.after(() => bridge.close());
    await bridge.initialize();
    const meta = { _meta: { traceparent: TRACE } };
    await bridge.request('tools/call',
      { name: 'interact', arguments: { action: 'execute_js', script: SECRET }, ...meta });
    const [query] = await (await fetch(`http://${behind.address}/pending-queries?wait=5`)).json();
    for (let i = 0; i < 2; ++i) {
      await fetch(`http://${behind.address}/query-result`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', traceparent: query.traceparent },
        body: JSON.stringify({ ...query, status: 'complete', result: 1 }),
      });
    }
    await recording.stop();
    assert.equal((await fetch(`http://${behind.address}/readyz`, { headers: { traceparent: TRACE } })).status, 503);
    await behind.stop();
    await bridge.request('tools/call', { name: 'observe', arguments: { what: 'health' }, ...meta });

    for (const [log, event] of [[recording.log, 'late result'], [behind.log, 'request failed'], [bridge.log, 'call failed']]) {
      const line = log.split('\n').find((each) => each.includes(`"event":"${event}"`));
      const { trace_id: trace, span_id: span, traceparent } = JSON.parse(line);
      assert.equal(trace, TRACE.slice(3, 35), line);
      assert.equal(traceparent, `00-${trace}-${span}-01`);
      assert.ok(!TRACE.includes(span), 'its own span');
      assert.ok(!log.includes(SECRET), log);
    }
  });

  test('gets metrics from the tracker only under its own host names', async () => {
    const url = new URL(metricsUrl);
    const statusOf = (host) => new Promise((resolve, reject) => {
      request(url, { headers: { Host: host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject).end();
    });
    assert.equal(await statusOf(url.host), 200);
    assert.equal(await statusOf(`evil.example:${url.port}`), 403);
    assert.equal((await fetch(new URL('/', url))).status, 404);
  });

  test('gets no metrics by default, and no public metrics port by mistake', async () => {
    const quiet = await start('callslip-tracker', ['--listen', '127.0.0.1:0']);
    assert.ok(!quiet.log.includes('metrics on'));
    const open = ['--listen', '127.0.0.1:0', '--metrics-listen', '0.0.0.0:0'];
    await assert.rejects(start('callslip-tracker', open), /refusing to serve metrics on 0\.0\.0\.0:0/);
  });
});
