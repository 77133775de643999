/** Shared by the tests of packages: temporary folders, the packer, and the content of archives. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process, { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { stretched } from '../support/patience.js';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The time of every archive of a test. */
export const EPOCH = '1767225600';

const folders = [];
process.on('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

export function temporaryFolder() {
  folders.push(mkdtempSync(join(tmpdir(), 'callslip-deploy-')));
  return folders.at(-1);
}

/** Runs pack.sh of `source`, by default of the repository; returns {status, path, error}. */
export function pack(args, { source = root, environment = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(join(source, 'deploy/release/pack.sh'), args, {
    encoding: 'utf8', env: { ...env, SOURCE_DATE_EPOCH: EPOCH, ...environment }, timeout: stretched(60_000),
  });
  return { status, path: stdout.trim(), error: stderr };
}

/** Unpacks an archive; returns the folder, and the archive's names in order. */
export function unpack(archive) {
  const folder = temporaryFolder();
  execFileSync('unzip', ['-q', archive, '-d', folder]);
  const names = execFileSync('unzip', ['-Z1', archive], { encoding: 'utf8' }).trim().split('\n');
  return { folder, names };
}

/** A copy of the repository's folders whose files differ in time, mode and order on disk. */
export function otherCheckout(folders) {
  const copy = temporaryFolder();
  for (const name of folders) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    execFileSync('cp', ['--recursive', join(root, name), join(copy, name)]);
  }
  execFileSync('chmod', ['--recursive', 'go=', copy]);
  return copy;
}

/** Stand-ins for the programs of a build, which only print their version. */
export function standIns(version, programs = ['bridge', 'gateway', 'tracker']) {
  const folder = temporaryFolder();
  for (const name of programs.map((program) => `callslip-${program}`)) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} ${version}"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
