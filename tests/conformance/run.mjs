/**
 * Runs one line of the official conformance suite against a tracker and a gateway of its own, and
 * ends with 1 unless the failures are exactly those in expected-failures.yaml:
 *
 *     node run.mjs LINE
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';

const LINES = {
  '0.1-all': ['conformance-0.1', '--suite', 'all'],
  '0.2-2025-11-25': ['conformance-0.2', '--requirements', '2025-11-25'],
  '0.2-2026-07-28': ['conformance-0.2', '--requirements', '2026-07-28'],
};
/** A whole line takes a few seconds unless something hangs, in ms. */
const LINE_PATIENCE_MS = 60_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A file of the installed packages; the suite needs a newer Node than the tests. */
function installed(path) {
  const file = here(`node_modules/${path}`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run ./dev setup.`);
  return file;
}

/** Runs the suite; returns its output. Its exit status says less than its results. */
async function runSuite([edition, ...selection], url, results) {
  const suite = installed(`${edition}/dist/index.js`);
  const args = [suite, 'server', '--url', url, ...selection, '--output-dir', results];
  const child = spawn(installed('.bin/node'), args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: stretched(LINE_PATIENCE_MS),
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
  await once(child, 'close');
  return output;
}

/** The checks of each scenario, in the order in which they ran. */
async function readResults(folder) {
  const scenarios = new Map();
  for (const name of await readdir(folder)) {
    const [, scenario, time] = name.match(/^server-(.+)-(\d{4}-\d{2}-\d{2}T.+)$/) ?? [];
    if (!scenario) throw new Error(`The suite wrote ${name}, which is no scenario's result.`);
    const file = join(folder, name, 'checks.json');
    const checks = existsSync(file)
      ? JSON.parse(await readFile(file, 'utf8'))
      : [{ id: 'run', status: 'FAILURE', errorMessage: 'The scenario broke off.' }];
    scenarios.set(scenario, { time, checks });
  }
  return [...scenarios].sort(([, a], [, b]) => a.time.localeCompare(b.time));
}

/** The expected failures of this line: "scenario:check" to the reason. */
async function readExpected(line) {
  installed('yaml');
  const { parse } = await import('yaml');
  const lines = parse(await readFile(here('expected-failures.yaml'), 'utf8'));
  const unknown = Object.keys(lines).filter((name) => !(name in LINES));
  if (unknown.length > 0) throw new Error(`expected-failures.yaml knows no line ${unknown}.`);
  const expected = new Map(Object.entries(lines[line] ?? {}));
  for (const [name, reason] of expected) {
    if (typeof reason !== 'string') throw new Error(`${name} is expected without a reason.`);
  }
  return expected;
}

/** Prints the result of a scenario; returns its failures by "scenario:check". */
function report(scenario, checks, expected) {
  const of = (status) => checks.filter((check) => check.status === status);
  const failures = new Set(of('FAILURE').map(({ id }) => `${scenario}:${id}`));
  const verdict = [...failures].every((name) => expected.has(name)) ? 'ok  ' : 'FAIL';
  const counts = [`${of('SUCCESS').length} passed`, `${of('FAILURE').length} failed`];
  if (of('WARNING').length > 0) counts.push(`${of('WARNING').length} warnings`);
  console.log(`${verdict} ${scenario}: ${counts.join(', ')}`);
  for (const { id, errorMessage } of of('FAILURE')) {
    const reason = expected.get(`${scenario}:${id}`);
    console.log(`       ${id}: ${reason ? `expected: ${reason}` : errorMessage}`);
  }
  for (const { id, errorMessage } of of('WARNING')) {
    console.log(`       warning ${id}: ${errorMessage}`);
  }
  return failures;
}

/** Runs the line; returns whether all results are as expected. */
async function run(line) {
  const expected = await readExpected(line);
  const results = await mkdtemp(join(tmpdir(), 'callslip-conformance-'));
  const services = await Services.open({ gateway: 'callslip-gateway-conformance' });
  try {
    const output = await runSuite(LINES[line], `${services.gatewayUrl}/mcp`, results);
    const announced = Number(output.match(/\((\d+) scenarios\)/)?.[1]);
    const scenarios = await readResults(results);
    const failures = new Set();
    for (const [scenario, { checks }] of scenarios) {
      for (const name of report(scenario, checks, expected)) failures.add(name);
    }
    const unexpected = [...failures].filter((name) => !expected.has(name));
    const stale = [...expected.keys()].filter((name) => !failures.has(name));
    for (const name of stale) console.log(`FAIL ${name} is expected to fail, and does not.`);
    console.log(
      `${line}: ${scenarios.length} of ${announced} scenarios ran, ${unexpected.length} ` +
        `unexpected failures, ${failures.size - unexpected.length} expected`,
    );
    const good = scenarios.length === announced && unexpected.length + stale.length === 0;
    if (!good) {
      console.log(output);
      services.printLogs();
    }
    return good;
  } finally {
    await services.close();
    await rm(results, { recursive: true, force: true });
  }
}

const [line] = process.argv.slice(2);
if (!(line in LINES)) {
  console.error(`Usage: node run.mjs ${Object.keys(LINES).join(' | ')}`);
  process.exit(2);
}
process.exitCode = (await run(line)) ? 0 : 1;
