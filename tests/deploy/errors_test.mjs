/** The documents name every error that the programs can answer with. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file) => readFileSync(`${root}/${file}`, 'utf8');
const sources = ['services/common', 'services/gateway', 'services/tracker']
  .flatMap((folder) => readdirSync(`${root}/${folder}`, { recursive: true }).map((file) => `${folder}/${file}`))
  .filter((file) => /\.(cc|h)$/.test(file) && !/_test\.cc$|fixture\.h$|\/testing\//.test(file));
/** The code that makes errors: the tracker's error details, and the gateway's own answers. */
const MADE = [/\.reason = "([a-z_]+)"/g, /ErrorResponse\(\s*\d+,\s*"([a-z_]+)"/g, /Refused\(\s*"([a-z_]+)"/g];

test('the documents name every error reason', () => {
  const documents = readdirSync(`${root}/docs`).filter((file) => file.endsWith('.md')).map((file) => read(`docs/${file}`)).join();
  const known = new Set([...documents.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word));
  const made = new Map(sources.flatMap((file) => MADE.flatMap((pattern) => [...read(file).matchAll(pattern)])
    .map(([, reason]) => [reason, file])));
  assert.ok(made.size > 90, `${made.size}`);
  assert.deepEqual([...made].filter(([reason]) => !known.has(reason)), []);
});
