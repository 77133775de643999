// Runs web/test/*_test.ts: esbuild makes scripts of them, which node:test takes.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
// Beside node_modules, where packages are found.
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
