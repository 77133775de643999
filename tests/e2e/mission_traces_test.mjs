/**
 * A whole mission in one trace at a collector: a user's message, the turn, the agent's call, the
 * page in Chromium and back.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stretched } from '../support/patience.js';
import { House } from './support/house.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { binary } from './support/processes.js';
import { AgentSessions, RunnerProcess } from './support/runner.js';

const AGENT = fileURLToPath(new URL('support/calling_agent.mjs', import.meta.url));
/** The script in the page, and its duration, in ms. */
const PAGE_MS = 300;
const SCRIPT = `new Promise((resolve) => setTimeout(() => resolve('secret of the page'), ${PAGE_MS}))`;

const REGISTER = 'callslip.tracker.v1.CommandService/RegisterCommand';
const COMPLETE = 'callslip.tracker.v1.CommandService/CompleteCommand';
/** The spans from the message on: the service and the name of each. */
const STORY = [
  ['callslip-tracker', 'session'],
  ['callslip-runner', 'turn'],
  ['callslip-runner', 'invoke_agent calling'],
];
const CALL = [['callslip-gateway', 'tools/call interact']];
const BRIDGE = [['callslip-bridge', 'tools/call interact']];
const COMMAND = [
  ['callslip-gateway', REGISTER],
  ['callslip-tracker', REGISTER],
  ['callslip-tracker', 'command execute_js'],
];
const DELIVERY = [['callslip-tracker', 'process browser']];
const REPORT = [
  ['callslip-gateway', 'POST /query-result'], ['callslip-gateway', COMPLETE], ['callslip-tracker', COMPLETE],
];
/** The paths of spans that have to exist, each from the root. */
function pathsOf(way) {
  const command = [...STORY, ...way, ...COMMAND];
  return [
    [...STORY, ...way, ['callslip-gateway', 'wait']],
    [...command, ['callslip-tracker', 'queue browser']],
    [...command, ...DELIVERY, ['callslip-tracker', 'work execute_js']],
    [...command, ...DELIVERY, ...REPORT],
  ].map((path) => path.map(([service, name]) => `${service}: ${name}`).join(' > '));
}

describe('the trace of a mission', { timeout: stretched(120_000) }, () => {
  let house;
  let collector;
  let spans;

  before(async () => {
    collector = await OtlpCollector.start();
    const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl, OTEL_BSP_SCHEDULE_DELAY: '50' };
    Object.assign(process.env, telemetry);
    house = await House.open({ guarded: 'tracker' });
    house.onClose(() => collector.close());
    const command = [process.execPath, AGENT, binary('callslip-bridge'), house.tokenFile];
    const runner = await RunnerProcess.open(house, {
      // An agent's environment has only the given variables.
      agents: { calling: { command, env: telemetry } },
      more: { gateway: house.gatewayUrl, token_file: house.tokenFile },
    });
    const sessions = new AgentSessions(house, runner);
    sessions.token = await house.tokenOf('agent');
    const page = await house.browser.open(`${house.pages.url}/`);
    const tab_id = await house.browser.tabIdOf(page);
    const call = { tool: 'interact', args: { action: 'execute_js', script: SCRIPT, tab_id, wait_ms: 20_000 } };
    const id = await sessions.begin({ acp_server: 'calling' });
    await sessions.say(id, [call, { ...call, bridge: true }]);
    const [turn] = await sessions.ended(id, 1);
    assert.equal(turn.outcome, 'completed', JSON.stringify(turn));
    const answers = (await sessions.answer(id)).trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(answers.map(({ status, result }) => [status, result]),
      [['complete', 'secret of the page'], ['complete', 'secret of the page']]);
    await collector.until(2, ({ name }) => name.startsWith('work '));
    await collector.until(1, ({ name }) => name === 'turn');
    await collector.until(3, ({ name }) => name === CALL[0][1]);
    await collector.until(4, ({ name }) => name === COMPLETE);
    await collector.until(2, ({ name }) => name === REPORT[0][1]);
    // The spans of a bridge's start belong to no prompt.
    const { traceId } = collector.spans.find(({ name }) => name === 'session');
    // Each process sends its spans at its own pace: those of callers may come last.
    await collector.untilSo(() => {
      spans = collector.spans.filter((span) => span.traceId === traceId);
      const ids = new Set(spans.map(({ id }) => id));
      return spans.every(({ parent }) => parent === '' || ids.has(parent));
    });
  });
  after(() => house?.close());

  test('is one tree in which each hop is named', () => {
    const byId = new Map(spans.map((span) => [span.id, span]));
    const pathOf = ({ service, name, parent }) =>
      [...(byId.has(parent) ? [pathOf(byId.get(parent))] : []), `${service}: ${name}`].join(' > ');
    const paths = new Set(spans.map(pathOf));
    const all = [...paths].toSorted().join('\n');
    for (const path of [...pathsOf(CALL), ...pathsOf([...BRIDGE, ...CALL])]) {
      assert.ok(paths.has(path), `${path}\nis not in\n${all}`);
    }
    const roots = spans.filter(({ parent }) => parent === '');
    assert.deepEqual(roots.map(({ name }) => name), ['session']);
  });

  test('shows the duration in the page, within its delivery', () => {
    for (const work of spans.filter(({ name }) => name === 'work execute_js')) {
      const delivery = spans.find(({ id }) => id === work.parent);
      const ms = Number(work.end - work.start) / 1e6;
      assert.ok(ms >= PAGE_MS - 5, `${ms} ms`);
      assert.ok(work.start >= delivery.start && work.end <= delivery.end);
    }
  });

  test('contains neither scripts nor results', () => {
    const said = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    assert.doesNotMatch(said, /secret|setTimeout/);
  });
});
