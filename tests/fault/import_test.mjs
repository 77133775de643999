/**
 * A data directory is imported into PostgreSQL with a synchronous standby, served from there,
 * exported, and served from the directory again: nothing is lost on either way, and no tracker
 * serves the remains of a killed import.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeWorker } from '../e2e/support/fake_worker.js';
import { binary, endWithThis, ServerProcess } from '../e2e/support/processes.js';
import { stretched } from '../support/patience.js';
import { Postgres } from './support/postgres.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100_000, 7)]);
const COMMANDS = 12;
/** Enough sessions to kill an import in its middle. */
const SESSIONS = 150;

let folder;
let postgres;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callslip-import-'));
  postgres = await Postgres.start();
});
after(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the tracker's program to its end. */
function tracker(...args) {
  const { status, stdout, stderr } = spawnSync(binary('callslip-tracker'), args, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The output of an inspection without the name of the inspected storage. */
function inspect(...where) {
  const { status, stdout, stderr } = tracker('inspect', ...where);
  assert.equal(status, 0, stderr);
  return stdout.slice(stdout.indexOf('\n'));
}

/** A gateway before a tracker, and calls of its API. */
class Serving {
  static async start(...where) {
    const serving = new Serving();
    serving.tracker = await ServerProcess.start('callslip-tracker',
      ['--listen', `unix:${folder}/tracker.sock`, ...where]);
    serving.gateway = await ServerProcess.start('callslip-gateway',
      ['--listen', '127.0.0.1:0', '--tracker', serving.tracker.address]);
    serving.url = `http://${serving.gateway.address}`;
    return serving;
  }

  async stop() {
    await this.gateway.stop();
    await this.tracker.stop();
  }

  async call(method, path, body, headers = {}) {
    const isJson = body !== undefined && !Buffer.isBuffer(body);
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(isJson && { 'Content-Type': 'application/json' }), ...headers },
      body: isJson ? JSON.stringify(body) : body,
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${answer.ok || await answer.text()}`);
    return answer;
  }

  async json(...call) {
    return (await this.call(...call)).json();
  }

  /** Submits commands, as a client of 2025-11-25 does. */
  async interact(scripts) {
    const rpc = (body, headers) => this.call('POST', '/mcp', { jsonrpc: '2.0', ...body }, headers);
    const hello = await rpc({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    const session = { 'Mcp-Session-Id': hello.headers.get('mcp-session-id') };
    for (const script of scripts) {
      const params = { name: 'interact', arguments: { action: 'execute_js', script } };
      const { result } = await (await rpc({ id: 2, method: 'tools/call', params }, session)).json();
      assert.ok(!result.isError, JSON.stringify(result));
    }
  }

  /** All data, as the API returns them. */
  async everything() {
    const { commands } = await this.json('GET', '/api/commands');
    const { sessions } = await this.json('GET', '/api/sessions?limit=500');
    const first = sessions.map(({ session_id }) => session_id).filter((id) => /^(first|filled)/.test(id)).sort();
    return {
      commands: await Promise.all(commands.map(({ correlation_id }) =>
        this.json('GET', `/api/commands/${correlation_id}`))),
      sessions: sessions.length,
      events: await Promise.all(first.map((id) => this.json('GET', `/api/sessions/${id}/events`))),
      queues: await Promise.all(first.map((id) => this.json('GET', `/api/sessions/${id}/queue`))),
    };
  }
}

/** Fills a directory with typical data of a tracker. */
async function fill(data) {
  const serving = await Serving.start('--data-dir', data);
  const worker = FakeWorker.start(serving.url, () => ({ success: true, data: 'done' }));
  await serving.interact(Array.from({ length: COMMANDS }, (_, i) => `${i}`));
  while ((await serving.json('GET', '/api/commands')).commands.some(({ status }) => status !== 'complete')) await pause(20);
  await worker.stop();
  await serving.interact(['nobody is there']);
  for (let i = 0; i < SESSIONS; ++i) {
    await serving.json('POST', '/api/sessions', { session_id: i === 0 ? 'filled' : `first-${i}` });
  }
  const image = await serving.json('POST', '/api/sessions/filled/images?name=a%20picture', PNG,
    { 'Content-Type': 'image/png' });
  await serving.json('POST', '/api/sessions/filled/queue', { message: 'look', image_ids: [image.id] });
  const event = { type: 'error', data: { message: 'x'.repeat(1000) } };
  await serving.json('POST', '/api/sessions/filled/events', { events: Array(90).fill(event) });
  const everything = await serving.everything();
  await serving.stop();
  return { everything, image };
}

/** Omits members that change with time. */
function still({ commands, ...others }) {
  return { ...others, commands: commands.map(({ correlation_id, status, params, result }) => ({ correlation_id, status, params, result })) };
}

test('an import into a database and an export back lose nothing', { timeout: stretched(240_000) },
  async (t) => {
  const data = join(folder, 'data');
  const { everything, image } = await fill(data);
  assert.equal(everything.commands.length, COMMANDS + 1);
  await cp(data, join(folder, 'copy'), { recursive: true });
  const storage = ['--storage', postgres.url];

  const begun = performance.now();
  const imported = tracker('import', '--data-dir', data, ...storage);
  assert.equal(imported.status, 0, imported.stderr);
  assert.match(imported.stderr, /13 commands, 0 drawings, 150 sessions with 240 events and 1 images are there as they were read/);
  t.diagnostic(`imported in ${Math.round(performance.now() - begun)} ms`);
  assert.equal(inspect(...storage), inspect('--data-dir', data));

  let serving = await Serving.start(...storage);
  assert.deepEqual(still(await serving.everything()), still(everything));
  const shown = await serving.call('GET', `/api/sessions/filled/images/${image.id}`);
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), PNG);
  const owned = tracker('export', ...storage, '--data-dir', join(folder, 'refused'));
  assert.equal(owned.status, 1);
  assert.match(owned.stderr, /a tracker owns what is in --storage .*: stop all trackers/);
  await serving.json('POST', '/api/sessions', { session_id: 'filled-later' });
  const later = await serving.everything();
  await serving.stop();

  const back = join(folder, 'back');
  const exported = tracker('export', ...storage, '--data-dir', back);
  assert.equal(exported.status, 0, exported.stderr);
  assert.equal(inspect('--data-dir', back), inspect(...storage));
  serving = await Serving.start('--data-dir', back);
  assert.deepEqual(still(await serving.everything()), still(later));
  await serving.stop();

  await postgres.sql('DROP TABLE callslip_cell, callslip_entries, callslip_sessions, callslip_events, callslip_images');
  const killed = endWithThis(spawn(binary('callslip-tracker'),
    ['import', '--data-dir', join(folder, 'copy'), ...storage], { stdio: 'ignore' }));
  const ended = once(killed, 'close');
  // Freezes the import while it looks: the import is killed exactly where it was seen in its middle.
  for (;;) {
    assert.equal(killed.exitCode, null, 'the import ended before it was seen in its middle');
    killed.kill('SIGSTOP');
    if (/Sessions: [1-9]/.test(tracker('inspect', ...storage).stdout)) break;
    killed.kill('SIGCONT');
    await pause(2);
  }
  killed.kill('SIGKILL');
  await ended;
  assert.match(inspect(...storage), /Half imported: do the import again/);
  const refused = tracker('--listen', '127.0.0.1:0', ...storage);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /half imported: do `callslip-tracker import` again/);
  const again = tracker('import', '--data-dir', join(folder, 'copy'), ...storage);
  assert.equal(again.status, 0, again.stderr);
  assert.equal(inspect(...storage), inspect('--data-dir', join(folder, 'copy')));
});
