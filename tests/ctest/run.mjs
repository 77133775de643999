/**
 * Runs ctest, then runs each failed test once more, alone. A test that passes then is flaky: the
 * last lines name it, the output of its failure is kept, and it is counted over runs.
 *
 *   node run.mjs FOLDER ARGUMENT...    runs `ctest ARGUMENT...`, keeps outputs and counts in FOLDER
 *
 * Ends with 0 if each test passed in the end. More than three flaky tests are a failure.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ctest, failedOf, logOf, reasonsIn } from './ctest.js';
import { stretchDeadlines } from './machine.mjs';

const MOST_FLAKY = 3;
// More failures than this are not accidental; a repetition of each would only take time.
const MOST_REPEATED = 20;
const SLOWEST = 10;

const [folder, ...args] = process.argv.slice(2);
if (!folder || args.length === 0) {
  console.error('usage: node run.mjs FOLDER CTEST-ARGUMENT...');
  process.exit(2);
}

/** The tests of `failed` that pass alone. */
function repeat(failed) {
  if (failed.length === 0 || failed.length > MOST_REPEATED) return [];
  console.log(`\nOnce more, alone: ${failed.map(({ name }) => name).join(', ')}`);
  const names = failed.map(({ name }) => name.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
  const passed = new Set(ctest([...args, '--parallel', '1', '--tests-regex', `^(${names.join('|')})$`]).tests
    .filter(({ outcome }) => outcome === 'passed').map(({ name }) => name));
  return failed.filter(({ name }) => passed.has(name));
}

/**
 * Keeps the outputs of the failures. Returns how often each test was flaky, and the number of runs.
 */
function keep(flaky) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'counts.json');
  const counts = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { runs: 0, flaky: {} };
  counts.runs++;
  for (const { name, output } of flaky) {
    counts.flaky[name] = (counts.flaky[name] ?? 0) + 1;
    writeFileSync(logOf(folder, name), output);
  }
  writeFileSync(path, `${JSON.stringify(counts, null, 2)}\n`);
  return counts;
}

await stretchDeadlines();
const { code, tests } = ctest(args);
const failedAtFirst = failedOf(tests);
const flaky = repeat(failedAtFirst);
const failed = failedAtFirst.filter((each) => !flaky.includes(each));
const counts = keep(flaky);

if (tests.length > SLOWEST) {
  console.log('\nThe slowest:');
  const slowest = tests.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
  for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
}
for (const { name, output } of failed) console.log(`\n== ${name} failed\n${reasonsIn(output).join('\n')}`);
console.log('');
for (const { name } of flaky) {
  console.log(`flaky: ${name} (${counts.flaky[name]} of ${counts.runs} runs; ${relative('.', logOf(folder, name))})`);
}
if (flaky.length > MOST_FLAKY) console.log(`More than ${MOST_FLAKY} flaky tests fail the run.`);
const count = (outcome) => tests.filter((each) => each.outcome === outcome).length;
console.log(`${count('passed') + flaky.length} passed, ${failed.length} failed, ${count('skipped')} skipped`);
// Without a failed test ctest's exit code counts: there may be no test at all.
const isGreen = failedAtFirst.length === 0 ? code === 0 : failed.length === 0 && flaky.length <= MOST_FLAKY;
process.exit(isGreen ? 0 : code || 1);
