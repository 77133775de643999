/**
 * The lists of "What to edit" in CONTRIBUTING.md have exactly the files that mention their
 * examples.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { root } from './support.mjs';

const PRODUCT = ['services', 'proto', 'web/src', 'extension/src', 'extension/README.md', 'docs'];
const text = readFileSync(`${root}/CONTRIBUTING.md`, 'utf8');
const files = execFileSync('git', ['-C', root, 'ls-files', '--', ...PRODUCT], { encoding: 'utf8' }).trim().split('\n')
  .filter((file) => !/_test\.cc$|fixture|\/fake_|\/testing\/|^docs\/adr\/|\.(css|png|txt)$/.test(file));
const read = (file) => readFileSync(`${root}/${file}`, 'utf8');

const sections = text.split('\n## What to edit\n')[1].split('\n## ')[0].split('\n### ').slice(1).map((section) => {
  const pattern = /^Example: .* Pattern: (`+)(.*?)\1$/m.exec(section)?.[2];
  const [title] = section.split('\n');
  return {
    title, pattern: new RegExp(pattern ?? assert.fail(title)),
    listed: [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path]) => path),
    also: section.split('\nAlso')[1] ?? '',
  };
});

/** A list's `*` is a part of a name. */
const toPattern = (path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);

describe('the section "What to edit"', () => {
  test('covers the usual changes', () => assert.ok(sections.length >= 7, `${sections.length}`));

  for (const { title, pattern, listed, also } of sections) {
    test(`lists exactly the files that mention the example of "${title}"`, () => {
      const mentioned = files.filter((file) => pattern.test(read(file)));
      const patterns = listed.map(toPattern);
      assert.deepEqual(mentioned.filter((file) => !patterns.some((each) => each.test(file))), [], 'not listed');
      assert.deepEqual(listed.filter((_, i) => !mentioned.some((file) => patterns[i].test(file))), [], 'listed in vain');
      assert.equal(new Set(listed).size, listed.length);
    });

    test(`names only existing files after the list of "${title}"`, () => {
      const named = [...also.matchAll(/`((?:services|tests|deploy|docs|web)\/[\w./*-]+)`/g)].map(([, path]) => path);
      const all = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8' }).trim().split('\n');
      assert.deepEqual(named.filter((path) =>
        !existsSync(`${root}/${path}`) && !all.some((file) => toPattern(path).test(file))), []);
    });
  }
});
