/** The README explains each permission of the manifest, and no others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file) => readFileSync(new URL(`../../extension/${file}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('manifest.json'));
const section = read('README.md').split(/^## /m).find((text) => text.startsWith('Permissions\n'));

/** The reasons by permission, in the rows of the section's table. */
const reasons = new Map([...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
  .map(([, name, why]) => [name, why]));

/** Everything that Chrome may ask a user for, or shows in a listing. */
const asked = [
  ...manifest.permissions, ...manifest.host_permissions,
  ...(manifest.optional_permissions ?? []), ...(manifest.optional_host_permissions ?? []),
  ...(manifest.content_scripts ?? []).flatMap(({ matches }) => matches),
];

for (const name of asked) {
  test(`the README gives a reason for the permission ${name}`, () => {
    assert.ok(reasons.get(name)?.length >= 40, `extension/README.md has no reason for ${name}`);
  });
}

test('the README gives reasons for no other permissions', () => {
  assert.deepEqual([...reasons.keys()].filter((name) => !asked.includes(name)), []);
});
