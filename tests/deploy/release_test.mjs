/**
 * ./dev release: its steps in order, with a stand-in for ./dev, since the real steps take an hour.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, test } from 'node:test';
import { EPOCH, otherCheckout } from './support.mjs';

/** Records its arguments, fails at $FAIL_AT, and makes small packages. */
const DEV = `#!/bin/sh
echo "$*" >>"$CALLS"
[ "$*" != "$FAIL_AT" ] || exit 7
case "$*" in
  version) echo 1.2.3 ;;
  'package deb') echo deb >"$MADE/callslip_1.2.3_amd64.deb"; echo "$MADE/callslip_1.2.3_amd64.deb" ;;
  'package arm64') echo deb >"$MADE/callslip_1.2.3_arm64.deb"; echo "$MADE/callslip_1.2.3_arm64.deb" ;;
  'package mcpb') echo mcpb >"$MADE/callslip-1.2.3-linux-x64.mcpb"; echo "$MADE/callslip-1.2.3-linux-x64.mcpb" ;;
  'package npm')
    for name in callslip callslip-linux-x64; do
      echo tgz >"$MADE/$name-1.2.3.tgz"
      echo "$MADE/$name-1.2.3.tgz"
    done ;;
  'package extension') echo zip >"$MADE/callslip-extension-1.2.3.zip"; echo "$MADE/callslip-extension-1.2.3.zip" ;;
esac
`;

const STEPS = [
  'version', 'version check', 'test --all', 'package deb', 'package arm64', 'package mcpb', 'package npm',
  'package extension',
];
const DATED = '# Changes\n\n## [1.2.3] - 2026-02-03\n';
const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@callslip.invalid'];

/** A repository with the release's own scripts and this change log. */
function repository(changes = DATED) {
  const folder = otherCheckout(['deploy/release', 'CMakeLists.txt']);
  writeFileSync(join(folder, 'CHANGELOG.md'), changes);
  writeFileSync(join(folder, 'dev'), DEV);
  writeFileSync(join(folder, '.gitignore'), '/build/\n/calls\n/made/\n');
  chmodSync(join(folder, 'dev'), 0o755);
  execFileSync('mkdir', [join(folder, 'made')]);
  const git = (...args) => execFileSync('git', [...WHO, ...args], { cwd: folder });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'all');
  return { folder, git };
}

/**
 * Runs the release; returns {status, stdout, stderr, calls}, where `calls` are the arguments of
 * ./dev.
 */
function release(folder, args = [], environment = {}) {
  const result = spawnSync(join(folder, 'deploy/release/release.sh'), args, {
    encoding: 'utf8',
    env: {
      ...env, SOURCE_DATE_EPOCH: EPOCH, CALLS: join(folder, 'calls'), MADE: join(folder, 'made'),
      ...environment,
    },
  });
  const calls = existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [];
  return { ...result, calls };
}

describe('a release', () => {
  test('runs its steps in order, and prints the remaining manual steps', () => {
    const { folder } = repository();
    const { status, stdout, stderr, calls } = release(folder);
    assert.equal(status, 0, stderr);
    assert.deepEqual(calls, STEPS);
    const out = join(folder, 'build/packages/1.2.3');
    assert.deepEqual(readdirSync(out).sort(), [
      'SHA256SUMS', 'callslip-1.2.3-linux-x64.mcpb', 'callslip-1.2.3.tgz',
      'callslip-extension-1.2.3.zip', 'callslip-linux-x64-1.2.3.tgz', 'callslip_1.2.3_amd64.deb',
      'callslip_1.2.3_arm64.deb',
    ]);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
    assert.equal(readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n').length, 6);
    assert.match(stdout, /Nothing was published/);
    assert.match(stdout, /registry_entry\.mjs build\/packages\/1\.2\.3\/callslip-1\.2\.3-linux-x64\.mcpb/);
  });

  test('does not push, tag, upload or sign anything', () => {
    const { folder, git } = repository();
    const tools = join(folder, 'made');
    for (const tool of ['npm', 'npx', 'curl', 'gpg', 'ssh', 'scp', 'mcp-publisher', 'gh']) {
      writeFileSync(join(tools, tool), `#!/bin/sh\necho ${tool} >>"$CALLS"\n`, { mode: 0o755 });
    }
    git('init', '--quiet', '--bare', join(folder, 'made/remote.git'));
    git('remote', 'add', 'origin', join(folder, 'made/remote.git'));
    const { status, calls } = release(folder, [], { PATH: `${tools}:${env.PATH}` });
    assert.equal(status, 0);
    assert.deepEqual(calls, STEPS);
    assert.equal(git('tag').toString() + git('ls-remote', 'origin').toString(), '');
  });

  test('removes the files of an earlier run', () => {
    const { folder } = repository();
    const old = join(folder, 'build/packages/1.2.3');
    execFileSync('mkdir', ['--parents', old]);
    writeFileSync(join(old, 'old.zip'), '');
    assert.equal(release(folder).status, 0);
    assert.ok(!existsSync(join(old, 'old.zip')));
  });

  STEPS.forEach((step, index) => {
    test(`stops when "${step}" fails`, () => {
      const { folder } = repository();
      const { status, stdout, calls } = release(folder, [], { FAIL_AT: step });
      assert.equal(status, 7);
      assert.deepEqual(calls, STEPS.slice(0, index + 1));
      assert.ok(!stdout.includes('By hand'));
    });
  });

  for (const [what, prepare, message] of [
    ['uncommitted changes', ({ folder }) => writeFileSync(join(folder, 'new'), ''),
      /commit them first/],
    ['an existing tag', ({ git }) => git('tag', 'v1.2.3'), /v1\.2\.3 is there already/],
  ]) {
    test(`is refused with ${what}, unless it is a trial`, () => {
      const made = repository();
      prepare(made);
      const { status, stderr, calls } = release(made.folder);
      assert.equal(status, 1);
      assert.match(stderr, message);
      assert.deepEqual(calls, STEPS.slice(0, 2));
      assert.equal(release(made.folder, ['--try']).status, 0);
    });
  }

  test('is refused without a date in the change log, unless it is a trial', () => {
    const { folder } = repository('# Changes\n\n## [1.2.3] - unreleased\n');
    const { status, stderr } = release(folder);
    assert.equal(status, 1);
    assert.match(stderr, /write the date of the release into the section \[1\.2\.3\]/);
    assert.equal(release(folder, ['--try']).status, 0);
  });

  test('rejects other options', () => {
    const { folder } = repository();
    for (const args of [['--now'], ['--try', '--try']]) {
      const { status, stderr, calls } = release(folder, args);
      assert.equal(status, 1);
      assert.match(stderr, /usage: \.\/dev release \[--try\]/);
      assert.deepEqual(calls, []);
    }
  });
});
