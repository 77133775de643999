/**
 * The tools' schemas (tests/golden), docs/mcp.md, the extension's README and its table of actions
 * agree on the actions. A C++ test checks that the gateway accepts the fields of docs/mcp.md.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { actions } from '../../extension/src/actions/index.js';

const read = (path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const mcp = await read('docs/mcp.md');
const readme = await read('extension/README.md');
const lists = await Promise.all(['2025-11-25', '2026-07-28'].map(async (version) =>
  JSON.parse(await read(`tests/golden/tools_list_${version}.json`)).tools));

/** Fields of every call, or of every action that acts on a page. */
const COMMON = new Set([
  'action', 'what', 'tab_id', 'target', 'wait_ms', 'timeout_ms', 'request_id', 'dialog', 'view',
]);

/** Fields that listed actions accept but the schema omits: there is a newer way. */
const UNTOLD = new Set([
  'clear', 'value', 'values', 'label', 'dx', 'dy', 'background', 'level', 'url_contains',
]);

const LOOKS = { tabs: 'list_tabs' };

const inCode = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);

/** The rows of a table: by action, the words in code of the next column. */
function table(text) {
  const rows = {};
  for (const line of text.split('\n')) {
    const [, names, parameters] = line.split('|');
    if (!names?.startsWith(' `') || parameters === undefined) continue;
    for (const name of inCode(names)) rows[name] ??= inCode(parameters);
  }
  return rows;
}

const section = (text, from, to) => text.split(`\n${from}\n`)[1].split(`\n${to}\n`)[0];
const documented = table(section(mcp, '## `interact`', '## `observe`'));
const described = table(readme);
const FIELDS = new Set(Object.values(documented).flat());
// Values are also in code; docs/mcp.md names the fields.
const VALUES = new Set([
  'visible', 'hidden', 'attached', 'debug', 'log', 'info', 'warn', 'error',
]);
const isField = (word) => FIELDS.has(word) && !VALUES.has(word);
const fieldsIn = (words) => new Set(words.map((word) => word.split(':')[0]).filter(isField));

describe('docs/mcp.md', () => {
  test('documents cancel and each action of the extension', () => {
    const { cancel, ...told } = documented;
    assert.ok(cancel);
    assert.deepEqual(Object.keys(told).filter((name) => name in actions).sort(),
      Object.keys(actions).sort());
  });

  for (const name of Object.keys(actions)) {
    test(`lists the same fields of ${name} as the README`, () => {
      const own = (words) => [...fieldsIn(words)]
        .filter((field) => !['dialog', 'tab_id'].includes(field) || name === 'close_tab')
        .filter((field) => field !== 'view' || name === 'page').sort();
      assert.deepEqual(own(described[name]), own(documented[name]));
    });
  }
});

for (const tools of lists) {
  const schemaOf = (name) =>
    tools.find((tool) => tool.name === name).inputSchema.properties;

  describe('the list of tools', () => {
    test('contains only documented actions', () => {
      for (const name of schemaOf('interact').action.enum) assert.ok(documented[name], name);
      for (const what of schemaOf('analyze').what.enum) {
        assert.ok(what === 'annotations' || documented[LOOKS[what] ?? what], what);
      }
    });

    for (const [tool, names] of [
      ['interact', schemaOf('interact').action.enum],
      ['analyze', schemaOf('analyze').what.enum.map((what) => LOOKS[what] ?? what)],
    ]) {
      const taken = new Set(names.flatMap((name) => [...fieldsIn(documented[name] ?? [])]));

      test(`contains each argument of the ${tool} actions`, () => {
        const lacking = [...taken].filter((field) =>
          !(field in schemaOf(tool)) && !UNTOLD.has(field));
        assert.deepEqual(lacking, []);
      });

      test(`contains no argument that no ${tool} action takes`, () => {
        // The fields of analyze annotations.
        const more = tool === 'analyze' ? ['wait', 'session', 'message'] : [];
        const idle = Object.keys(schemaOf(tool)).filter((field) =>
          !taken.has(field) && !COMMON.has(field) && !more.includes(field));
        assert.deepEqual(idle, []);
      });
    }
  });
}
