/** One version, in all places that name it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  differences, filesOf, placesOf, setVersion, versionOf,
} from '../../deploy/release/version.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files with any version as an example of the format, in comments. */
const EXAMPLES = [
  'proto/callslip/tracker/v1/admin_service.proto', 'proto/callslip/tracker/v1/worker.proto',
  'services/bridge/doctor/doctor.cc', 'services/bridge/doctor/links_beyond_tracker.cc',
];

/** Texts about several versions. */
const HISTORY = ['CHANGELOG.md', 'docs/compatibility.md'];

describe('the repository', () => {
  test('names one version everywhere', () => assert.deepEqual(differences(root), []));

  test('names its version in no unchecked file', () => {
    const known = new Set([...placesOf(root).map(({ file }) => file), ...EXAMPLES, ...HISTORY]);
    const word = new RegExp(`(?<![\\d.])${versionOf(root).replaceAll('.', '\\.')}(?![\\d.]*\\d)`);
    const strays = filesOf(root)
      .filter((file) => !known.has(file))
      .filter((file) => !/^tests\/|_test\.|package-lock\.json$/.test(file))
      .filter((file) => word.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(strays, []);
  });

  test('names its version in each kind of file', () => {
    const files = new Set(placesOf(root).map(({ file }) => file));
    for (const file of ['CMakeLists.txt', 'CHANGELOG.md', 'docs/operations.md',
      'extension/manifest.json']) {
      assert.ok(files.has(file), file);
    }
  });
});

describe('the version of a source tree', () => {
  const made = [];
  after(() => made.forEach((folder) => rmSync(folder, { recursive: true })));

  function tree(files) {
    const folder = mkdtempSync(join(tmpdir(), 'callslip-version-'));
    made.push(folder);
    execFileSync('git', ['init', '--quiet', folder]);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  }

  const CMAKE = 'cmake_minimum_required(VERSION 3.25)\nproject(callslip VERSION 1.2.3 LANGUAGES CXX)\n';

  test('is checked in all places, and each difference is reported', () => {
    const folder = tree({
      'CMakeLists.txt': CMAKE,
      'CHANGELOG.md': '# Changes\n\n## [1.2.2] - 2026-01-01\n\n## [1.2.1] - 2025-01-01\n',
      'docs/a.md': '{"version": "1.2.3"} and\n{"version": "9.9.9"}\n',
      'extension/manifest.json': '{\n  "manifest_version": 3,\n  "version": "1.2.4"\n}\n',
      'deploy/registry/server.json': '{\n  "identifier": "https://a.test/b-1.2.0-linux.mcpb"\n}\n',
    });
    assert.deepEqual(differences(folder).sort(), [
      'CHANGELOG.md:3 says 1.2.2', 'deploy/registry/server.json:2 says 1.2.0',
      'docs/a.md:2 says 9.9.9', 'extension/manifest.json:3 says 1.2.4',
    ]);
  });

  test('is changed in every place of every file except the change log', () => {
    const folder = tree({
      'CMakeLists.txt': CMAKE,
      'CHANGELOG.md': '# Changes\n\n## [1.2.3]\n',
      'docs/a.md': '{"version": "1.2.3"} and {"version": "1.2.3"}, since 1.2.3\n',
    });
    assert.deepEqual(setVersion(folder, '10.0.0').map(({ file }) => file), ['CHANGELOG.md']);
    assert.equal(versionOf(folder), '10.0.0');
    assert.equal(readFileSync(join(folder, 'docs/a.md'), 'utf8'),
      '{"version": "10.0.0"} and {"version": "10.0.0"}, since 1.2.3\n');
    assert.deepEqual(differences(folder), ['CHANGELOG.md:3 says 1.2.3']);
  });

  for (const wrong of ['', '1.2', '1.2.3-rc1', 'v1.2.3', '01.2.3', '1.2.70000']) {
    test(`is not changed to the invalid "${wrong}"`, () => {
      const folder = tree({ 'CMakeLists.txt': CMAKE });
      assert.throws(() => setVersion(folder, wrong), /is no version: write three numbers/);
      assert.equal(versionOf(folder), '1.2.3');
    });
  }

  test('is reported as missing if CMakeLists.txt has none', () => {
    assert.throws(() => versionOf(tree({ 'CMakeLists.txt': 'project(other)\n' })), /no line/);
  });
});
