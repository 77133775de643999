/**
 * The page's types compared with a real gateway's answers: each answer has its type in the page, and
 * each member of such a type is in an answer.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stretched } from '../support/patience.js';
import { RunnerProcess, scriptedAgent, until } from './support/runner.js';
import { Services } from './support/services.js';
import { TrackerApi } from './support/tracker_api.js';

const WEB = fileURLToPath(new URL('../../web/', import.meta.url));

/** The file of each type, below web/src. */
const TYPES = {
  'api/types.ts': ['Me', 'Session', 'AgentState', 'AgentDetails', 'EventPage', 'SessionEvent', 'QueuedMessage',
    'QueueState', 'Permission', 'PermissionOption', 'AgentOffer', 'Workspace'],
  'commands/model.ts': ['Command', 'CommandDetail', 'TraceEntry', 'CommandSpan'],
  'commands/targets.ts': ['Target', 'Worker', 'Doing'],
};

/** Members that no answer here contains, and the test that covers each. */
const ELSEWHERE = {
  Session: { damage: 'session_damage_test.cc', parent_session_id: 'session_children_test.cc',
    detached: 'session_children_test.cc' },
  AgentState: { reason: 'runner_failures_test.mjs', message: 'runner_failures_test.mjs' },
  AgentDetails: { usage: 'runner_test.mjs', commands: 'runner_test.mjs', agent_info: 'runner_test.mjs' },
  QueuedMessage: { turn_id: 'runner_test.mjs' },
  QueueState: { turn_message_id: 'runner_test.mjs', send_at: 'session_queue_test.cc', turn_id: 'runner_test.mjs' },
  AgentOffer: { problem: 'runner_failures_test.mjs' },
  Command: { removed: 'command_hub_test.cc' },
  CommandDetail: { late_result: 'command_life_cycle_test.cc' },
  CommandSpan: { span_id: 'traces_test.mjs', parent_span_id: 'traces_test.mjs' },
  Worker: { doing_for_others: 'observe_workers_test.cc', browser: 'extension_test.mjs', paused: 'extension_tabs_test.mjs', more_tabs: 'extension_tabs_test.mjs' },
};

describe('the types of the page', { timeout: stretched(120_000) }, () => {
  const seen = new Map();
  let services;
  let runner;
  let tracker;
  const record = (type, answer) => {
    if (!seen.has(type)) seen.set(type, []);
    seen.get(type).push(answer);
    return answer;
  };
  const call = async (path, body, method = body ? 'POST' : 'GET', root = '/api') => {
    const response = await fetch(`${services.gatewayUrl}${root}${path}`, { method,
      headers: body && { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  };

  before(async () => {
    services = await Services.open({ gatewayOptions: ['--extension-dir', '/usr/share/callslip/extension'] });
    runner = await RunnerProcess.open(services, {
      agents: { scripted: { command: scriptedAgent({ modes: true }), title: 'Scripted agent' } },
      workspace: { agents: ['scripted'] } });
    tracker = new TrackerApi(services.tracker.address);
    services.onClose(async () => tracker.close());
  });
  after(() => services?.close());

  const session = (answer) => {
    record('Session', answer);
    if (answer.agent) record('AgentState', answer.agent);
    if (answer.agent?.details) record('AgentDetails', answer.agent.details);
    return answer;
  };
  const command = (type, answer) => {
    record(type, answer);
    for (const entry of answer.trace) record('TraceEntry', entry);
    for (const span of answer.spans ?? []) record('CommandSpan', span);
  };

  test('answers about sessions are collected', () => services.step(async () => {
    record('Me', await call('/me'));
    const { agents } = await until(async () => {
      const offered = await call('/agents');
      return offered.agents.length > 0 && offered;
    });
    for (const offer of agents) record('AgentOffer', offer);
    for (const workspace of (await call('/workspaces')).workspaces) record('Workspace', workspace);
    const { session_id: id } = session(await call('/sessions', { name: 'types' }));
    record('QueueState', await call(`/sessions/${id}/queue-settings`, { enabled: true, delay_seconds: 0 }, 'PUT'));
    record('QueueState', await call(`/sessions/${id}/queue-control`,
      { action: 'pause', reason: 'later', message: 'not now' }));
    session(await call(`/sessions/${id}`));
    await call(`/sessions/${id}/queue`, { message: 'hello', prompt_id: 'prompt-1' });
    for (const queued of (await call(`/sessions/${id}/queue`)).messages) record('QueuedMessage', queued);
    record('QueueState', await call(`/sessions/${id}/queue-settings`));
    await call(`/sessions/${id}/events`, { events: [{ type: 'notice', data: { text: 'x'.repeat(2000) } }] });
    const { events, ...page } = await call(`/sessions/${id}/events?max_event_bytes=1024`);
    for (const event of events) record('SessionEvent', event);
    // Only one event: for several objects in a list, TypeScript infers one type with optional
    // members.
    record('EventPage', { events: events.slice(0, 1), ...page });

    const asked = { title: 'Edit', kind: 'edit', tool_call_id: 't', details: { path: 'x' }, wait_ms: 0,
      options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }] };
    const { permission_id: permission } = await call(`/sessions/${id}/permissions`, asked);
    for (const open of (await call(`/sessions/${id}/permissions`)).permissions) record('Permission', open);
    record('Permission', await call(`/sessions/${id}/permissions/${permission}`, { option_id: 'yes' }));
    for (const option of asked.options) record('PermissionOption', option);

    // With a working agent.
    const { session_id: driven } = await call('/sessions', { acp_server: 'scripted', working_dir: runner.dir });
    await call(`/sessions/${driven}/queue`, { message: JSON.stringify([{ say: 'hello' }, { sleep: 60_000 }]) });
    session(await until(async () => {
      const now = await call(`/sessions/${driven}`);
      return now.turn_id && now.agent?.details?.modes && now;
    }));
    session(await call(`/sessions/${id}/end`, { reason: 'done' }));
    for (const listed of (await call('/sessions')).sessions) session(listed);
  }));

  test('answers about commands and workers are collected', () => services.step(async () => {
    const target = 'types';
    const made = { type: 'work', target, params: Buffer.from('{"a":1}'), label: 'session', ordering_key: 'o',
      request_id: 'request-1', priority: 2, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
    await call('/worker-status', { worker: 'w1', target, name: 'Laptop', version: '1.0',
      tabs: [{ tab_id: 7, active: true, title: 'A page', url: 'https://a.example/' }] }, 'POST', '');
    const { command_id: first } = await tracker.register(made);
    for (const listed of (await call('/targets')).targets) record('Target', listed);
    const begin = async (id) => {
      const [lease] = await tracker.lease(target, 'w1');
      assert.equal(lease.command.command_id, id);
      await tracker.acknowledge(lease, { progress: { fraction: 0.5, message: 'half' },
        context: Buffer.from('{"tab_id":7,"url":"https://a.example/","frame":1}') });
      return lease;
    };
    const detail = async (id) => command('CommandDetail', await call(`/commands/${id}`));
    const done = await begin(first);
    await detail(first);
    command('Command', (await call('/commands')).commands[0]);
    for (const worker of (await call('/workers')).workers) {
      record('Worker', worker);
      for (const doing of worker.doing ?? []) record('Doing', doing);
    }
    await tracker.complete(done, { result: Buffer.from('{"b":2}') });
    const { command_id: long } = await tracker.register({ target });
    await tracker.complete(await begin(long), { result: Buffer.from(`"${'x'.repeat(100_000)}"`) });
    const { command_id: failed } = await tracker.register({ target });
    await tracker.complete(await begin(failed), { error: { code: 'e', message: 'It failed.', hint: 'Look.' } });
    await call(`/commands/${failed}/replay`, { request_id: 'replay-1' });
    const { command_id: cancelled } = await tracker.register({ target: 'others' });
    await tracker.call('CancelCommand', { command_id: cancelled });
    const { command_id: expired } = await tracker.register({ target: 'others', command_class: 'COMMAND_CLASS_HUMAN' });
    await tracker.call('ExpireCommand', { command_id: expired, error: { code: 'no_answer', message: 'No answer.' } });
    for (const id of [first, long, failed, cancelled, expired]) await detail(id);
    for (const listed of (await call('/commands')).commands) command('Command', listed);
  }));

  test('each answer conforms to its type', async () => {
    const folder = await mkdtemp(join(WEB, 'types-'));
    try {
      const imports = Object.entries(TYPES).map(([file, names]) =>
        `import type {${names.join(', ')}} from '../src/${file}';`);
      const checks = [...seen].flatMap(([type, answers]) =>
        answers.map((answer) => `is<${type}>()(${JSON.stringify(answer)});`));
      // An answer may have members that the page does not use.
      await writeFile(join(folder, 'answers.ts'), [...imports,
        'const is = <T>() => <U extends T>(answer: U): U => answer;', ...checks].join('\n'));
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../tsconfig.json',
        compilerOptions: { noUnusedLocals: false }, include: ['answers.ts'] }));
      const errors = await new Promise((resolve) => {
        execFile(process.execPath, [join(WEB, 'node_modules/typescript/bin/tsc'), '-p', folder],
          (_, stdout) => resolve(stdout));
      });
      assert.equal(errors, '');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('each member of a type is in an answer', async () => {
    const unseen = [];
    for (const [file, names] of Object.entries(TYPES)) {
      const source = await readFile(join(WEB, 'src', file), 'utf8');
      for (const name of names) {
        assert.ok(seen.has(name), `no answer is a ${name}`);
        const body = new RegExp(`export interface ${name} (?:extends \\w+ )?\\{\\n([\\s\\S]*?)\\n\\}`).exec(source)[1];
        for (const [, member] of body.matchAll(/^ {2}(\w+)\??:/gm)) {
          const known = seen.get(name).some((answer) => member in answer) || ELSEWHERE[name]?.[member];
          if (!known) unseen.push(`${name}.${member}`);
        }
      }
    }
    assert.deepEqual(unseen, []);
  });
});
