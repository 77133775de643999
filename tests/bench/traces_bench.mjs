/**
 * What traces cost: the instructions of gateway and tracker for a call that waits for its command,
 * without a collector, with one trace of a hundred, and with all, counted by callgrind. A figure is
 * the difference of two runs, so that starts and ends are not in it. Prints figures and judges
 * nothing. Needs valgrind, and takes some five minutes.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder of programs that run below callgrind, and leave their counts in `out`. */
async function countedPrograms(folder, out) {
  const built = process.env.CALLSLIP_BIN;
  for (const name of ['callslip-tracker', 'callslip-gateway']) {
    const line = `exec valgrind --tool=callgrind --callgrind-out-file=${out}/%p ${built}/${name} "$@"`;
    await writeFile(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }
}

const folder = await mkdtemp(join(tmpdir(), 'callslip-traces-'));
const out = await mkdtemp(join(tmpdir(), 'callslip-counts-'));
await countedPrograms(folder, out);
// Read when the services' module is loaded.
process.env.CALLSLIP_BIN = folder;
const { FakeWorker } = await import('../e2e/support/fake_worker.js');
const { OtlpCollector } = await import('../e2e/support/otlp_collector.js');
const { Services } = await import('../e2e/support/services.js');

const SHORT = 50;
const LONG = 450;
const ROUNDS = 2;

/** The instructions of all processes that have ended since the last call. */
async function instructions() {
  let sum = 0;
  for (const name of await readdir(out)) {
    const text = await readFile(join(out, name), 'utf8');
    sum += Number(/^(?:summary|totals): (\d+)/m.exec(text)[1]);
    await rm(join(out, name));
  }
  return sum;
}

async function post(gatewayUrl, message, headers) {
  const response = await fetch(`${gatewayUrl}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return { headers: response.headers, text };
}

/** Makes calls that wait for their commands, one after the other. */
async function call(gatewayUrl, calls) {
  const initialize = { method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const session = (await post(gatewayUrl, initialize)).headers.get('mcp-session-id');
  const params = { name: 'interact', arguments: { action: 'execute_js', script: '1', wait_ms: 8000 } };
  for (let i = 0; i < calls; i += 1) {
    const { text } = await post(gatewayUrl, { method: 'tools/call', params }, { 'Mcp-Session-Id': session });
    if (JSON.parse(text).result?.structuredContent?.status !== 'complete') throw new Error(text);
  }
}

/** The instructions of two fresh services for `calls` calls. */
async function count(calls, environment) {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  const services = await Services.open();
  const worker = FakeWorker.start(services.gatewayUrl, () => ({ ok: true }));
  try {
    await call(services.gatewayUrl, calls);
  } finally {
    await worker.stop();
    await services.close();
    process.env = before;
  }
  return instructions();
}

try {
  await new Promise((resolve, reject) => {
    execFile('valgrind', ['--version'], (error) => (error ? reject(error) : resolve()));
  });
  const collector = await OtlpCollector.start();
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl, OTEL_METRICS_EXPORTER: 'none' };
  const ways = [
    ['off', {}],
    ['1 % of traces', {
      ...all, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01',
    }],
    ['all traces', all],
  ];
  let off = 0;
  for (const [name, environment] of ways) {
    const figures = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const short = await count(SHORT, environment);
      const long = await count(LONG, environment);
      figures.push(Math.round((long - short) / (LONG - SHORT)));
    }
    const mean = figures.reduce((sum, each) => sum + each, 0) / ROUNDS;
    off ||= mean;
    console.log(`${name.padEnd(14)} ${figures.join(' and ')} instructions a call, ${(mean / off).toFixed(3)} x off`);
  }
  await collector.stop?.();
} finally {
  await rm(folder, { recursive: true, force: true });
  await rm(out, { recursive: true, force: true });
}
process.exit(0);
