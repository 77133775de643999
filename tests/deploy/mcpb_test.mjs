/** The bundle for desktop clients: its manifest under the official tool, and its content. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch, execPath } from 'node:process';
import { before, describe, test } from 'node:test';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { versionOf } from '../../deploy/release/version.mjs';
import { otherCheckout, pack, root, standIns, temporaryFolder, unpack } from './support.mjs';

const PROGRAMS = ['callslip-bridge', 'callslip-gateway', 'callslip-tracker'];
const SOURCES = ['deploy/release', 'deploy/mcpb', 'CMakeLists.txt', 'LICENSE'];
const version = versionOf(root);
const manifest = JSON.parse(readFileSync(join(root, 'deploy/mcpb/manifest.json'), 'utf8'));

/** Runs the official tool; returns {status, output}. */
function mcpb(...args) {
  const tool = join(root, 'tests/deploy/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
  const { status, stdout, stderr } = spawnSync(execPath, [tool, ...args], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** A client's command line from the manifest, for a bundle in /b. */
const commandLine = (userConfig) => getMcpConfigForManifest({
  manifest, extensionPath: '/b', systemDirs: {}, userConfig, pathSeparator: '/',
});

describe('the manifest', () => {
  test('passes the official validator, including its icon', () => {
    const { status, output } = mcpb('validate', join(root, 'deploy/mcpb/manifest.json'));
    assert.equal(status, 0, output);
    assert.match(output, /Manifest schema validation passes!/);
    assert.match(output, /Icon validation passed/);
  });

  test('fails the official validator with an unknown server type', () => {
    const folder = temporaryFolder();
    const server = { ...manifest.server, type: 'elf' };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, server }));
    const { status, output } = mcpb('validate', folder);
    assert.equal(status, 1);
    assert.match(output, /server\.type/);
  });

  test('names the tools of the gateway', () => {
    const { tools } = JSON.parse(
      readFileSync(join(root, 'tests/golden/tools_list_2025-11-25.json'), 'utf8'));
    assert.deepEqual(manifest.tools.map(({ name }) => name), tools.map(({ name }) => name));
  });

  test('passes only options that the bridge has', () => {
    const options = readFileSync(join(root, 'services/bridge/config.cc'), 'utf8');
    for (const argument of manifest.server.mcp_config.args) {
      const [, name] = argument.match(/^--([a-z-]+)=/);
      assert.match(options, new RegExp(`\\(\\s*"${name}"`), name);
    }
  });

  test('starts the bridge with autostart by default', async () => {
    assert.deepEqual(await commandLine({}), {
      command: '/b/bin/callslip-bridge',
      args: ['--gateway=http://127.0.0.1:7890', '--autostart=true', '--token-file='],
      env: { CALLSLIP_TOKEN: '' },
    });
  });

  test('passes the settings of the user to the bridge', async () => {
    const { args, env } = await commandLine({
      gateway: 'https://callslip.test', autostart: false, token_file: '/t/tokens', token: 'secret',
    });
    assert.deepEqual(args,
      ['--gateway=https://callslip.test', '--autostart=false', '--token-file=/t/tokens']);
    assert.deepEqual(env, { CALLSLIP_TOKEN: 'secret' });
    // Other users of a machine can see the arguments of a process.
    assert.ok(manifest.user_config.token.sensitive && !args.join().includes('secret'));
  });
});

describe('the bundle', () => {
  let archive;

  before(() => {
    const packed = pack(['mcpb', standIns(version), temporaryFolder()]);
    assert.equal(packed.status, 0, packed.error);
    archive = packed.path;
  });

  test('is named after its version and platform', () => {
    assert.ok(archive.endsWith(`/callslip-${version}-linux-${arch}.mcpb`), archive);
  });

  test('holds the manifest, the icon, the licence, and programs that run', () => {
    const { folder, names } = unpack(archive);
    assert.deepEqual(names,
      ['LICENSE', ...PROGRAMS.map((name) => `bin/${name}`), 'icon.png', 'manifest.json']);
    for (const name of PROGRAMS) {
      const said = execFileSync(join(folder, 'bin', name), ['--version'], { encoding: 'utf8' });
      assert.equal(said, `${name} ${version}\n`);
      assert.equal(statSync(join(folder, 'bin', name)).mode & 0o777, 0o755);
    }
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')), manifest);
  });

  test('is accepted by the official tool', () => {
    const folder = join(temporaryFolder(), 'unpacked');
    const { status, output } = mcpb('unpack', archive, folder);
    assert.equal(status, 0, output);
    assert.equal(mcpb('validate', folder).status, 0);
    assert.equal(statSync(join(folder, 'bin/callslip-bridge')).mode & 0o100, 0o100);
    assert.match(mcpb('info', archive).output, /\.mcpb/);
  });

  test('is byte-identical for another checkout and time zone', () => {
    const programs = standIns(version);
    for (const name of PROGRAMS) chmodSync(join(programs, name), 0o700);
    const again = pack(['mcpb', programs, temporaryFolder()],
      { source: otherCheckout(SOURCES), environment: { TZ: 'America/Lima' } });
    assert.equal(again.status, 0, again.error);
    assert.ok(readFileSync(again.path).equals(readFileSync(archive)));
  });

  test('is not made from programs of another version', () => {
    const { status, error } = pack(['mcpb', standIns('0.0.9'), temporaryFolder()]);
    assert.equal(status, 1);
    assert.match(error, /callslip-bridge says "callslip-bridge 0\.0\.9": build .* first/);
  });

  test('is not made if a program is missing', () => {
    const programs = standIns(version);
    rmSync(join(programs, 'callslip-tracker'));
    const { status, error } = pack(['mcpb', programs, temporaryFolder()]);
    assert.equal(status, 1);
    assert.match(error, /has no callslip-tracker/);
  });
});
