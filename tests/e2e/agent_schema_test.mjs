/**
 * The messages to an agent conform to version 1 of its protocol, by the schema of the protocol's
 * SDK.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import Ajv2020 from 'ajv/dist/2020.js';
import { stretched } from '../support/patience.js';

const BIN = process.env.CALLSLIP_BIN;
const SCHEMA = new URL('./node_modules/@agentclientprotocol/sdk/schema/v1/schema.json', import.meta.url);

let ajv;
let defs;
let folder;

before(async () => {
  const schema = JSON.parse(await readFile(SCHEMA, 'utf8'));
  defs = schema.$defs;
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...schema, $id: 'acp' });
  folder = await mkdtemp(path.join(tmpdir(), 'callslip-'));
});
after(() => rm(folder, { recursive: true, force: true }));

function check(name, value) {
  const valid = ajv.getSchema(`acp#/$defs/${name}`);
  assert.ok(valid(value), `${name}: ${JSON.stringify(value)}: ${ajv.errorsText(valid.errors)}`);
  const foreign = Object.keys(value).filter((key) => !(key in (defs[name].properties ?? {})));
  // Not for unions: their parts have the members.
  if (!defs[name].anyOf && !defs[name].oneOf) assert.deepEqual(foreign, [], name);
}

/** The definition of the params that a method of the agent takes. */
function paramsOf(method) {
  const [name] = Object.entries(defs).find(([key, def]) =>
    def['x-method'] === method && def['x-side'] === 'agent' && !key.endsWith('Response')) ?? [];
  assert.ok(name, `${method} is in the protocol`);
  return name;
}

function checkLine(line) {
  const message = JSON.parse(line);
  assert.equal(message.jsonrpc, '2.0');
  assert.deepEqual(Object.keys(message).filter((key) =>
    !['jsonrpc', 'id', 'method', 'params', 'result', 'error'].includes(key)), []);
  if (message.method) {
    check(paramsOf(message.method), message.params);
    return message.method;
  }
  if (message.error) {
    check('Error', message.error);
    return 'error';
  }
  const isPermission = 'outcome' in message.result;
  check(isPermission ? 'RequestPermissionResponse' : 'ReadTextFileResponse', message.result);
  return isPermission ? message.result.outcome.outcome : 'file';
}

const ASK = { ask: { toolCallId: 't', title: 'Edit' } };
const TURN = JSON.stringify([
  { say: 'a' },
  ASK,
  { call: 'fs/read_text_file', params: { path: '/a' } },
  { call: 'fs/write_text_file', params: { path: '/a', content: '' } },
]);
const STEPS = [
  ['new'], ['mode', 'act'], ['option', 'model', 'large'], ['option', 'brief', 'true'],
  ['prompt', 'hello', 'image/png'], ['prompt', TURN],
  ['cancel', JSON.stringify([{ say: 'begun' }, { sleep: 60000 }])],
  ['cancel', JSON.stringify([ASK])],
  ['restore'], ['prompt', 'again'], ['close'],
];

for (const restore of ['resume', 'load']) {
  test(`each line to an agent that restores by session/${restore} matches the schema`, async () => {
    const log = path.join(folder, `${restore}.log`);
    const options = { modes: true, restore, sessions: path.join(folder, `${restore}.ids`), log };
    const { stdout } = await promisify(execFile)(path.join(BIN, '../test_bin/agent_driver'), [
      path.join(BIN, 'callslip-keeper'), 'by-hand', JSON.stringify(STEPS),
      path.join(BIN, '../test_bin/callslip-scripted-agent'), JSON.stringify(options),
    ], { timeout: stretched(60_000) });
    assert.deepEqual(stdout.trim().split('\n'), STEPS.map(([name]) =>
      `${name} ${{ prompt: 'end_turn', cancel: 'cancelled' }[name] ?? 'done'}`));
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const seen = new Set(lines.map(checkLine));
    assert.deepEqual([...seen].sort(), [
      'authenticate', 'cancelled', 'error', 'file', 'initialize', 'selected', 'session/cancel',
      'session/close', 'session/new', 'session/prompt', `session/${restore}`,
      'session/set_config_option', 'session/set_mode',
    ].sort());
  });
}

test('a line that violates the protocol is detected', () => {
  const prompt = { sessionId: 's', prompt: [{ type: 'text', text: 'a' }] };
  const line = (method, params, more) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params, ...more });
  assert.equal(checkLine(line('session/prompt', prompt)), 'session/prompt');
  for (const wrong of [
    line('session/prompted', prompt),
    line('session/prompt', { sessionId: 's' }),
    line('session/prompt', { ...prompt, foreign: 1 }),
    line('session/prompt', { ...prompt, prompt: [{ type: 'text' }] }),
    line('session/prompt', prompt, { foreign: 1 }),
    line('session/new', { cwd: '/', mcpServers: [{ name: 'a' }] }),
    '{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected"}}}',
  ]) {
    assert.throws(() => checkLine(wrong), wrong);
  }
});
