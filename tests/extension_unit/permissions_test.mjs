/** The README says of each permission what it is for, and names none that the manifest does not ask for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file) => readFileSync(new URL(`../../extension/${file}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('manifest.json'));
const section = read('README.md').split(/^## /m).find((text) => text.startsWith('Permissions\n'));

/** Why, by permission, in the rows of the section's table. */
const reasons = new Map([...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
  .map(([, name, why]) => [name, why]));

/** All that Chrome may ask a person for, or shows in a listing. */
const asked = [
  ...manifest.permissions, ...manifest.host_permissions,
  ...(manifest.optional_permissions ?? []), ...(manifest.optional_host_permissions ?? []),
  ...(manifest.content_scripts ?? []).flatMap(({ matches }) => matches),
];

for (const name of asked) {
  test(`says why it asks for ${name}`, () => {
    assert.ok(reasons.get(name)?.length >= 40, `extension/README.md has no reason for ${name}`);
  });
}

test('gives a reason for nothing else', () => {
  assert.deepEqual([...reasons.keys()].filter((name) => !asked.includes(name)), []);
});
