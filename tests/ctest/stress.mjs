/**
 * Runs tests repeatedly on a busy machine, and prints how often each has failed.
 *
 *   node stress.mjs FOLDER ROUNDS ARGUMENT...    runs `ctest ARGUMENT...` ROUNDS times; FOLDER gets
 *                                                the output of each test's latest failure
 *
 * CALLSLIP_STRESS_LOAD processes (default 6) keep the machine busy meanwhile. Ends with 0 if no
 * test failed.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ctest, failedOf, logOf, reasonsIn } from './ctest.js';
import { stretchDeadlines } from './machine.mjs';

const [folder, rounds, ...args] = process.argv.slice(2);
if (!folder || !/^[1-9]\d*$/.test(rounds ?? '') || args.length === 0) {
  console.error('usage: node stress.mjs FOLDER ROUNDS CTEST-ARGUMENT...');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const load = Array.from({ length: Number(process.env.CALLSLIP_STRESS_LOAD ?? 6) },
  // They end with this process, however it ends.
  () => spawn(process.execPath, ['-e', `process.stdin.resume().on('end', () => process.exit());
    (function spin() { const until = Date.now() + 50; while (Date.now() < until); setImmediate(spin); })()`],
  { stdio: ['pipe', 'ignore', 'ignore'] }));

const counts = new Map();
let found = 0;
let code = 0;
try {
  await stretchDeadlines();
  for (let round = 1; round <= Number(rounds); round++) {
    const run = ctest(args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const failed = failedOf(run.tests);
    found = run.tests.length;
    // Without a failed test, ctest itself failed.
    if (run.code !== 0 && failed.length === 0) code = run.code;
    console.log(`round ${round} of ${rounds}: ${run.tests.length} tests, ${failed.map(({ name }) => name).join(', ') || 'none'} failed`);
    for (const { name, output } of failed) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      writeFileSync(logOf(folder, name), output);
      console.log(reasonsIn(output).map((line) => `    ${line.trim()}`).join('\n'));
    }
  }
} finally {
  for (const each of load) each.kill('SIGKILL');
}
console.log('');
for (const [name, count] of [...counts].sort(([, one], [, other]) => other - one)) {
  console.log(`${String(count).padStart(4)} of ${rounds}  ${name} (${relative('.', logOf(folder, name))})`);
}
console.log(`${found - counts.size} never failed, ${counts.size} did, in ${rounds} rounds`);
process.exit(code || (counts.size > 0 ? 1 : 0));
