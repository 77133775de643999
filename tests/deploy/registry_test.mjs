/** The entry for the MCP registry. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { env, execPath } from 'node:process';
import { before, describe, test } from 'node:test';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { registryEntry } from '../../deploy/release/registry_entry.mjs';
import { versionOf } from '../../deploy/release/version.mjs';
import { pack, root, standIns, temporaryFolder } from './support.mjs';

const template = JSON.parse(readFileSync(join(root, 'deploy/registry/server.json'), 'utf8'));

/**
 * The rules of the registry's schema of 2025-12-11 for the members of our entries, and the
 * registry's own rules for bundles: an https address with "mcp" in it, and the checksum. The schema
 * allows more members; our entries have only these.
 */
const RULES = {
  type: 'object',
  additionalProperties: false,
  required: ['$schema', 'name', 'title', 'description', 'version', 'packages'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' },
    packages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['registryType', 'identifier', 'fileSha256', 'transport'],
        properties: {
          registryType: { const: 'mcpb' },
          identifier: { type: 'string', format: 'uri', pattern: '^https://.*mcp' },
          fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
          transport: {
            type: 'object', additionalProperties: false, properties: { type: { const: 'stdio' } },
          },
        },
      },
    },
  },
};

/** CALLSLIP_SERVER_SCHEMA names a file of the registry's own schema, if there is one. */
const SCHEMAS = { 'our rules': RULES };
if (env.CALLSLIP_SERVER_SCHEMA) {
  SCHEMAS['the registry\'s schema'] = JSON.parse(readFileSync(env.CALLSLIP_SERVER_SCHEMA, 'utf8'));
}

describe('the registry entry', () => {
  let bundle;
  let entry;

  before(() => {
    const packed = pack(['mcpb', standIns(versionOf(root)), temporaryFolder()]);
    assert.equal(packed.status, 0, packed.error);
    bundle = packed.path;
    entry = JSON.parse(execFileSync(execPath, [
      join(root, 'deploy/release/registry_entry.mjs'), bundle, 'https://files.test/v1',
      'io.github.somebody/callslip',
    ], { encoding: 'utf8' }));
  });

  for (const [name, schema] of Object.entries(SCHEMAS)) {
    test(`conforms to ${name}, as does its template`, () => {
      const validate = addFormats(new Ajv({ strict: false, allErrors: true })).compile(schema);
      for (const each of [template, entry]) {
        assert.ok(validate(each), JSON.stringify(validate.errors, null, 2));
      }
      assert.ok(!validate({ ...entry, description: 'x'.repeat(101) }));
      assert.ok(!validate({ ...entry, name: 'callslip' }));
      const [part] = entry.packages;
      assert.ok(!validate({ ...entry, packages: [{ ...part, fileSha256: 'abc' }] }));
      assert.ok(!validate({ ...entry, packages: [{ ...part, transport: { type: 'pipe' } }] }));
    });
  }

  test('names the bundle by address and checksum', () => {
    const [part] = entry.packages;
    assert.equal(part.identifier, `https://files.test/v1/${basename(bundle)}`);
    const [sum] = execFileSync('sha256sum', [bundle], { encoding: 'utf8' }).split(' ');
    assert.equal(part.fileSha256, sum);
    assert.equal(entry.name, 'io.github.somebody/callslip');
    assert.equal(entry.version, versionOf(root));
  });

  const fine = {
    file: `out/${basename(template.packages[0].identifier)}`, bytes: Buffer.from('x'),
    url: 'https://files.test', name: 'io.github.somebody/callslip',
  };
  for (const [what, wrong, message] of [
    ['a bundle of another version', { file: 'callslip-9.9.9-linux-x64.mcpb' }, /has to be callslip-/],
    ['an unencrypted address', { url: 'http://files.test' }, /no https:\/\/ address/],
    ['an address with a trailing /', { url: 'https://files.test/' }, /without a \//],
    ['a name without a namespace', { name: 'callslip' }, /write NAMESPACE\/callslip/],
    ['a name that is too long', { name: `a/${'b'.repeat(199)}` }, /no name for the registry/],
  ]) {
    test(`is not made with ${what}`, () => {
      assert.throws(() => registryEntry(template, { ...fine, ...wrong }), message);
    });
  }

  test('is not written if the bundle is missing', () => {
    const { status, stdout, stderr } = spawnSync(execPath, [
      join(root, 'deploy/release/registry_entry.mjs'), '/none.mcpb', 'https://files.test', 'a/b',
    ], { encoding: 'utf8' });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /registry_entry: .*none\.mcpb/);
  });
});
