/** Runs ctest, and reads its reports. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs `ctest` with its usual output. Returns its exit code, and its tests as of readReport(). */
export function ctest(args, { stdio = 'inherit' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'callslip-ctest-'));
  try {
    const report = join(folder, 'report.xml');
    const { status } = spawnSync('ctest', [...args, '--output-junit', report], { stdio });
    return { code: status ?? 1, tests: existsSync(report) ? readReport(readFileSync(report, 'utf8')) : [] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ENTITIES = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const unescape = (text) => text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
  decimal ? String.fromCodePoint(Number(decimal))
    : hex ? String.fromCodePoint(parseInt(hex, 16)) : ENTITIES[name] ?? whole);

/**
 * The tests of a report by --output-junit: {name, seconds, outcome, output}, where the outcome is
 * `passed`, `failed` or `skipped`. A test that ctest could not start has failed.
 */
export function readReport(xml) {
  return [...xml.matchAll(/<testcase name="([^"]*)"[^>]*? time="([^"]*)" status="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)]
    .map(([, name, seconds, status, inner]) => ({
      name: unescape(name),
      seconds: Number(seconds),
      outcome: outcomeOf(status, inner),
      output: unescape(/<system-out>(.*?)<\/system-out>/s.exec(inner)?.[1] ?? ''),
    }));
}

function outcomeOf(status, inner) {
  if (status === 'run') return 'passed';
  const isSkipped = status === 'disabled' || /<skipped message="SKIP_/.test(inner);
  return isSkipped ? 'skipped' : 'failed';
}

export const failedOf = (tests) => tests.filter(({ outcome }) => outcome === 'failed');

/** The file in `folder` for the output of a test. */
export const logOf = (folder, name) => join(folder, `${name.replace(/[^\w.-]/g, '_')}.log`);

/** The lines of a failed test's output that locate the failure: at most the last twelve. */
export function reasonsIn(output) {
  const telling = /^\s*(not ok|✖) |Error\b|still not so|_test\.(mjs|js|cc):\d+|Failure$|\[ {2}FAILED/;
  return output.split('\n').filter((line) => telling.test(line)).slice(-12).map((line) => line.slice(0, 200));
}
