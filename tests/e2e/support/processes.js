import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stretched } from '../../support/patience.js';

const BUILT = fileURLToPath(new URL('../../../build/dev/bin', import.meta.url));
/** An absolute path, since programs are started in folders of their own. */
const BIN = resolve(process.env.CALLSLIP_BIN ?? BUILT);

/** A process gets this long to start listening, and to end after SIGTERM, in ms. */
const START_PATIENCE_MS = stretched(20_000);
const STOP_PATIENCE_MS = stretched(5_000);

/** Programs of the previous version; if there are none, this version's. */
const FORMER_BIN = process.env.CALLSLIP_FORMER_BIN ?? BIN;
const former = new Set();

/** From now on exactly these binaries are those of the previous version. */
export function useFormer(names) {
  former.clear();
  for (const name of names) former.add(name);
}

/** The path of one of the binaries under test. */
export function binary(name) {
  const path = `${former.has(name) ? FORMER_BIN : BIN}/${name}`;
  if (!existsSync(path)) throw new Error(`${path} is missing: build first, or set CALLSLIP_BIN.`);
  return path;
}

/** Processes that this test process has started and that have not ended. */
const running = new Set();

/** Kills the process when this one ends, whatever the reason. */
export function endWithThis(child) {
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

// A test process that ends early must leave nothing behind. The set has only its own processes.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const LISTENING = /listening on (\S+:\S+)\n/;

/** A server under test: started on a port of its choice, and ended by its process id. */
export class ServerProcess {
  log = '';

  /**
   * Starts the binary, with `env` besides this process's, and waits for the line with its address,
   * or for another line that matches `ready`.
   */
  static async start(name, args, env = {}, ready = LISTENING) {
    const server = new ServerProcess();
    server.name = name;
    server.child = endWithThis(spawn(binary(name), args,
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } }));
    server.exited = once(server.child, 'close');
    server.child.stderr.setEncoding('utf8').on('data', (text) => { server.log += text; });
    try {
      server.address = await server.#isReady(ready);
    } catch (error) {
      await server.kill();
      throw new Error(`${error.message}\n${server.describeLog()}`);
    }
    return server;
  }

  async #isReady(ready) {
    const patience = AbortSignal.timeout(START_PATIENCE_MS);
    const ended = this.exited.then(() => {
      throw new Error(`${this.name} ended before it was listening.`);
    });
    ended.catch(() => {});
    for (;;) {
      const found = this.log.match(ready);
      if (found) return found[1];
      await Promise.race([once(this.child.stderr, 'data', { signal: patience }), ended]);
    }
  }

  /** Sends SIGTERM, and SIGKILL after a while. */
  async stop() {
    if (!running.has(this.child)) return;
    this.child.kill('SIGTERM');
    const insist = setTimeout(() => this.child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await this.exited;
    clearTimeout(insist);
  }

  /** Stops the process; all of its threads are stopped when this returns. */
  async freeze() {
    this.child.kill('SIGSTOP');
    const tasks = `/proc/${this.child.pid}/task`;
    const runs = async (task) => {
      const stat = await readFile(`${tasks}/${task}/stat`, 'utf8');
      return !/^T/.test(stat.slice(stat.lastIndexOf(')') + 2));
    };
    while ((await Promise.all((await readdir(tasks)).map(runs))).some(Boolean));
  }

  thaw() {
    this.child.kill('SIGCONT');
  }

  /** Ends the process without any warning, as a crash does. */
  async kill() {
    if (!running.has(this.child)) return;
    this.child.kill('SIGKILL');
    await this.exited;
  }

  describeLog() {
    return `--- ${this.name} ${this.address ?? ''}\n${this.log}`;
  }
}
