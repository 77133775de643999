/** The versions in docs/compatibility.md are those of the programs. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file) => readFileSync(`${root}/${file}`, 'utf8');
const page = read('docs/compatibility.md');

/** The first table row that matches. */
const row = (pattern) => page.split('\n').find((line) => line.startsWith('|') && pattern.test(line));

test('docs/compatibility.md names the MCP revisions of the gateway', () => {
  const revisions = (text) => [...new Set(text.match(/\b20\d\d-\d\d-\d\d\b/g))].sort();
  const table = read('docs/mcp.md').match(/\| legacy: .*/)[0];
  assert.deepEqual(revisions(row(/^\| agents /)), revisions(table));
  for (const revision of revisions(table)) {
    assert.match(read('services/gateway/mcp/protocol/protocol.cc') + read('services/gateway/mcp/protocol/protocol.h'),
      new RegExp(`"${revision}"`));
  }
});

test('docs/compatibility.md names the minimum Chromium version of the manifest', () => {
  const { minimum_chrome_version: oldest } = JSON.parse(read('extension/manifest.json'));
  assert.match(row(/^\| the extension .*Chromium/), new RegExp(` ${oldest} or later`));
});

test('docs/compatibility.md names an existing package of the gRPC contract', () => {
  const [name] = page.match(/callslip(\.\w+)+\.v\d+/);
  assert.ok(existsSync(`${root}/proto/${name.replaceAll('.', '/')}`), name);
});

test('docs/compatibility.md names the Agent Client Protocol version of the runner', () => {
  const [, version] = read('services/runner/acp/messages_v1.h').match(/kProtocolVersion = (\d+);/);
  assert.match(row(/Agent Client Protocol/), new RegExp(` version ${version}\\.`));
});
