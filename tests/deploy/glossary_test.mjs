/**
 * The names in docs/glossary.md: contract fields are in the protos, JSON members in the documents.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { root } from './support.mjs';

const read = (file) => readFileSync(`${root}/${file}`, 'utf8');
const FOLDER = 'proto/callslip/tracker/v1';
const NAMES = read('docs/glossary.md').split('\n## Terms\n')[0];

/**
 * `Message.field` of all messages, nested messages by their own names; oneofs are fields as well.
 */
function fieldsOfProtos() {
  const fields = new Set();
  for (const file of readdirSync(`${root}/${FOLDER}`)) {
    const path = [];
    for (const line of read(`${FOLDER}/${file}`).replaceAll(/\/\/.*$/gm, '').split('\n')) {
      const [, block, name] = /^\s*(message|enum|service|oneof|rpc)\s+(\w+)/.exec(line) ?? [];
      const message = path.findLast(({ kind }) => kind === 'message')?.name;
      if (block === 'oneof') fields.add(`${message}.${name}`);
      const [, field] = /^\s*(?:repeated\s+|optional\s+)?[\w.]+(?:<[^>]*>)?\s+(\w+)\s*=\s*\d+\s*[;[]/.exec(line) ?? [];
      if (field && path.at(-1)?.kind !== 'enum') fields.add(`${message}.${field}`);
      const opened = (line.match(/\{/g) ?? []).length - (line.match(/\}/g) ?? []).length;
      for (let i = 0; i < opened; ++i) path.push({ kind: block, name });
      for (let i = 0; i > opened; --i) path.pop();
    }
    assert.equal(path.length, 0, file);
  }
  return fields;
}

const rows = NAMES.split('\n').filter((line) => /^\| `/.test(line)).map((line) => {
  const [, json, proto] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
  return { json: json.replaceAll('`', ''), proto: proto === '-' ? null : proto.replaceAll('`', '') };
});
const fields = fieldsOfProtos();

describe('the glossary', () => {
  test('has rows', () => assert.ok(rows.length > 40 && fields.size > 300, `${rows.length}, ${fields.size}`));

  test('names only fields of the protos', () => {
    const named = [...NAMES.matchAll(/`([A-Z]\w*\.[a-z_]+)`/g)].map(([, name]) => name)
      .filter((name) => !['Message.field'].includes(name));
    assert.ok(named.length >= rows.length - 5);
    assert.deepEqual(named.filter((name) => !fields.has(name)), []);
  });

  test('names only members that other documents mention', () => {
    const documents = ['http', 'mcp', 'workers', 'sessions', 'operations'].map((name) => read(`docs/${name}.md`)).join('\n');
    const isThere = (name) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(documents);
    assert.deepEqual(rows.filter(({ json }) => !isThere(json)).map(({ json }) => json), []);
  });

  test('has each time field that the gateway writes as JSON', () => {
    const known = new Set(rows.map(({ proto }) => proto?.split('.')[1]));
    const made = readdirSync(`${root}/services/gateway/json`).filter((file) => /_json\.cc$|_detail\.cc$/.test(file))
      .flatMap((file) => [...read(`services/gateway/json/${file}`).matchAll(/WireTime\([\w.]+\.(\w+_time)\(\)\)/g)])
      .map(([, field]) => field);
    assert.ok(made.length > 10, `${made.length}`);
    assert.deepEqual([...new Set(made)].filter((field) => !known.has(field)), []);
  });
});
