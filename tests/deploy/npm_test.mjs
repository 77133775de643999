/** The packages for npm: their content, and the launcher. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch, env, execPath } from 'node:process';
import { before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { versionOf } from '../../deploy/release/version.mjs';
import { stretched } from '../support/patience.js';
import { otherCheckout, pack, root, standIns, temporaryFolder } from './support.mjs';

const BIN = env.CALLSLIP_BIN ?? join(root, 'build/dev/bin');
const LIMIT_BYTES = 40e6;
const SOURCES = ['deploy/release', 'deploy/npm', 'extension', 'CMakeLists.txt', 'LICENSE'];
const NAMES = ['bridge', 'gateway', 'keeper', 'runner', 'tracker'];
const PROGRAMS = NAMES.map((name) => `callslip-${name}`);
const version = versionOf(root);
const ONLY = { skip: arch === 'x64' ? false : 'there are programs for x64 only' };
const TIMEOUT = { ...ONLY, timeout: stretched(60_000) };

/** The folders of launcher and programs, unpacked as npm installs them. */
function install(path) {
  const modules = join(temporaryFolder(), 'node_modules');
  return path.split('\n').map((file) => {
    const { name } = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json']));
    const folder = join(modules, name);
    execFileSync('mkdir', ['--parents', folder]);
    execFileSync('tar', ['-xzf', file, '--directory', folder, '--strip-components=1']);
    return folder;
  });
}

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

describe('npm packages of stand-in programs', ONLY, () => {
  let archives;
  let launcher;
  let programs;

  before(() => {
    const packed = pack(['npm', standIns(version, NAMES), temporaryFolder()]);
    assert.equal(packed.status, 0, packed.error);
    archives = packed.path;
    [launcher, programs] = install(archives);
  });

  /** Runs the launcher; returns {status, stdout, stderr}. */
  const type = (...args) => spawnSync(execPath, [join(launcher, 'bin/callslip.js'), ...args],
    { encoding: 'utf8', env: { PATH: env.PATH } });

  test('the launcher depends on the programs of its version', () => {
    assert.deepEqual(manifestOf(launcher).optionalDependencies, { 'callslip-linux-x64': version });
    assert.equal(manifestOf(programs).name, 'callslip-linux-x64');
    for (const folder of [launcher, programs]) assert.equal(manifestOf(folder).version, version);
  });

  test('all programs are present and executable', () => {
    for (const name of PROGRAMS) {
      assert.equal(statSync(join(programs, 'bin', name)).mode & 0o777, 0o755, name);
    }
  });

  test('a command runs its program', () => {
    for (const [command, name] of [['bridge', 'bridge'], ['doctor', 'bridge'], ['runner', 'runner']]) {
      assert.equal(type(command).stdout, `callslip-${name} ${version}\n`);
    }
  });

  test('extension-path prints the folder of the extension', () => {
    const { status, stdout } = type('extension-path');
    assert.equal(status, 0);
    assert.ok(stdout.startsWith(launcher));
    assert.ok(existsSync(join(stdout.trim(), 'manifest.json')));
  });

  test('the launcher passes its arguments on, and exits with the program\'s code', () => {
    writeFileSync(join(programs, 'bin/callslip-runner'), '#!/bin/sh\necho "$@"\nexit 7\n');
    const { status, stdout } = type('runner', 'check', '--runner-file', 'a b');
    assert.deepEqual([status, stdout], [7, 'check --runner-file a b\n']);
  });

  test('the launcher forwards a signal, and ends by it like its program', TIMEOUT, async () => {
    writeFileSync(join(programs, 'bin/callslip-bridge'),
      '#!/bin/sh\necho $$\nread line\n');
    const child = spawn(execPath, [join(launcher, 'bin/callslip.js'), 'bridge'],
      { env: { PATH: env.PATH }, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const [pid] = await once(child.stdout, 'data');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [null, 'SIGTERM']);
    // Its parent is gone, so another process collects its exit code.
    await assert.rejects(async () => {
      for (const until = performance.now() + stretched(5_000); performance.now() < until; await pause(10)) {
        process.kill(Number(pid), 0);
      }
    }, { code: 'ESRCH' });
  });

  test('an unknown command prints the usage', () => {
    const { status, stderr } = type('dance');
    assert.equal(status, 2);
    assert.match(stderr, /^Usage: callslip COMMAND/);
  });

  test('the launcher without programs reports the supported systems', () => {
    const [alone, without] = install(archives);
    rmSync(without, { recursive: true });
    const { status, stderr } = spawnSync(execPath, [join(alone, 'bin/callslip.js'), 'bridge'],
      { encoding: 'utf8', env: { PATH: env.PATH } });
    assert.equal(status, 1);
    assert.match(stderr, /^callslip: the package callslip-linux-x64 is not here.*glibc 2\.36 or later/);
  });

  test('the packages are byte-identical for another checkout and time zone', () => {
    const others = standIns(version, NAMES);
    for (const name of PROGRAMS) chmodSync(join(others, name), 0o700);
    const again = pack(['npm', others, temporaryFolder()],
      { source: otherCheckout(SOURCES), environment: { TZ: 'America/Lima' } });
    assert.equal(again.status, 0, again.error);
    const before = archives.split('\n');
    again.path.split('\n').forEach((file, index) =>
      assert.ok(readFileSync(file).equals(readFileSync(before[index])), file));
  });

  test('the packages are not made from programs of another version', () => {
    const { status, error } = pack(['npm', standIns('0.0.9', NAMES), temporaryFolder()]);
    assert.equal(status, 1);
    assert.match(error, /callslip-bridge says "callslip-bridge 0\.0\.9": build .* first/);
  });
});

test('npm packages of this build are small, and have a licence for each library', TIMEOUT, () => {
  const { status, path, error } = pack(['npm', BIN, temporaryFolder()]);
  assert.equal(status, 0, error);
  const bytes = path.split('\n').reduce((sum, file) => sum + statSync(file).size, 0);
  assert.ok(bytes <= LIMIT_BYTES, `${bytes} bytes`);
  const [, programs] = install(path);
  for (const name of ['callslip', 'libssl3', 'libgrpc29', 'libstdc++6', 'GPL-3', 'Apache-2.0']) {
    assert.ok(statSync(join(programs, 'licenses', name)).size > 0, name);
  }
});
