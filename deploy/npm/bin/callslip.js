#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, argv, env, exit, kill, pid, platform, report, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { up } from '../lib/up.js';

const USAGE = `Usage: callslip COMMAND

  up [--agent COMMAND] [--dir FOLDER]
                  runs tracker and gateway until Ctrl-C; and a runner, where there is an agent: COMMAND,
                  such as 'opencode acp', or one of this machine. It works in FOLDER, or here
  doctor [--fix]  says which link is broken; --fix tells the agents of this machine
  bridge          an agent's pipe to the gateway: MCP over stdio
  runner          starts agents for sessions
  extension-path  prints the folder of the browser extension

doctor, bridge and runner have --help.
`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** glibc's version; undefined with another C library. */
const glibc = () => report.getReport().header.glibcVersionRuntime;

/** The folder of the programs: CALLSLIP_BIN, or else that of the package for this platform. */
function programs() {
  if (env.CALLSLIP_BIN) return env.CALLSLIP_BIN;
  const name = `callslip-${platform}-${arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin');
  } catch {
    throw new Error(`the package ${name} is not here. There are programs for Linux on x64 with glibc ` +
      `2.36 or later, and this is ${platform} on ${arch} with ${glibc() ? `glibc ${glibc()}` : 'no glibc'}; ` +
      'if that fits, install again without --omit=optional');
  }
}

/** In the package, extension/ is beside bin/; in the sources it is at the top. */
function extensionPath() {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, '../extension'), join(here, '../../../extension')].find(existsSync);
}

/** Runs a program in place of this one, with its signals, its streams, and its end. */
async function become(program, args) {
  const child = spawn(join(programs(), program), args, { stdio: 'inherit' });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...end) => resolve(end));
  });
  if (!signal) return code;
  process.removeAllListeners(signal);
  kill(pid, signal);
  return 1;
}

/** Returns the exit code. */
async function main([command, ...args]) {
  switch (command) {
    case 'up': {
      const bin = programs();
      const doctor = env.CALLSLIP_BIN ? `${bin}/callslip-bridge doctor` : 'npx callslip doctor';
      return up(args, { bin, doctor, extension: extensionPath() });
    }
    case 'bridge': return become('callslip-bridge', args);
    case 'doctor': return become('callslip-bridge', ['doctor', ...args]);
    case 'runner': return become('callslip-runner', args);
    case 'extension-path': stdout.write(`${extensionPath()}\n`); return 0;
    case 'help': case '--help': stdout.write(USAGE); return 0;
    default: stderr.write(USAGE); return 2;
  }
}

try {
  exit(await main(argv.slice(2)));
} catch (error) {
  stderr.write(`callslip: ${error.message}\n`);
  exit(1);
}
