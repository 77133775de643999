/**
 * One process after another is killed during a thousand commands: every span has its parent, since
 * the next process sends the spans of a killed one.
 *   CALLSLIP_FAULT_SEED=7 node --test tests/fault/traces_test.mjs
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Bridge } from '../e2e/support/bridge.js';
import { OtlpCollector } from '../e2e/support/otlp_collector.js';
import { stretched } from '../support/patience.js';
import { Chaos } from './support/chaos.js';
import { Turns } from './support/turns.js';

const COMMANDS = Number(process.env.CALLSLIP_FAULT_COMMANDS ?? 1000);
const SEED = Number(process.env.CALLSLIP_FAULT_SEED ?? Date.now() % 2 ** 31);
/** The runner is killed after this many other kills. */
const STRIKES_FOR_RUNNER = 3;

/** Sessions of that installation, with turn after turn until `over` is aborted. */
async function beginTurns({ fleet }, onClose) {
  const turns = await Turns.open({
    get gatewayUrl() { return fleet.gatewayUrl(0); },
    tracker: fleet.tracker,
    onClose,
  });
  const over = new AbortController();
  const done = turns.keepOn(over.signal);
  done.catch(() => {});
  return {
    turns,
    async killRunner() {
      await turns.runner.kill();
      await turns.runner.start();
    },
    async finish() {
      over.abort();
      await done;
      await turns.finish();
    },
  };
}

test('every span has its parent although processes are killed', { timeout: stretched(300_000) }, async (context) => {
  context.diagnostic(`${COMMANDS} commands, CALLSLIP_FAULT_SEED=${SEED}`);
  const collector = await OtlpCollector.start();
  const folder = await mkdtemp(join(tmpdir(), 'callslip-spans-'));
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl,
    // A large queue that drops no span: the test is about kills.
    OTEL_BSP_MAX_QUEUE_SIZE: '100000',
    CALLSLIP_SPAN_DIR: folder,
  });
  const chaos = await Chaos.start({ seed: SEED });
  const closers = [];
  const sessions = await beginTurns(chaos, (close) => closers.push(close));
  context.after(async () => {
    for (const close of closers.reverse()) await close();
    await chaos.close();
    await collector.close();
    await rm(folder, { recursive: true, force: true });
  });
  const ended = () => new Set(collector.spans.filter(({ name }) => name.startsWith('command '))
    .map(({ attributes }) => attributes['messaging.message.id'])).size;
  const cut = (service) => collector.spans.filter((span) =>
    span.attributes['error.type'] === 'process_ended' && (!service || span.service === service));
  let runnerKills = 0;
  // Continues until a kill has also hit a turn.
  const isOver = () => ended() >= COMMANDS && cut('callslip-runner').length > 0;
  for (let strikes = 1; !isOver(); strikes += 1) {
    await pause(chaos.random.between(0, 1000));
    await chaos.progress();
    await chaos.strike();
    if (strikes % STRIKES_FOR_RUNNER !== 0) continue;
    await sessions.killRunner();
    runnerKills += 1;
  }
  await sessions.finish();
  await chaos.finish();
  await chaos.close();
  // No other process comes after the last killed one, so this one sends its spans.
  const bridge = await Bridge.start(['--gateway', 'http://127.0.0.1:9']);
  while ((await readdir(folder)).length > 1) await pause(50);
  await bridge.close();

  const ids = new Set(collector.spans.map(({ id }) => id));
  const orphans = collector.spans.filter(({ parent }) => parent !== '' && !ids.has(parent));
  context.diagnostic(JSON.stringify({
    commands: ended(), turns: sessions.turns.seen, spans: collector.spans.length, cut: cut().length,
    kills: { ...chaos.kills, runner: runnerKills } }));
  assert.deepEqual(orphans.map(({ service, name, parent, traceId }) => `${service} ${name} ${parent} ${traceId}`), []);
  assert.ok(cut('callslip-gateway').length > 0, 'no kill has met a call under way');
});
