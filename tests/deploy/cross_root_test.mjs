/**
 * The root of arm64's libraries, made with a stand-in for mmdebstrap, which would download a
 * hundred packages.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeEach, describe, test } from 'node:test';
import { otherCheckout, temporaryFolder } from './support.mjs';

/** Records its arguments, and leaves one package and its content. */
const MMDEBSTRAP = `#!/bin/sh -e
echo "$*" >>"$CALLS"
[ -z "$FAIL" ] || { echo 'no such package' >&2; exit 1; }
for argument; do case $argument in */made-here) root=$argument ;; esac; done
mkdir -p "$root/var/cache/apt/archives" "$root/usr/lib/aarch64-linux-gnu" "$root/lib"
cp "$DEB" "$root/var/cache/apt/archives/"
dpkg-deb --extract "$DEB" "$root"
ln -s /usr/lib/aarch64-linux-gnu/libdemo.so.1.0 "$root/lib/libdemo.so"
`;

/** A package with a stand-in for an arm64 library. */
function demoPackage() {
  const folder = temporaryFolder();
  const library = join(folder, 'demo/usr/lib/aarch64-linux-gnu');
  mkdirSync(library, { recursive: true });
  mkdirSync(join(folder, 'demo/DEBIAN'));
  writeFileSync(join(library, 'libdemo.so.1.0'), '');
  const control = {
    Package: 'libdemo1', Version: '1.0', Architecture: 'arm64', 'Multi-Arch': 'same',
    Maintainer: 'Test <test@callslip.invalid>', Description: 'demo',
  };
  const lines = Object.entries(control).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(join(folder, 'demo/DEBIAN/control'), lines.join(''));
  writeFileSync(join(folder, 'demo/DEBIAN/shlibs'), 'libdemo 1 libdemo1 (>= 1.0)\n');
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', 'demo', 'demo.deb'],
    { cwd: folder, stdio: 'ignore' });
  return join(folder, 'demo.deb');
}

describe('the root for arm64', () => {
  const deb = demoPackage();
  let source;
  let root;
  let calls;

  beforeEach(() => {
    source = otherCheckout(['deploy/cross', 'deploy/debian_sources.sh', 'deploy/packages']);
    root = join(source, 'made-here');
    calls = join(source, 'calls');
    mkdirSync(join(source, 'tools'));
    writeFileSync(join(source, 'tools/mmdebstrap'), MMDEBSTRAP, { mode: 0o755 });
    writeFileSync(calls, '');
  });

  const make = (environment = {}) => spawnSync(join(source, 'deploy/cross/root.sh'), [root], {
    encoding: 'utf8',
    env: { ...env, PATH: `${join(source, 'tools')}:${env.PATH}`, CALLS: calls, DEB: deb, ...environment },
  });
  const asked = () => readFileSync(calls, 'utf8').split('\n').filter(Boolean);
  const dpkg = (...args) => execFileSync('dpkg-query', args,
    { encoding: 'utf8', env: { ...env, DPKG_ADMINDIR: join(root, 'var/lib/dpkg') } }).trim();

  test('has all build packages except programs, which come from the host', () => {
    assert.equal(make().status, 0);
    const [call] = asked();
    assert.match(call, /--architectures=arm64 /);
    const fetched = call.match(/--include=(\S+)/)[1].split(',');
    const listed = readFileSync(join(source, 'deploy/packages/build.txt'), 'utf8')
      .replaceAll(/#.*/g, '').split(/\s+/).filter(Boolean);
    assert.deepEqual(listed.filter((name) => !fetched.includes(name)), [
      'g++', 'cmake', 'ninja-build', 'ccache', 'pkg-config', 'protobuf-compiler',
      'protobuf-compiler-grpc', 'civetweb',
    ]);
    assert.deepEqual(fetched.filter((name) => !listed.includes(name)), []);
  });

  test('has no link to the outside except to the programs that a build calls', () => {
    assert.equal(make().status, 0);
    assert.equal(readlinkSync(join(root, 'lib/libdemo.so')),
      '../usr/lib/aarch64-linux-gnu/libdemo.so.1.0');
    for (const program of ['grpc_cpp_plugin', 'civetweb']) {
      assert.equal(readlinkSync(join(root, 'usr/bin', program)), `/usr/bin/${program}`);
    }
  });

  test('knows the package of a library, and its dependency information', () => {
    assert.equal(make().status, 0);
    const library = join(root, 'usr/lib/aarch64-linux-gnu/libdemo.so.1.0');
    assert.equal(dpkg('--search', library), `libdemo1:arm64: ${library}`);
    const shlibs = dpkg('--control-path', 'libdemo1:arm64', 'shlibs');
    assert.equal(readFileSync(shlibs, 'utf8'), 'libdemo 1 libdemo1 (>= 1.0)\n');
    assert.ok(!existsSync(join(root, 'var/cache/apt/archives/demo.deb')));
  });

  test('is made once, and again when the list of packages changes', () => {
    for (let time = 0; time < 2; time++) assert.equal(make().status, 0);
    assert.equal(asked().length, 1);
    appendFileSync(join(source, 'deploy/packages/build.txt'), 'libnew-dev\n');
    writeFileSync(join(root, 'old'), '');
    assert.equal(make().status, 0);
    assert.equal(asked().length, 2);
    assert.match(asked()[1], /,libnew-dev /);
    assert.ok(!existsSync(join(root, 'old')));
  });

  test('is made again after a failure, which is reported', () => {
    const { status, stderr } = make({ FAIL: '1' });
    assert.equal(status, 1);
    assert.match(stderr, /no such package\nroot: the root could not be made/);
    assert.equal(make().status, 0);
    assert.equal(asked().length, 2);
  });
});
