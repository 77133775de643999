/**
 * The parts of W3C Trace Context and Baggage besides `traceparent`, from each entry to each exit.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stretched } from '../support/patience.js';
import { Bridge } from './support/bridge.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { ServerProcess } from './support/processes.js';
import { definition, grpc, TrackerApi } from './support/tracker_api.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const GIVEN = {
  traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
  tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
  baggage: 'tenant=blue;public, release=1.2',
};
/** A malformed value of each kind, which is dropped and has no other effect. */
const MALFORMED = { ...GIVEN, tracestate: 'Congo=1', baggage: 'no=good,' };
const NO_PARENT = { ...GIVEN, traceparent: '00-none' };

let folder;
let tracker;
let gateway;
let collector;
let lastTarget = 0;

const trackerArgs = () => ['--listen', `unix:${folder}/tracker.sock`, '--data-dir', folder];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callslip-context-'));
  collector = await OtlpCollector.start();
  tracker = await ServerProcess.start('callslip-tracker', trackerArgs());
  gateway = await ServerProcess.start('callslip-gateway',
    ['--listen', '127.0.0.1:0', '--tracker', tracker.address]);
});

after(async () => {
  await gateway.stop();
  await tracker.stop();
  await collector.close();
  await rm(folder, { recursive: true, force: true });
});

async function withApi(use) {
  const api = new TrackerApi(tracker.address);
  try {
    return await use(api);
  } finally {
    api.close();
  }
}

/** An agent's call that submits a command for `target`. */
function interact(target, meta) {
  const params = { name: 'interact', arguments: { action: 'execute_js', script: '1', target } };
  return meta ? { ...params, _meta: meta } : params;
}

/** Posts to /mcp with headers that may repeat, which fetch() does not allow. */
function post(body, headers) {
  const [host, port] = gateway.address.split(':');
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host, port, path: '/mcp', method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
    }, async (response) => {
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      resolve({ status: response.statusCode, session: response.headers['mcp-session-id'], text });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ jsonrpc: '2.0', ...body }));
  });
}

async function callOverHttp(params, headers = {}) {
  const { session } = await post(
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }, {});
  const { status, text } = await post({ id: 2, method: 'tools/call', params },
    { ...headers, 'Mcp-Session-Id': session });
  assert.equal(status, 200, text);
  assert.equal(JSON.parse(text).result.structuredContent.status, 'queued', text);
}

async function callOverBridge(params, env = {}) {
  const bridge = await Bridge.start(['--gateway', `http://${gateway.address}`], env);
  await bridge.initialize();
  const { result } = await bridge.request('tools/call', params);
  await bridge.close();
  assert.equal(result.structuredContent.status, 'queued');
}

function registerWithMetadata(api, target, given) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(given)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    api.commands.RegisterCommand({ type: 'work', target }, metadata,
      (error, response) => (error ? reject(error) : resolve(response)));
  });
}

/**
 * The entries, where an agent or a service gives the context: each submits a command for `target`.
 */
const ENTRIES = {
  'headers of POST /mcp': (target, given) => callOverHttp(interact(target), given),
  'several headers of POST /mcp': (target, { traceparent, tracestate, baggage }) =>
    callOverHttp(interact(target),
      { traceparent, tracestate: tracestate.split(','), baggage: baggage.split(', ') }),
  '_meta of a message': (target, given) => callOverHttp(interact(target, given)),
  '_meta of a message that has other headers': (target, given) =>
    callOverHttp(interact(target, given), {
      traceparent: '00-11111111111111111111111111111111-2222222222222222-00', tracestate: 'other=1',
    }),
  '_meta through the bridge': (target, given) => callOverBridge(interact(target, given)),
  '_meta through a bridge that records spans': (target, given) =>
    callOverBridge(interact(target, given), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl }),
  'fields of RegisterCommand': (target, given) =>
    withApi((api) => api.register({ target, ...given })),
  'metadata of RegisterCommand': (target, given) =>
    withApi((api) => registerWithMetadata(api, target, given)),
};

/** The exits, where a worker gets the context. */
const EXITS = {
  'GET /pending-queries': async (target) => {
    const answer = await fetch(`http://${gateway.address}/pending-queries?target=${target}`);
    return (await answer.json())[0];
  },
  'LeaseCommands': (target) => withApi(async (api) => (await api.lease(target))[0].command),
  'StreamCommands': (target) => withApi(async (api) => {
    const messages = api.stream(target);
    const { leases } = await messages.next();
    await messages.cancel();
    return leases[0].command;
  }),
};

/** A delivery's context; an empty field is undefined. */
function saidBy({ traceparent, tracestate, baggage }) {
  return { traceId: traceparent.split('-')[1], tracestate: tracestate || undefined, baggage: baggage || undefined };
}
const WHOLE = { traceId: TRACE_ID, tracestate: GIVEN.tracestate, baggage: GIVEN.baggage };
/** Parts of a list are joined without spaces. */
const withoutSpaces = (said) => ({ ...said, baggage: said.baggage?.replaceAll(', ', ',') });

const targetOfItsOwn = () => `context-${++lastTarget}`;

for (const [entry, handIn] of Object.entries(ENTRIES)) {
  describe(`the trace context from ${entry}`, { timeout: stretched(60_000) }, () => {
    for (const [exit, take] of Object.entries(EXITS)) {
      test(`reaches ${exit}`, async () => {
        const target = targetOfItsOwn();
        await handIn(target, GIVEN);
        assert.deepEqual(withoutSpaces(saidBy(await take(target))), withoutSpaces(WHOLE));
      });
    }

    test('is forwarded without malformed values', async () => {
      const target = targetOfItsOwn();
      await handIn(target, MALFORMED);
      assert.deepEqual(saidBy(await EXITS.LeaseCommands(target)),
        { traceId: TRACE_ID, tracestate: undefined, baggage: undefined });
    });

    test('is forwarded without its tracestate if its traceparent is malformed', async () => {
      const target = targetOfItsOwn();
      await handIn(target, NO_PARENT);
      const { traceId, tracestate, baggage } = saidBy(await EXITS.LeaseCommands(target));
      assert.notEqual(traceId, TRACE_ID);
      // The context of the HTTP request replaces a malformed one in its message.
      assert.equal(tracestate, entry.includes('other headers') ? 'other=1' : undefined);
      assert.equal(baggage?.replaceAll(', ', ','), GIVEN.baggage.replaceAll(', ', ','));
    });
  });
}

describe('a command', { timeout: stretched(60_000) }, () => {
  test('keeps its trace context when it is redelivered', () => withApi(async (api) => {
    const target = targetOfItsOwn();
    const ack_wait = { nanos: 100_000_000 };
    await api.register({ target, ...GIVEN, idempotent: true, deadlines: { ack_wait } });
    assert.deepEqual(saidBy((await api.lease(target, 'one'))[0].command), WHOLE);
    const [{ command }] = await api.lease(target, 'two', { max_wait: { seconds: 10 } });
    assert.equal(command.attempt, 2);
    assert.deepEqual(saidBy(command), WHOLE);
  }));

  test('shows its tracestate and baggage only to its worker', () => withApi(async (api) => {
    const { command_id } = await api.register({ target: targetOfItsOwn(), ...GIVEN });
    const command = await api.get(command_id);
    assert.deepEqual([command.tracestate, command.baggage], ['', '']);
    const detail = await fetch(`http://${gateway.address}/api/commands/${command_id}`);
    assert.doesNotMatch(await detail.text(), /congo|tenant/);
  }));

  test('keeps its trace context after the tracker is killed', async () => {
    const targets = new Map();
    for (const [entry, handIn] of Object.entries(ENTRIES)) {
      targets.set(entry, targetOfItsOwn());
      await handIn(targets.get(entry), GIVEN);
    }
    await tracker.kill();
    tracker = await ServerProcess.start('callslip-tracker', trackerArgs());
    for (const [entry, target] of targets) {
      const said = saidBy(await EXITS.LeaseCommands(target));
      assert.deepEqual(withoutSpaces(said), withoutSpaces(WHOLE), entry);
    }
  });
});

/** Files that read or show a `traceparent` and pass it on to no other process. */
const ENDS = {
  'services/common/log.cc': 'a line of the log',
  'services/bridge/relay/relay.cc': 'the same',
  'services/gateway/http/http_metrics.cc': 'the same',
  'services/runner/session/session_questions.cc': 'the same',
  'services/runner/session/session_turns.cc': 'the same',
  'services/tracker/rpc/command_log.cc': 'the same',
  'services/gateway/json/command_detail.cc': 'shown to people, who are not told the rest',
  'services/gateway/json/command_spans_json.cc': 'the same',
  'services/gateway/mcp/mcp_server.cc': 'the link of a span to a command',
  'services/tracker/server/async_server_calls.cc': 'the span of a call, which goes to a collector',
  'services/runner/acp/messages_v1.cc': 'of a session\'s own trace, beside which nothing goes',
  'services/runner/agent/agent_session.cc': 'the same',
  'services/runner/session/session_agent.cc': 'the same',
  'services/runner/session/session_runner.cc': 'the same, and a line of the log',
};

async function* sourcesIn(path) {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) yield* sourcesIn(inside);
    else if (/(?<!_test)\.(cc|js|proto)$/.test(entry.name)) yield inside;
  }
}

describe('completeness of the trace context', () => {
  test('each source that forwards a traceparent also forwards tracestate and baggage', async () => {
    const without = [];
    for (const part of ['services', 'extension', 'proto']) {
      for await (const path of sourcesIn(join(ROOT, part))) {
        const text = (await readFile(path, 'utf8')).replaceAll(/\/\/.*$/gm, '');
        if (/traceparent/.test(text) && !/tracestate|companions|SetTrace\(/i.test(text)) {
          without.push(relative(ROOT, path));
        }
      }
    }
    assert.deepEqual(without.toSorted(), Object.keys(ENDS).toSorted());
  });

  test('each message with a traceparent also has tracestate and baggage', () => {
    const carriers = Object.entries(definition)
      .map(([name, { type }]) => [name, type?.field?.map((field) => field.name) ?? []])
      .filter(([, fields]) => fields.includes('traceparent'));
    assert.deepEqual(carriers.map(([name]) => name).toSorted(),
      ['callslip.tracker.v1.Command', 'callslip.tracker.v1.RegisterCommandRequest']);
    for (const [name, fields] of carriers) {
      assert.ok(fields.includes('tracestate') && fields.includes('baggage'), name);
    }
  });
});
