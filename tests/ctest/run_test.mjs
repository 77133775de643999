/** The end of a test run: a flaky test does not fail it, a failing test does. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { stretchOf } from './machine.mjs';

const RUN = fileURLToPath(new URL('run.mjs', import.meta.url));
const STRESS = fileURLToPath(new URL('stress.mjs', import.meta.url));

describe('a test run', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'callslip-run-'));
    env = {};
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const kept = (name) => join(folder, 'kept', name);
  /** Fails at its first run, its third, and so on. */
  const everySecond = (name) => {
    const mark = join(folder, `${name.replace(/\W/g, '_')}.ran`);
    return [name, `if rm ${mark} 2>/dev/null; then exit 0; fi; touch ${mark}; echo "not ok 1 - <${name}>"; exit 1`];
  };
  const lay = (tests) => writeFileSync(join(folder, 'CTestTestfile.cmake'), Object.entries(tests).map(([name, script]) =>
    `add_test([==[${name}]==] sh -c [==[${script}]==])
     set_tests_properties([==[${name}]==] PROPERTIES SKIP_RETURN_CODE 77)`).join('\n'));
  let env;
  const start = (...args) => {
    const { status, stdout } = spawnSync('node', args, { encoding: 'utf8',
      env: { CALLSLIP_STRETCH: '1', ...process.env, CALLSLIP_STRESS_LOAD: 1, ...env } });
    return { status, stdout, lines: stdout.trimEnd().split('\n') };
  };
  const run = (tests, ...more) => {
    lay(tests);
    return start(RUN, kept(''), '--test-dir', folder, ...more);
  };

  test('succeeds when all tests pass', () => {
    const { status, lines } = run({ one: 'exit 0', two: 'exit 0', three: 'exit 77' });
    assert.equal(status, 0);
    assert.equal(lines.at(-1), '2 passed, 0 failed, 1 skipped');
  });

  test('stretches deadlines to fit the machine', () => {
    const asks = { one: 'echo "not ok 1 - waits $CALLSLIP_STRETCH"; exit 1' };
    env = { CALLSLIP_STRETCH: '2.5' };
    assert.match(run(asks).stdout, /waits 2\.5\n/);
    env = { CALLSLIP_STRETCH: '' };
    const { stdout } = run(asks);
    const [, said] = stdout.match(/: loop \d+\.\d, start \d+\.\d, sync \d+\.\d\. .* are (\d+\.\d\d) times as long\.\n/);
    assert.match(stdout, new RegExp(`waits ${said}\\n`));
    assert.ok(Number(said) >= 1);
    assert.equal(stretchOf({ loop: 0.5, start: 0.9, sync: 0.01 }), 1);
    assert.equal(stretchOf({ loop: 0.5, start: 3, sync: 1.5 }), 3);
  });

  test('succeeds when a test passes on retry, names it, and keeps its output', () => {
    const tests = Object.fromEntries([['one', 'exit 0'], everySecond('Suite/Flaky.Test[1]/0')]);
    const first = run(tests);
    assert.equal(first.status, 0, first.stdout);
    assert.match(first.lines.at(-2), /^flaky: Suite\/Flaky\.Test\[1\]\/0 \(1 of 1 runs; .*Suite_Flaky\.Test_1__0\.log\)$/);
    assert.equal(first.lines.at(-1), '2 passed, 0 failed, 0 skipped');
    assert.match(readFileSync(kept('Suite_Flaky.Test_1__0.log'), 'utf8'), /not ok 1 - <Suite/);
    run({ one: 'exit 0' });
    assert.match(run(tests).lines.at(-2), /\(2 of 3 runs; /);
  });

  test('fails when a test fails again, and shows its output', () => {
    const { status, lines, stdout } = run({ one: 'exit 0', two: 'echo "not ok 1 - a & b"; exit 1', gone: 'kill -SEGV $$' });
    assert.notEqual(status, 0);
    assert.equal(lines.at(-1), '1 passed, 2 failed, 0 skipped');
    assert.match(stdout, /== two failed\nnot ok 1 - a & b\n/);
    assert.doesNotMatch(stdout, /^flaky:/m);
  });

  test('fails when more than three tests are flaky', () => {
    const three = Object.fromEntries(['a', 'b', 'c'].map(everySecond));
    assert.equal(run(three).status, 0);
    const four = run(Object.fromEntries(['a', 'b', 'c', 'd'].map(everySecond)));
    assert.notEqual(four.status, 0);
    assert.match(four.stdout, /^More than 3 flaky tests fail the run\.$/m);
    assert.equal(four.lines.at(-1), '4 passed, 0 failed, 0 skipped');
  });

  test('fails without a retry when most tests fail', () => {
    const { status, stdout } = run(Object.fromEntries(Array.from({ length: 21 }, (_, at) => everySecond(`t${at}`))));
    assert.notEqual(status, 0);
    assert.doesNotMatch(stdout, /Once more/);
    assert.match(stdout, /\n0 passed, 21 failed, 0 skipped\n$/);
  });

  test('fails when it finds no test or a test cannot be run', () => {
    assert.notEqual(run({ one: 'exit 0' }, '--no-tests=error', '-R', 'nothing').status, 0);
    assert.notEqual(run({ one: 'exit 0' }, '--test-dir', join(folder, 'none')).status, 0);
    writeFileSync(join(folder, 'CTestTestfile.cmake'), 'add_test(gone /nowhere/at/all)');
    const { status, stdout } = start(RUN, kept(''), '--test-dir', folder);
    assert.notEqual(status, 0);
    assert.match(stdout, /\n0 passed, 1 failed, 0 skipped\n$/);
  });

  test('names the slowest tests', () => {
    const { stdout } = run(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`t${at}`, at === 4 ? 'sleep 0.3' : 'exit 0'])));
    assert.match(stdout, /\nThe slowest:\n +0\.3 s {2}t4\n/);
    assert.equal(existsSync(kept('counts.json')), true);
  });

  test('counts the failures of each test when repeated on a busy machine', () => {
    lay(Object.fromEntries([['one', 'exit 0'], everySecond('two'), ['three', 'exit 1']]));
    const { status, lines, stdout } = start(STRESS, kept(''), '3', '--test-dir', folder);
    assert.equal(status, 1);
    assert.match(stdout, /^round 2 of 3: 3 tests, three failed$/m);
    assert.match(lines.at(-3), /^ {3}3 of 3 {2}three \(/);
    assert.match(lines.at(-2), /^ {3}2 of 3 {2}two \(/);
    assert.equal(lines.at(-1), '1 never failed, 2 did, in 3 rounds');
    assert.match(readFileSync(kept('two.log'), 'utf8'), /not ok 1/);
    lay({ one: 'exit 0' });
    assert.equal(start(STRESS, kept(''), '2', '--test-dir', folder).status, 0);
    assert.notEqual(start(STRESS, kept(''), '2', '--test-dir', folder, '--no-tests=error', '-R', 'nothing').status, 0);
  });
});
