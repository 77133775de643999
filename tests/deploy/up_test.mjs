/** The launcher's `up`, which `./dev up` also uses, with the programs of this build. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { root, temporaryFolder } from './support.mjs';

const BIN = env.CALLSLIP_BIN ?? join(root, 'build/dev/bin');
const TIMEOUT = { timeout: stretched(60_000) };

/** Two free ports, which the announcement has to name. */
async function freePorts() {
  const servers = [createServer(), createServer()];
  const ports = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push(server.address().port);
  }
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}

/** The settings of one `up`, with a home of its own. */
async function place() {
  const [gateway, tracker] = await freePorts();
  const home = temporaryFolder();
  return {
    PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, CALLSLIP_BIN: BIN,
    CALLSLIP_GATEWAY_PORT: `${gateway}`, CALLSLIP_TRACKER_PORT: `${tracker}`,
  };
}

class Up {
  said = '';
  #heard = () => {};

  constructor(context, environment, ...args) {
    this.child = spawn(execPath, [join(root, 'deploy/npm/bin/callslip.js'), 'up', ...args],
      { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    context.after(() => this.child.kill());
    this.ended = once(this.child, 'close').then((end) => {
      this.#heard();
      return end;
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (data) => {
        this.said += data;
        this.#heard();
      });
    }
  }

  async says(text) {
    while (!this.said.includes(text)) {
      assert.equal(this.child.exitCode, null, this.said);
      await new Promise((resolve) => { this.#heard = resolve; });
    }
  }

  /** Its child processes: process ids by the names of their programs. */
  programs() {
    const children = `/proc/${this.child.pid}/task/${this.child.pid}/children`;
    return Object.fromEntries(readFileSync(children, 'utf8').trim().split(' ').map((pid) =>
      [readlinkSync(`/proc/${pid}/exe`).split('/').pop(), Number(pid)]));
  }
}

test('callslip up prints its three steps, and stops all programs on SIGINT', TIMEOUT, async (context) => {
  const where = await place();
  const up = new Up(context, where, '--agent', 'true', '--dir', where.HOME);
  await up.says('Ctrl-C stops all');
  const address = `127.0.0.1:${where.CALLSLIP_GATEWAY_PORT}`;
  for (const line of [
    `${BIN}/callslip-bridge doctor --fix --gateway http://${address}\n`,
    `Load unpacked → ${join(root, 'extension')}\n`, `Pair with ${address}\n`, `\n  http://${address}/ui/\n`,
    `Agents in sessions  true, in ${where.HOME}\n`,
  ]) {
    assert.ok(up.said.includes(line), up.said);
  }
  assert.equal((await fetch(`http://${address}/readyz`)).status, 200);
  const programs = up.programs();
  assert.deepEqual(Object.keys(programs).sort(),
    ['callslip-gateway', 'callslip-runner', 'callslip-tracker']);
  up.child.kill('SIGINT');
  assert.deepEqual(await up.ended, [0, null]);
  for (const pid of Object.values(programs)) {
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  }
  // The data stays, the sockets do not.
  assert.deepEqual(readdirSync(where.HOME), ['.local']);
});

test('callslip up reports a port in use, and leaves no sockets', TIMEOUT, async (context) => {
  const where = await place();
  const other = createServer().listen(Number(where.CALLSLIP_GATEWAY_PORT), '127.0.0.1');
  await once(other, 'listening');
  context.after(() => other.close());
  const up = new Up(context, where);
  assert.deepEqual(await up.ended, [1, null]);
  assert.match(up.said, /^callslip: cannot listen on 127\.0\.0\.1:\d+: Address already in use\. Perhaps .*CALLSLIP_GATEWAY_PORT and CALLSLIP_TRACKER_PORT$/m);
  assert.deepEqual(readdirSync(where.HOME), ['.local']);
});

test('callslip up fails when one of its programs ends', TIMEOUT, async (context) => {
  const up = new Up(context, await place());
  await up.says('Ctrl-C stops all');
  process.kill(up.programs()['callslip-tracker'], 'SIGKILL');
  assert.deepEqual(await up.ended, [1, null]);
  assert.match(up.said, /^callslip: the tracker has ended, and all with it$/m);
});

test('callslip up rejects an unknown option', TIMEOUT, async (context) => {
  const up = new Up(context, await place(), '--port', '1');
  assert.deepEqual(await up.ended, [1, null]);
  assert.match(up.said, /^callslip: .*--port/);
});
