/** The spans of a session, from its creation to its agent's command in the browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { FakeWorker } from './support/fake_worker.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { AgentSessions, RunnerProcess, scriptedAgent } from './support/runner.js';
import { Services } from './support/services.js';

const SECRET = 'secret-of-the-page';
const CALL = { sessionUpdate: 'tool_call', toolCallId: 'r', kind: 'read', title: SECRET, status: 'completed' };
const APPEND = 'callslip.tracker.v1.SessionService/AppendEvents';
const FINISH = 'callslip.tracker.v1.QueueService/FinishTurn';
const ASKED = { toolCallId: 't', kind: 'edit', title: SECRET };
const INTERACT = { action: 'execute_js', script: SECRET, wait_ms: 8000 };

/** The name of a span, after those of its parents. */
function pathOf(span, spans) {
  const above = spans.find(({ id }) => id === span.parent);
  return above ? `${pathOf(above, spans)} > ${span.name}` : span.name;
}

/** Calls a tool as the agent of a session does: with the URL and headers that it was given. */
async function callTool({ url, headers }, name, args) {
  const given = Object.fromEntries(headers.map((header) => [header.name, header.value]));
  const post = (body, more) => fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...given, ...more },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  const initialized = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  const called = await post({ id: 2, method: 'tools/call', params: { name, arguments: args } },
    { 'Mcp-Session-Id': initialized.headers.get('mcp-session-id') });
  return (await called.json()).result;
}

describe('a session', { timeout: stretched(60_000) }, () => {
  test('is one trace of its turns, agent actions and tool calls', async () => {
    const collector = await OtlpCollector.start();
    Object.assign(process.env,
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl, OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '100' });
    const services = await Services.open({ guarded: 'tracker' });
    services.onClose(() => collector.close());
    const worker = FakeWorker.start(services.gatewayUrl, () => ({ success: true, data: SECRET }),
      await services.tokenOf('extension'));
    services.onClose(() => worker.stop());
    try {
      const runner = await RunnerProcess.open(services, {
        agents: { scripted: { command: scriptedAgent({}) } },
        workspace: { permissions: { default: 'reject_once' } },
        more: { gateway: services.gatewayUrl, token_file: services.tokenFile },
      });
      const sessions = new AgentSessions(services, runner);
      sessions.token = await services.tokenOf('agent');
      const id = await sessions.begin();
      await sessions.say(id, [{ say_mcp: true }]);
      await sessions.ended(id, 1);
      const servers = JSON.parse(await sessions.answer(id));
      await sessions.say(id, [{ update: CALL }, { ask: ASKED }]);
      const [, turn] = await sessions.ended(id, 2);
      assert.equal(turn.outcome, 'completed');
      const { structuredContent } = await callTool(servers[0], 'interact', INTERACT);
      assert.equal(structuredContent.status, 'complete');

      const spans = await collector.until(1, ({ name }) => name.startsWith('process '));
      await collector.until(2, ({ name }) => name === 'turn');
      const root = spans.find(({ name }) => name === 'session');
      assert.equal(root.service, 'callslip-tracker');
      assert.equal(root.parent, '');
      assert.equal(root.attributes['gen_ai.conversation.id'], id);
      await collector.until(2, ({ name }) => name === 'POST /mcp');
      // Each process sends its spans at its own pace: those of callers may come last.
      let paths;
      await collector.untilSo(() => {
        const own = spans.filter(({ traceId }) => traceId === root.traceId);
        paths = own.map((span) => pathOf(span, own));
        return paths.every((path) => path.startsWith('session'));
      });
      for (const path of ['session > turn', 'session > turn > invoke_agent scripted',
        'session > turn > invoke_agent scripted > execute_tool read',
        `session > turn > invoke_agent scripted > ${APPEND} > ${APPEND}`, `session > turn > ${FINISH} > ${FINISH}`,
        'session > POST /mcp > tools/call interact']) {
        assert.ok(paths.includes(path), `${path} of ${paths.join('\n')}`);
      }
      assert.ok(paths.some((path) => path.endsWith('> process browser')), paths.join('\n'));
      const said = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      assert.ok(!said.includes(SECRET), said);

      // The runner's log line of a failed turn has the trace's id, and its metrics are at the
      // collector.
      await sessions.say(id, [{ exit: 3 }]);
      await sessions.ended(id, 3);
      await collector.until(3, ({ name }) => name === 'turn');
      const ended = runner.log.split('\n').find((line) => line.includes('"an agent has ended"'));
      const { trace_id: traceId, span_id: spanId } = JSON.parse(ended);
      assert.equal(traceId, root.traceId);
      assert.match(collector.spans.find((span) => span.id === spanId).name, /^(turn|invoke_agent scripted)$/);
      const { metrics } = await collector.untilExport(({ service }) => service === 'callslip-runner');
      const names = metrics.map(({ name }) => name);
      for (const name of ['process_start_time_seconds', 'callslip_spans_total']) assert.ok(names.includes(name));
    } finally {
      await services.close();
    }
  });
});
