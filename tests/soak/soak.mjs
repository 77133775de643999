/**
 * A long run under mixed load while processes are killed one after another; Ledger explains the
 * figures.
 *   node tests/soak/soak.mjs [MINUTES] [--seed N] [--durability MODE] [--cluster]
 * With --cluster there are three trackers over a database, proxies in all links, and sessions with
 * turns; CLUSTER_FAULTS has the faults.
 * Exits with 1 if an accepted command was lost, if anything happened twice, or if a process is
 * left.
 */
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { Chaos } from '../fault/support/chaos.js';
import { children } from '../fault/support/children.js';
import { ClusterTurns } from '../fault/support/cluster_turns.js';

const USAGE = 'Usage: ./dev soak [MINUTES] [--seed N] [--durability relaxed|strict|memory] [--cluster]';
/** Ranges of time between kills, and between lines of progress, in ms. */
const PEACE_MS = [100, 2_000];
/** The longest fault of a cluster, in ms. */
const LONGEST_MS = 20_000;
const PROGRESS_MS = 5_000;

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' }, durability: { type: 'string' },
      cluster: { type: 'boolean' }, help: { type: 'boolean' },
    },
  });
  const minutes = Number(positionals[0] ?? 1);
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  if (values.help || positionals.length > 1 || !(minutes > 0) || !Number.isInteger(seed)) {
    console.error(USAGE);
    process.exit(values.help ? 0 : 2);
  }
  return { minutes, seed, durability: values.durability, cluster: values.cluster };
}

function progressLine(chaos, begun) {
  const { ledger, kills } = chaos;
  const seconds = Math.round((performance.now() - begun) / 1000);
  const struck = Object.entries(kills).filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}`).join(', ');
  const wrong = ledger.complaints.length;
  return `${String(seconds).padStart(5)} s  ${ledger.answers} answers to ${ledger.calls} calls, `
    + `${ledger.open().length} commands open, killed: ${struck}${wrong ? `, WRONG: ${wrong}` : ''}`;
}

function table(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = ([name, ...values]) => `  ${name.padEnd(width)}  ${values.join('  ')}`.trimEnd();
  return rows.map(line).join('\n');
}

function report(chaos, leaked) {
  const { ledger, kills, usage } = chaos;
  const totals = ledger.totals();
  const figure = (value, note = '') => [String(value).padStart(9), note];
  const ends = [...totals.ends].sort((a, b) => b[1] - a[1]).map(([end, n]) => `${n} ${end}`);
  console.log(`\n${table([
    ['calls', ...figure(ledger.calls)],
    ['answers', ...figure(ledger.answers, `${ledger.orphaned} calls died with their connection`)],
    ['commands', ...figure(totals.accepted, ends.join(', '))],
    ['lost', ...figure(totals.lost)],
    ['duplicated', ...figure(totals.duplicated)],
    ['late', ...figure(ledger.late)],
    ['refused', ...figure(ledger.refused)],
    ['forgotten', ...figure(ledger.forgotten, 'by a tracker that was killed, in memory only')],
    ['repeated', ...figure(ledger.repeated, 'after a tracker was killed, in memory only')],
    ['processes left', ...figure(leaked.length, leaked.join(', '))],
  ])}\n`);
  console.log(table([
    ['process', 'killed', 'most memory', 'open files'],
    ...[...usage].map(([kind, { memory, files }]) => [
      kind, String(kills[kind] ?? '').padStart(6), `${memory.toFixed(1)} MiB`.padStart(11),
      String(files).padStart(10)]),
  ]));
}

async function run({ minutes, seed, durability, cluster }) {
  console.log(`${minutes} min, --seed ${seed}`);
  const chaos = await Chaos.start(
    { seed, bridges: 4, durability, cluster, longestMs: LONGEST_MS });
  const sessions = cluster && await ClusterTurns.begin(chaos.fleet);
  const begun = performance.now();
  const until = begun + minutes * 60_000;
  let told = 0;
  const progress = setInterval(() => {
    chaos.ledger.settle();
    console.log(progressLine(chaos, begun));
    for (; told < chaos.ledger.complaints.length; ++told) console.error(`! ${chaos.ledger.complaints[told]}`);
  }, PROGRESS_MS);
  while (performance.now() < until) {
    const peace = chaos.random.between(...PEACE_MS);
    await pause(Math.min(peace, Math.max(0, until - performance.now())));
    await chaos.progress();
    await chaos.sample();
    await chaos.strike();
  }
  await sessions?.finish();
  await sessions?.close();
  await chaos.finish();
  clearInterval(progress);
  await chaos.sample();
  await chaos.close();
  const leaked = await children();
  for (const complaint of chaos.ledger.complaints.slice(told)) console.error(`! ${complaint}`);
  report(chaos, leaked);
  if (sessions) console.log(`\nturns: ${JSON.stringify(sessions.turns.seen)}`);
  const { ledger } = chaos;
  const allAnswered = ledger.answers + ledger.orphaned === ledger.calls;
  return ledger.isClean && ledger.complaints.length === 0 && allAnswered && leaked.length === 0;
}

const isClean = await run(readArguments());
process.exit(isClean ? 0 : 1);
