/**
 * The cost of commands in PostgreSQL with a synchronous standby, both on this disk: the
 * RegisterCommand of one caller beside a bare INSERT of as many bytes by PostgreSQL's own pgbench,
 * in turns; and how many changes share an append while 64 callers register. Prints ratios of one
 * run and judges nothing.
 *   CALLSLIP_BIN=build/release/bin node tests/bench/cluster_bench.mjs [SECONDS]
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerProcess } from '../e2e/support/processes.js';
import { TrackerApi } from '../e2e/support/tracker_api.js';
import { Postgres } from '../fault/support/postgres.js';

/** The length of each turn; short turns meet the same load of the machine. */
const SECONDS = Number(process.argv[2] ?? 1);
const ROUNDS = 10;
const MANY = 64;
const PARAMS = Buffer.from(JSON.stringify({ text: randomBytes(384).toString('hex') }));

/** Each command is cancelled at once: neither queue nor memory grows. */
async function registerAndEnd(api, target, times) {
  const begun = performance.now();
  const { command_id: id } = await api.register({ target, params: PARAMS });
  times?.push(performance.now() - begun);
  await api.call('CancelCommand', { command_id: id });
}

function describe(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(sorted.length * share)];
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}

async function ofTracker(api) {
  const times = [];
  const until = performance.now() + SECONDS * 1_000;
  while (performance.now() < until) await registerAndEnd(api, 'one', times);
  return times;
}

async function ofDatabase(postgres) {
  const text = await postgres.pgbench(
    `INSERT INTO bare (record) VALUES ('\\x${PARAMS.toString('hex')}'::bytea);`,
    ['--client=1', `--time=${SECONDS}`]);
  // Client, transaction number, microseconds, …
  return text.trim().split('\n').map((line) => Number(line.split(' ')[2]) / 1_000);
}

async function metric(url, name) {
  const text = await (await fetch(url)).text();
  return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
}

async function changesPerAppend(api, url) {
  const count = () => Promise.all(['callslip_journal_entries_total', 'callslip_journal_append_seconds_count']
    .map((name) => metric(url, name)));
  const [entries, appends] = await count();
  const end = performance.now() + SECONDS * 1_000;
  await Promise.all(Array.from({ length: MANY }, async (_, i) => {
    while (performance.now() < end) await registerAndEnd(api, `target-${i}`);
  }));
  const [entriesAfter, appendsAfter] = await count();
  return (entriesAfter - entries) / (appendsAfter - appends);
}

const postgres = await Postgres.start({ onDisk: true });
await postgres.sql('CREATE TABLE bare (id bigserial PRIMARY KEY, record bytea)');
const tracker = await ServerProcess.start('callslip-tracker', ['--listen', '127.0.0.1:0',
  '--metrics-listen', '127.0.0.1:0', '--storage', postgres.url]);
const [, url] = tracker.log.match(/metrics on (\S+)\n/) ?? await (async () => {
  await pause(100);
  return tracker.log.match(/metrics on (\S+)\n/);
})();
const api = new TrackerApi(tracker.address);
const [register, bare] = [[], []];
for (let round = 0; round < ROUNDS; ++round) {
  bare.push(...await ofDatabase(postgres));
  register.push(...await ofTracker(api));
}
const ms = ({ p50, p99, count }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${count} times`;
const [ours, floor] = [describe(register), describe(bare)];
console.log(`load average ${(await readFile('/proc/loadavg', 'utf8')).split(' ')[0]}
bare INSERT and commit    ${ms(floor)}
RegisterCommand           ${ms(ours)}
ratio of their p50        ${(ours.p50 / floor.p50).toFixed(2)}
changes an append, of ${MANY} callers   ${(await changesPerAppend(api, url)).toFixed(1)}`);
api.close();
await tracker.stop();
await postgres.stop();
