/** Metrics at a collector, decoded by the official protos, and at GET /metrics. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { ServerProcess } from './support/processes.js';

const SOON = { OTEL_METRIC_EXPORT_INTERVAL: '100', OTEL_BSP_SCHEDULE_DELAY: '50' };
const CUMULATIVE = 2;

/** Tracker and gateway with these variables, and the addresses of their metrics. */
async function startBoth(t, env) {
  const start = async (...words) => {
    const server = await ServerProcess.start(...words, { ...SOON, ...env });
    t.after(() => server.stop());
    return server;
  };
  const listen = ['--listen', '127.0.0.1:0'];
  const tracker = await start('callslip-tracker', [...listen, '--metrics-listen', '127.0.0.1:0']);
  const gateway = await start('callslip-gateway', [...listen, '--tracker', tracker.address]);
  const pages = {
    'callslip-tracker': tracker.log.match(/metrics on (http:\S+)/)[1],
    'callslip-gateway': `http://${gateway.address}/metrics`,
  };
  return { tracker, gateway, pages };
}

async function callTool(gateway, trace = {}) {
  const post = (body, more) => fetch(`http://${gateway.address}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...more },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  const initialized = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  const called = await post({
    id: 2, method: 'tools/call', params: { name: 'interact', arguments: { action: 'execute_js', script: '1' } },
  }, { 'Mcp-Session-Id': initialized.headers.get('mcp-session-id'), ...trace });
  return (await called.json()).result;
}

/** Parses a page: `name{label="value",…}` → value, and the help and type of each family. */
function readPage(text) {
  const series = new Map();
  const families = new Map();
  for (const line of text.trimEnd().split('\n')) {
    const [, what, name, said] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (what) {
      families.set(name, { ...families.get(name), [what]: said });
    } else {
      const at = line.lastIndexOf(' ');
      series.set(line.slice(0, at), Number(line.slice(at + 1)));
    }
  }
  return { series, families };
}

function seriesName(name, labels) {
  const said = Object.entries(labels).map(([label, value]) => `${label}="${value}"`).join(',');
  return said ? `${name}{${said}}` : name;
}

/** The same for an export: its histograms in the form of a page. */
function readExport(metrics) {
  const series = new Map();
  const families = new Map();
  for (const { name, description, type, points } of metrics) {
    families.set(name, { HELP: description, TYPE: type });
    for (const { labels, value, counts, bounds, count, sum } of points) {
      if (!counts) {
        series.set(seriesName(name, labels), value);
        continue;
      }
      let below = 0;
      for (const [i, bound] of [...bounds, '+Inf'].entries()) {
        below += counts[i];
        series.set(seriesName(`${name}_bucket`, { ...labels, le: String(bound) }), below);
      }
      series.set(seriesName(`${name}_sum`, labels), sum);
      series.set(seriesName(`${name}_count`, labels), count);
    }
  }
  return { series, families };
}

/** Series that change while idle: of the process, and of scrapes, which count themselves. */
const ALIVE = /^(process_|callslip_heap_|callslip_http_connections)|route="\/metrics"/;

const nanosNow = () => BigInt(Date.now()) * 1_000_000n;

describe('a collector', { timeout: stretched(60_000) }, () => {
  for (const protocol of ['http/protobuf', 'grpc']) {
    test(`receives exactly the metrics of the metrics pages over ${protocol}`, async (t) => {
      const collector = await OtlpCollector.start();
      t.after(() => collector.close());
      const { gateway, pages, tracker } = await startBoth(t, {
        OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? collector.grpcUrl : collector.httpUrl,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      });
      await callTool(gateway);
      for (const [service, page] of Object.entries(pages)) {
        const scrape = async () => readPage(await (await fetch(page)).text());
        // From then on the page's own request has a series.
        await scrape();
        const [before, since] = [await scrape(), nanosNow()];
        const { metrics, resource } = await collector.untilExport((each) =>
          each.service === service && each.metrics[0].points[0].time > since);
        const after = await scrape();
        const exported = readExport(metrics);
        assert.deepEqual([...exported.series.keys()].sort(), [...after.series.keys()].sort());
        assert.deepEqual([...exported.families].sort(), [...after.families].sort());
        let quiet = 0;
        for (const [name, value] of after.series) {
          if (before.series.get(name) !== value || ALIVE.test(name)) continue;
          ++quiet;
          assert.equal(exported.series.get(name), value, name);
        }
        assert.ok(quiet > after.series.size * 0.8, `${quiet} of ${after.series.size}`);

        assert.equal(resource['deployment.environment.name'], 'test');
        assert.equal(resource['telemetry.sdk.name'], 'callslip');
        const started = after.series.get('process_start_time_seconds');
        for (const { name, type, unit, temporality, isMonotonic, points } of metrics) {
          assert.equal(unit ?? '', { seconds: 's', bytes: 'By' }[/_(seconds|bytes)(_total)?$/.exec(name)?.[1]] ?? '', name);
          if (type === 'gauge') continue;
          assert.equal(temporality, CUMULATIVE, name);
          if (type === 'counter') assert.equal(isMonotonic, true, name);
          for (const { start } of points) {
            assert.ok(Math.abs(Number(start) / 1e9 - started) < 1, `${start}`);
          }
        }
      }
      for (const { log } of [gateway, tracker]) assert.ok(!log.includes('can\'t be exported'), log);
    });
  }

  test('receives the last values when a program exits', async (t) => {
    const collector = await OtlpCollector.start();
    t.after(() => collector.close());
    const { gateway, tracker } = await startBoth(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl,
      OTEL_METRIC_EXPORT_INTERVAL: '3600000',
    });
    await callTool(gateway);
    assert.deepEqual(collector.exports, []);
    await Promise.all([gateway.stop(), tracker.stop()]);
    const ofTool = ({ name }) => name === 'callslip_mcp_calls_total';
    const last = collector.exports.find(({ service }) => service === 'callslip-gateway');
    assert.deepEqual(last.metrics.find(ofTool).points.map(({ labels, value }) => ({ labels, value })),
      [{ labels: { tool: 'interact', status: 'ok' }, value: 1 }]);
    assert.ok(collector.exports.some(({ service }) => service === 'callslip-tracker'));
  });

  test('receives spans but no metrics if the metrics exporter is none', async (t) => {
    const collector = await OtlpCollector.start();
    t.after(() => collector.close());
    const { gateway, tracker } = await startBoth(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl,
      OTEL_METRICS_EXPORTER: 'none',
    });
    await callTool(gateway);
    await collector.until(1);
    await Promise.all([gateway.stop(), tracker.stop()]);
    assert.deepEqual(collector.exports, []);
    assert.ok(!gateway.log.includes('metrics are exported'), gateway.log);
  });
});

/** Debian's Python, for which there is python3-prometheus-client. */
const PYTHON = '/usr/bin/python3';
const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
samples = [sample for family in parse(sys.stdin.read()) for sample in family.samples]
print(json.dumps({"samples": len(samples), "exemplars": sum(s.exemplar is not None for s in samples)}))
`;
const NO_PARSER = spawnSync(PYTHON, ['-c', 'import prometheus_client']).status !== 0 &&
  'python3-prometheus-client is not installed';

const OPEN = { Accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' };
const LINE = /^(\w+)_bucket\{.*le="([^"]+)"\} \d+ # \{trace_id="(\w+)",span_id="(\w+)"\} (\S+) (\S+)$/gm;

/** The exemplars of a page. */
function exemplarsOf(text) {
  return [...text.matchAll(LINE)].map(([, name, le, traceId, spanId, value, time]) =>
    ({ name, le: Number(le.replace('+Inf', 'Infinity')), traceId, spanId, value: Number(value), time: Number(time) }));
}

/** Completes the gateway's only command, as a worker that returns its trace. */
async function completeCommand(gateway) {
  const [query] = await (await fetch(`http://${gateway.address}/pending-queries?wait=5`)).json();
  await fetch(`http://${gateway.address}/query-result`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', traceparent: query.traceparent },
    body: JSON.stringify({ id: query.id, correlation_id: query.correlation_id, status: 'complete', result: 1 }),
  });
}

describe('an exemplar', { timeout: stretched(60_000) }, () => {
  const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
  const HISTOGRAMS = {
    'callslip-gateway': ['callslip_http_seconds'],
    'callslip-tracker': ['callslip_command_seconds', 'callslip_dispatch_seconds', 'callslip_rpc_seconds'],
  };

  test('links a histogram to an exported span', async (t) => {
    const collector = await OtlpCollector.start();
    t.after(() => collector.close());
    const { gateway, pages } = await startBoth(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl });
    const began = Date.now() / 1000;
    await callTool(gateway, { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` });
    await completeCommand(gateway);
    const reported = ({ name }) => name === 'POST /query-result';
    await collector.until(1, reported);
    const since = nanosNow();
    // Spans are exported by another thread, which may be later than that of metrics.
    const known = ({ traceId, spanId }) =>
      collector.until(1, (span) => span.traceId === traceId && span.id === spanId);
    for (const [service, page] of Object.entries(pages)) {
      const open = await fetch(page, { headers: OPEN });
      assert.equal(open.headers.get('content-type'), 'application/openmetrics-text; version=1.0.0; charset=utf-8');
      const text = await open.text();
      assert.ok(text.endsWith('# EOF\n'));
      const exemplars = exemplarsOf(text);
      const ours = exemplars.filter(({ traceId }) => traceId === TRACE_ID);
      assert.deepEqual([...new Set(ours.map(({ name }) => name))].sort(), HISTOGRAMS[service]);
      await collector.untilExport((each) => each.service === service && each.metrics[0].points[0].time > since);
      for (const exemplar of exemplars) {
        assert.ok(exemplar.value <= exemplar.le, JSON.stringify(exemplar));
        assert.ok(exemplar.time > began - 1 && exemplar.time < began + 60, JSON.stringify(exemplar));
        await known(exemplar);
      }
      const classic = await (await fetch(page)).text();
      assert.ok(!classic.includes(TRACE_ID) && !classic.includes('# {'), classic);

      const { metrics } = collector.exports.findLast((each) => each.service === service);
      const exported = metrics.flatMap(({ name, points }) =>
        points.flatMap((point) => point.exemplars.map((exemplar) => ({ name, ...exemplar }))))
        .filter(({ traceId }) => traceId === TRACE_ID);
      const shown = (each) => each.map(({ name, spanId, value }) => `${name} ${spanId} ${value}`).sort();
      assert.deepEqual(shown(exported), shown(ours));
    }
  });

  test('is parsed by the Prometheus client for Python, with the rest of the page', { skip: NO_PARSER }, async (t) => {
    const { gateway, pages } = await startBoth(t, {});
    // The trace context is forwarded unchanged, since nothing is recorded: the tracker sees that it
    // is sampled.
    await callTool(gateway, { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` });
    await completeCommand(gateway);
    for (const page of Object.values(pages)) {
      const text = await (await fetch(page, { headers: OPEN })).text();
      const read = spawnSync(PYTHON, ['-c', PARSE], { input: text, encoding: 'utf8' });
      assert.equal(read.status, 0, read.stderr);
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      assert.deepEqual(JSON.parse(read.stdout), { samples: lines.length, exemplars: exemplarsOf(text).length });
    }
  });

  test('is omitted for a call that is not sampled', async (t) => {
    const collector = await OtlpCollector.start();
    t.after(() => collector.close());
    const { gateway, pages } = await startBoth(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl,
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    await callTool(gateway, { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` });
    await completeCommand(gateway);
    for (const page of Object.values(pages)) {
      const text = await (await fetch(page, { headers: OPEN })).text();
      assert.deepEqual(exemplarsOf(text), []);
      assert.ok(!text.includes('trace_id'));
    }
    assert.deepEqual(collector.spans, []);
  });
});

/** The behaviour of a broken collector's connections. null: no collector listens. */
const BAD = {
  hangs: (socket) => socket.resume(),
  'resets connections': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  'refuses connections': null,
};

describe('a broken collector', { timeout: stretched(60_000) }, () => {
  for (const [how, behave] of Object.entries(BAD)) {
    for (const protocol of ['http/protobuf', 'grpc']) {
      test(`does not delay calls or exits when it ${how} over ${protocol}`, async (t) => {
        const sockets = new Set();
        const server = createServer((socket) => {
          sockets.add(socket);
          socket.on('error', () => {});
          behave(socket);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        t.after(() => {
          for (const socket of sockets) socket.destroy();
          server.close();
        });
        const endpoint = `http://127.0.0.1:${server.address().port}`;
        if (!behave) server.close();
        const { gateway, tracker, pages } = await startBoth(t, {
          OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        });
        const began = performance.now();
        for (let i = 0; i < 20; ++i) {
          assert.equal((await callTool(gateway)).structuredContent.status, 'queued');
          for (const page of Object.values(pages)) assert.equal((await fetch(page)).status, 200);
        }
        assert.ok(performance.now() - began < stretched(5_000), `${performance.now() - began} ms`);
        const stopping = performance.now();
        await Promise.all([gateway.stop(), tracker.stop()]);
        assert.ok(performance.now() - stopping < stretched(4_500), `${performance.now() - stopping} ms`);
        for (const { child } of [gateway, tracker]) assert.equal(child.exitCode, 0);
      });
    }
  }
});
