/** Each relative link of the documentation leads to a file, and to one of its headings. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { root } from './support.mjs';

const pages = execFileSync('git', ['-C', root, 'ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
const read = (file) => readFileSync(join(root, file), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The anchors that GitHub makes for the headings of a page. */
function anchors(file) {
  const seen = new Map();
  return new Set([...read(file).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => {
    const slug = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times ? `${slug}-${times}` : slug;
  }));
}

test('each relative link leads to an existing file and heading', () => {
  let count = 0;
  const broken = pages.flatMap((page) => [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link)).filter((link) => {
      count += 1;
      const [path, anchor] = link.split('#');
      const file = path ? normalize(join(dirname(page), path)) : page;
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && !(file.endsWith('.md') && anchors(file).has(anchor));
    }).map((link) => `${page}: ${link}`));
  assert.deepEqual(broken, []);
  assert.ok(count > 100, `${count}`);
});
