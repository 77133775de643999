/**
 * 500 strangers attack one entry after another, beside 20 honest agents: each agent is answered,
 * and neither tracker nor gateway uses more memory than the smallest that a deployment can give it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeWorker } from '../e2e/support/fake_worker.js';
import { ServerProcess } from '../e2e/support/processes.js';
import { stretched } from '../support/patience.js';
import { HttpCaller } from './support/callers.js';
import { HonestAgent, p99 } from './support/honest_agents.js';
import { memoryNow } from './support/memory.js';
import { Strangers } from './support/strangers.js';

const AGENTS = 20;
const STRANGERS = 500;
const SECONDS = 3;
/** The limit of memory of each, in MiB; for the tracker without the stored payloads. */
const GATEWAY_MIB = 384;
const TRACKER_MIB = 600;
/**
 * The limit of the slowest percent of calls beside strangers: a multiple of that without, or of
 * USUAL_MS if that is longer.
 */
const MOST_TIMES_SLOWER = 20;
const USUAL_MS = 100;

/** The entries, and the answer that strangers get there if their attack works. */
const DOORS = {
  silence: null,
  heads: null,
  logins: null,
  'bodies with tokens that were made up': '401',
  'calls that are held': '200',
  'requests at the tracker': null,
  'health checks at the tracker': null,
};

class Scene {
  static async open() {
    const scene = new Scene();
    scene.folder = await mkdtemp(join(tmpdir(), 'callslip-doors-'));
    const secret = () => randomBytes(32).toString('hex');
    scene.tokens = { worker: secret(), stranger: secret(), operator: secret(),
      agents: Array.from({ length: AGENTS }, secret) };
    const tokens = join(scene.folder, 'tokens');
    await writeFile(tokens, [
      ...scene.tokens.agents.map((token, i) => `client agent-${i} ${token}`),
      `worker browser ${scene.tokens.worker} target=browser`,
      `client stranger ${scene.tokens.stranger}`,
      `viewer operator ${scene.tokens.operator}`,
      `session-key - ${'0'.repeat(64)}`, ''].join('\n'), { mode: 0o600 });
    const socket = `unix:${scene.folder}/tracker.sock`;
    scene.tracker = await ServerProcess.start('callslip-tracker', [
      '--listen', `127.0.0.1:0,${socket}`, '--token-file', tokens,
      '--data-dir', join(scene.folder, 'data'), '--metrics-listen', '127.0.0.1:0']);
    scene.gateway = await ServerProcess.start('callslip-gateway', [
      '--listen', '127.0.0.1:0', '--token-file', tokens, '--tracker', socket,
      '--memory', `${GATEWAY_MIB}MiB`]);
    scene.url = `http://${scene.gateway.address}`;
    scene.metrics = {
      tracker: [scene.tracker.log.match(/metrics on (http:\S+)/)[1]],
      gateway: [`${scene.url}/metrics`,
        { headers: { Authorization: `Bearer ${scene.tokens.operator}` } }],
    };
    return scene;
  }

  async memory() {
    return {
      tracker: (await memoryNow(this.tracker, this.metrics.tracker)).most,
      gateway: (await memoryNow(this.gateway, this.metrics.gateway)).most,
    };
  }

  async close() {
    await this.gateway.stop();
    await this.tracker.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const TIMEOUT = { timeout: stretched(20_000 * Object.keys(DOORS).length + 60_000) };
test('agents are answered while 500 strangers attack each entry', TIMEOUT, async (context) => {
  const scene = await Scene.open();
  const worker = FakeWorker.start(scene.url, ({ script }) => script.trim(), scene.tokens.worker);
  const callers = await Promise.all(
    scene.tokens.agents.map((token) => HttpCaller.open(scene.url, token)));
  context.after(async () => {
    for (const caller of callers) caller.close();
    try {
      await worker.stop();
    } finally {
      await scene.close();
    }
  });
  const work = async () => {
    const agents = callers.map((caller) => new HonestAgent(caller));
    const until = performance.now() + SECONDS * 1_000;
    await Promise.all(agents.map((agent) => agent.work(until)));
    return agents;
  };
  const without = p99(await work());
  for (const [door, meets] of Object.entries(DOORS)) {
    await context.test(`agents are answered during an attack with ${door}`, async (told) => {
      const strangers = await Strangers.start('strangers_at_doors.js', { door,
        gateway: scene.url, tracker: scene.tracker.address, token: scene.tokens.stranger,
        strangers: STRANGERS });
      told.after(() => strangers.kill());
      strangers.begin();
      if (meets !== null) await strangers.meet(meets);
      const agents = await work();
      const most = await scene.memory();
      const met = await strangers.stop();
      told.diagnostic(JSON.stringify({ 'p99 ms': { without, with: p99(agents) }, most, met }));
      assert.deepEqual(agents.flatMap(({ complaints }) => complaints), []);
      assert.ok(p99(agents) <= MOST_TIMES_SLOWER * Math.max(without, USUAL_MS));
      assert.ok(most.gateway < GATEWAY_MIB, `gateway: ${most.gateway} MiB`);
      assert.ok(most.tracker < TRACKER_MIB, `tracker: ${most.tracker} MiB`);
    });
  }
});
