/** doctor --fix: no content of existing homes is lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { binary } from './support/processes.js';

const TIMEOUT = { timeout: stretched(30_000) };
const GATEWAY = 'http://127.0.0.1:7890';
const BACKUP = /\.callslip-backup-\d{8}-\d{6}(-\d+)?$/;

/** An empty home, with these files in it. */
async function makeHome(context, files = {}) {
  const home = await mkdtemp(join(tmpdir(), 'callslip-home-'));
  context.after(() => rm(home, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), content);
  }
  return home;
}

/** Runs it in that home; `answers` is the person's input. */
async function fix(home, { answers = '', args = ['--yes'] } = {}) {
  const child = spawn(binary('callslip-bridge'), ['doctor', '--fix', ...args],
    { env: { HOME: home, PATH: '/nowhere' }, cwd: home });
  let output = '';
  child.stdout.on('data', (data) => { output += data; });
  child.stderr.on('data', (data) => { output += data; });
  child.stdin.on('error', () => {});
  child.stdin.end(answers);
  const [code] = await once(child, 'close');
  return { code, output };
}

/** The content of each file of a folder, by its path. */
async function contents(folder) {
  const found = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile()) found[relative(folder, path)] = await readFile(path, 'utf8');
  }
  return found;
}

/** Each earlier file still exists, unchanged or as a backup. */
async function assertNothingIsLost(home, before) {
  const after = await contents(home);
  for (const [name, content] of Object.entries(before)) {
    const copies = Object.keys(after)
      .filter((other) => other.startsWith(`${name}.callslip-backup-`) && BACKUP.test(other));
    const versions = [name, ...copies].map((each) => after[each]);
    assert.ok(versions.includes(content), `${name} is lost: ${JSON.stringify(after)}`);
  }
  for (const name of Object.keys(after)) assert.doesNotMatch(name, /\.callslip-.{6}$/);
  return after;
}

const command = () => realpathSync(binary('callslip-bridge'));
const ARGS = ['--gateway', GATEWAY];

test('a home without any agent stays empty', TIMEOUT, async (context) => {
  const home = await makeHome(context);
  const { code, output } = await fix(home);
  assert.equal(code, 1);
  assert.match(output, /No agent was found; known are Claude Code, Codex, Gemini CLI, opencode, VS Code, Cursor/);
  assert.ok(output.includes(`${command()} --gateway ${GATEWAY}`));
  assert.deepEqual(await contents(home), {});
});

test('an agent is configured after confirmation, and left unchanged the next time', TIMEOUT,
  async (context) => {
    const mine = '{\n  "numStartups": 3,\n  "projects": {}\n}\n';
    const home = await makeHome(context, { '.claude.json': mine });
    await chmod(join(home, '.claude.json'), 0o640);
    for (const answers of ['', 'n\n', 'no\n', '\n', 'quite\n']) {
      const { code, output } = await fix(home, { args: [], answers });
      assert.equal(code, 0);
      assert.match(output, /^ {4}\+ +"callslip": \{$/m);
      assert.match(output, /Write it\? \[y\/N\]/);
      assert.deepEqual(await contents(home), { '.claude.json': mine });
    }
    const { code, output } = await fix(home, { args: [], answers: 'y\n' });
    assert.equal(code, 0);
    assert.match(output, /Next:\n {2}1\. Agent .*\n {2}2\. Browser .*\n.*\n {2}3\. Try /);
    const after = await assertNothingIsLost(home, { '.claude.json': mine });
    assert.equal(Object.keys(after).length, 2);
    assert.deepEqual(JSON.parse(after['.claude.json']), {
      numStartups: 3, projects: {},
      mcpServers: { callslip: { type: 'stdio', command: command(), args: ARGS } },
    });
    assert.equal((await stat(join(home, '.claude.json'))).mode & 0o777, 0o640);

    const again = await fix(home);
    assert.equal(again.code, 0);
    assert.match(again.output, /configured already; nothing is changed/);
    assert.deepEqual(await contents(home), after);
  });

test('each of several agents is configured in its own format', TIMEOUT, async (context) => {
  const before = {
    '.claude.json': '{}',
    '.codex/config.toml': 'model = "x" # mine\n',
    '.gemini/settings.json': '{"theme": "dark"}',
    '.config/opencode/opencode.json': '{\n\t"theme": "dark"\n}\n',
    '.config/Code/User/mcp.json': '{\n  "servers": {},\n  "inputs": []\n}',
    '.cursor/mcp.json': '{"mcpServers": {"other": {"command": "x"}}}',
  };
  const home = await makeHome(context, before);
  assert.equal((await fix(home)).code, 0);
  const after = await assertNothingIsLost(home, before);
  const json = (name) => JSON.parse(after[name]);
  const plain = { command: command(), args: ARGS };
  const typed = { type: 'stdio', ...plain };
  assert.deepEqual(json('.claude.json'), { mcpServers: { callslip: typed } });
  assert.equal(after['.codex/config.toml'], `model = "x" # mine\n\n[mcp_servers.callslip]\n` +
    `command = "${command()}"\nargs = ["--gateway", "${GATEWAY}"]\n`);
  assert.deepEqual(json('.gemini/settings.json'), { theme: 'dark', mcpServers: { callslip: plain } });
  assert.deepEqual(json('.config/opencode/opencode.json'),
    { theme: 'dark', mcp: { callslip: { type: 'local', command: [command(), ...ARGS] } } });
  assert.deepEqual(json('.config/Code/User/mcp.json'), { servers: { callslip: typed }, inputs: [] });
  assert.deepEqual(json('.cursor/mcp.json'),
    { mcpServers: { other: { command: 'x' }, callslip: plain } });
  assert.equal((await fix(home)).output.match(/configured already/g).length, 6);
  assert.deepEqual(await contents(home), after);
});

test('broken JSON is left unchanged, with advice; the other agents are configured', TIMEOUT,
  async (context) => {
    const before = { '.cursor/mcp.json': '{\n  "mcpServers": {\n', '.gemini/settings.json': '{}' };
    const home = await makeHome(context, before);
    const { code, output } = await fix(home);
    assert.equal(code, 1);
    assert.match(output, /\.cursor\/mcp\.json is left as it is: line 3: .*\n.*Add this to it by hand/);
    const told = output.slice(output.indexOf('by hand:') + 8);
    assert.deepEqual(JSON.parse(told.slice(0, told.indexOf('\n\n', 2))),
      { mcpServers: { callslip: { command: command(), args: ARGS } } });
    const after = await assertNothingIsLost(home, before);
    assert.equal(after['.cursor/mcp.json'], before['.cursor/mcp.json']);
    assert.ok(JSON.parse(after['.gemini/settings.json']).mcpServers.callslip);
  });

test('a differing entry is shown, and changed after confirmation', TIMEOUT, async (context) => {
  const before = {
    '.gemini/settings.json': '{"mcpServers": {"callslip": {"command": "old", "env": {"A": "b"}}}}',
    '.cursor/mcp.json': '{\n  "mcpServers": {\n    "callslip": {\n      "url": "http://h/mcp"\n    }\n  }\n}\n',
    '.codex/config.toml': '[mcp_servers.callslip]\nurl = "http://h/mcp"\n',
  };
  const home = await makeHome(context, before);
  const asked = await fix(home, { args: [], answers: 'n\nn\n' });
  assert.match(asked.output, /^ {4}- +"url": "http:\/\/h\/mcp"$/m);
  assert.match(asked.output, /config\.toml is left as it is: \[mcp_servers\.callslip\] is there without a command/);
  assert.deepEqual(await contents(home), before);
  assert.equal((await fix(home)).code, 1);
  const after = await assertNothingIsLost(home, before);
  assert.deepEqual(JSON.parse(after['.gemini/settings.json']).mcpServers.callslip,
    { command: command(), args: ARGS, env: { A: 'b' } });
  assert.deepEqual(JSON.parse(after['.cursor/mcp.json']).mcpServers.callslip,
    { command: command(), args: ARGS });
  assert.equal(after['.codex/config.toml'], before['.codex/config.toml']);
});

test('valid options are written for the agents, and invalid ones are refused', TIMEOUT,
  async (context) => {
    const home = await makeHome(context, { '.gemini/settings.json': '{}', tokens: 'secret\n' });
    const args = ['--yes', '--gateway', 'unix:run/gateway', '--token-file', 'tokens'];
    for (const wrong of [['--json'], ['--token-file', 'none'], ['--gateway', 'gopher://x']]) {
      assert.equal((await fix(home, { args: ['--yes', ...wrong] })).code, 2, wrong.join(' '));
    }
    assert.equal((await contents(home))['.gemini/settings.json'], '{}');
    const { output } = await fix(home, { args });
    const { args: written } =
      JSON.parse((await contents(home))['.gemini/settings.json']).mcpServers.callslip;
    assert.deepEqual(written, ['--gateway', `unix:${home}/run/gateway`, '--token-file', `${home}/tokens`],
      output);
    assert.doesNotMatch(output, /secret/);
  });

test('all setup instructions suggest the same first question', TIMEOUT, async (context) => {
  const { output } = await fix(await makeHome(context));
  const [, question] = output.match(/^ {2}3\. Try +(ask the agent: .*\?)$/m);
  for (const name of ['deploy/npm/lib/up.js', 'deploy/debian/README.Debian']) {
    const text = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
    for (const step of [/^ +1\. Agent .*doctor}? --fix/m, /^ +2\. Browser /m]) assert.match(text, step);
    assert.ok(text.includes(`3. Try`) && text.includes(question), name);
  }
});
