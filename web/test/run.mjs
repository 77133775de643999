// Runs the tests of web/test: esbuild makes scripts of them for node:test.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
// In node_modules, so that imports of packages resolve.
const out = mkdtempSync(join(here, '../node_modules/.callslip-test-'));
try {
  const tests = readdirSync(here).filter(name => name.endsWith('_test.ts') || name.endsWith('_test.tsx'));
  await esbuild.build({
    entryPoints: tests.map(name => join(here, name)), outdir: out, bundle: true, platform: 'node',
    format: 'esm', outExtension: {'.js': '.mjs'}, packages: 'external', target: 'node18',
    jsx: 'automatic', jsxImportSource: 'preact', logLevel: 'warning',
  });
  const files = readdirSync(out).filter(name => name.endsWith('.mjs')).map(name => join(out, name));
  const {status} = spawnSync(process.execPath, ['--test', ...files], {cwd: join(here, '..'), stdio: 'inherit'});
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, {recursive: true, force: true});
}
