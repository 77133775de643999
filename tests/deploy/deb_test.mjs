/** The Debian package, made of a stand-in for a build, since a build takes an hour. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process, { env } from 'node:process';
import { before, describe, test } from 'node:test';
import { EPOCH, otherCheckout, pack, temporaryFolder } from './support.mjs';

const SOURCES = [
  'cmake/Package.cmake', 'cmake/PackageSettings.cmake', 'deploy/cluster', 'deploy/config',
  'deploy/debian', 'deploy/release', 'examples/grpc-js', 'proto/callslip', 'README.md',
  'ARCHITECTURE.md', 'CHANGELOG.md', 'LICENSE',
];

/** A project whose only program is one of the system's: nothing is compiled. */
const PROJECT = `cmake_minimum_required(VERSION 3.25)
project(callslip VERSION 1.2.3 LANGUAGES NONE)
install(PROGRAMS callslip-tracker DESTINATION bin COMPONENT programs)
include(cmake/Package.cmake)
`;

const EXTENSION = ['manifest.json', 'background.js', 'src/z.js', 'src/a.js', 'popup.html'];
const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@callslip.invalid'];

/** A checkout, made with this umask and its files in this order, and configured by cmake. */
function checkout({ umask = 0o022, files = EXTENSION } = {}) {
  const former = process.umask(umask);
  try {
    const folder = otherCheckout(SOURCES);
    for (const name of ['docs', 'extension/src']) mkdirSync(join(folder, name), { recursive: true });
    for (const name of files) writeFileSync(join(folder, 'extension', name), `${name}\n`);
    writeFileSync(join(folder, 'CMakeLists.txt'), PROJECT);
    copyFileSync('/bin/true', join(folder, 'callslip-tracker'));
    const options = ['-S', '.', '-B', 'build', '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'];
    execFileSync('cmake', options, { cwd: folder });
    return folder;
  } finally {
    process.umask(former);
  }
}

/** Packs a checkout. */
const packDeb = (source, environment) =>
  pack(['deb', join(source, 'build'), temporaryFolder()], { source, environment });

/** The path of the checkout's package. */
function packed(source, environment) {
  const { status, path, error } = packDeb(source, environment);
  assert.equal(status, 0, error);
  return path;
}

const ask = (...args) => execFileSync('dpkg-deb', args, { encoding: 'utf8' });
const theSame = (one, other) => assert.ok(readFileSync(one).equals(readFileSync(other)));

describe('the Debian package', () => {
  let folder;
  let deb;

  before(() => {
    folder = checkout();
    deb = packed(folder);
  });

  test('is byte-identical for another checkout, user and time', () => {
    const other = checkout({ umask: 0o077, files: EXTENSION.toReversed() });
    execFileSync('touch', ['--date=@1500000000', join(other, 'callslip-tracker')]);
    const former = process.umask(0o077);
    try {
      theSame(packed(other, { TZ: 'America/Lima', HOME: '/nonexistent' }), deb);
    } finally {
      process.umask(former);
    }
  });

  test('is named after its version and architecture', () => {
    const machine = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' });
    assert.ok(deb.endsWith(`/callslip_1.2.3_${machine.trim()}.deb`), deb);
    assert.equal(ask('--field', deb, 'Architecture'), machine);
  });

  test('depends on the libraries that its programs load', () => {
    assert.match(ask('--field', deb, 'Depends'), /^adduser, libc6 \(>= [0-9.]+\)\n$/);
  });

  test('holds files with one date, sorted by name and readable by everyone', () => {
    const lines = ask('--contents', deb).trim().split('\n').map((line) => line.split(/\s+/));
    const column = (index) => [...new Set(lines.map((line) => line[index]))].sort();
    assert.deepEqual(column(0), ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x']);
    assert.deepEqual(column(1), ['root/root']);
    const date = execFileSync('date', [`--date=@${EPOCH}`, '+%F %H:%M'], { encoding: 'utf8' });
    assert.deepEqual([...column(3), ...column(4)], date.trim().split(' '));
    const names = lines.map((line) => line[5].replace(/\/$/, ''));
    assert.deepEqual(names, names.toSorted());
    assert.ok(names.includes('./usr/share/callslip/extension/src/a.js'));
    assert.ok(names.includes('./usr/share/doc/callslip/examples/cluster/callslip-tracker.conf'));
  });

  test('has the date of the last commit by default', () => {
    const git = (...args) => execFileSync('git', [...WHO, ...args], {
      cwd: folder, env: { ...env, GIT_COMMITTER_DATE: `@${EPOCH} +0000` },
    });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'all');
    theSame(packed(folder, { SOURCE_DATE_EPOCH: undefined }), deb);
  });

  test('is not made without a date', () => {
    const { status, error } = packDeb(checkout(), { SOURCE_DATE_EPOCH: undefined });
    assert.equal(status, 1);
    assert.match(error, /set SOURCE_DATE_EPOCH to the seconds since 1970/);
  });

  test('is not made from an unconfigured build folder', () => {
    const { status, error } = pack(['deb', temporaryFolder(), temporaryFolder()]);
    assert.equal(status, 1);
    assert.match(error, /cpack could not make a package of /);
  });
});
