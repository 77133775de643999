/** Agents in sessions: the real tracker, gateway and runner, and a scripted agent. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stretched } from '../support/patience.js';
import { binary } from './support/processes.js';
import { AgentSessions, processesWith, RunnerProcess, scriptedAgent, until } from './support/runner.js';
import { Services } from './support/services.js';

/** The agents' stored sessions, so that agents can be stopped to make room. */
const SESSIONS = '/dev/shm/callslip-e2e-sessions';
/** The file that exists while a user is logged in to the agent that requires a login. */
const LOGIN = `/dev/shm/callslip-e2e-${process.pid}-login`;

describe('an agent in a session', { timeout: stretched(180_000) }, () => {
  let services;
  let runner;
  let sessions;
  before(async () => {
    services = await Services.open();
    const agents = (options) => ({ command: scriptedAgent(options) });
    runner = await RunnerProcess.open(services, {
      agents: {
        scripted: agents({ modes: true, restore: 'resume', sessions: SESSIONS }),
        forgetful: agents({}),
        missing: { command: ['/nowhere/agent'] },
        locked: agents({ login: LOGIN, restore: 'resume', sessions: SESSIONS }),
        shell: { ...agents({}), shell_commands: true },
        // Crashes at its first two starts.
        shaky: { command: ['sh', '-c', `for i in 1 2; do mkdir /dev/shm/callslip-e2e-${process.pid}-$i \
          2>/dev/null && exit 1; done; exec "$0" "$@"`, ...scriptedAgent({})] },
      },
      workspace: { permissions: { default: 'ask', read: 'allow_once', delete: 'reject_once' } },
    });
    sessions = new AgentSessions(services, runner);
  });
  after(async () => {
    await services?.close();
    for (const i of [1, 2, 'login']) {
      await rm(`/dev/shm/callslip-e2e-${process.pid}-${i}`, { recursive: true, force: true });
    }
  });

  const ended = (id, count) => sessions.ended(id, count);

  test('answers a queued message, and is observed live', () => services.step(async () => {
    const id = await sessions.begin();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    await sessions.say(id, 'hello world');
    await watcher.ofType('turn_end');
    const [turn] = await ended(id, 1);
    assert.equal(turn.outcome, 'completed');
    assert.equal(turn.stop_reason, 'end_turn');
    assert.equal(await sessions.answer(id), 'hello world');
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    const live = watcher.messages.filter(({ seq }) => seq !== undefined);
    assert.deepEqual(live, events.filter(({ seq }) => seq >= live[0].seq));
    const call = events.find(({ type }) => type === 'tool_call').data;
    assert.deepEqual([call.kind, call.raw_input], ['think', { about: 'hello world' }]);
    const agent = await sessions.agent(id);
    assert.equal(agent.status, 'idle');
    assert.equal(agent.details.agent_info.name, 'scripted');
    await watcher.close();
  }));

  test('asks users over a WebSocket for permission, unless the workspace decides', () =>
    services.step(async () => {
      const id = await sessions.begin();
      const watcher = await sessions.watch(id);
      await watcher.ofType('connected');
      await sessions.say(id, [{ ask: { toolCallId: 't', kind: 'edit', title: 'Edit a file' } }]);
      const { data: permission } = await watcher.ofType('permission_asked');
      assert.equal(permission.title, 'Edit a file');
      await until(async () => (await sessions.agent(id)).status === 'needs_permission');
      watcher.send('permission_answer', { permission_id: permission.permission_id, option_id: 'no' });
      await ended(id, 1);
      assert.match(await sessions.answer(id), /"optionId":"no"/);
      await sessions.say(id, [{ ask: { toolCallId: 'r', kind: 'read', title: 'Read' } },
        { ask: { toolCallId: 'd', kind: 'delete', title: 'Delete' } }]);
      await ended(id, 2);
      assert.match(await sessions.answer(id), /"optionId":"yes".*"optionId":"no"/s);
      const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
      const decided = events.filter(({ type }) => type === 'permission')
        .map(({ data }) => [data.selected_option, data.decided_by]);
      assert.deepEqual(decided, [['no', 'person'], ['yes', 'policy'], ['no', 'policy']]);
      await watcher.close();
    }));

  test('reads and writes files in its workspace only, and opens terminals', () => services.step(async () => {
    const id = await sessions.begin();
    const path = join(runner.dir, 'made.txt');
    const outside = `${runner.dir}-outside.txt`;
    await sessions.say(id, [{ call: 'fs/write_text_file', params: { path, content: 'made' } },
      { call: 'fs/read_text_file', params: { path } },
      { call: 'fs/read_text_file', params: { path: '/etc/passwd' } },
      { call: 'fs/write_text_file', params: { path: outside, content: 'x' } },
      { call: 'terminal/create', params: { command: 'sh', args: ['-c', 'echo from a terminal'] } }]);
    await ended(id, 1);
    assert.equal(await readFile(path, 'utf8'), 'made');
    assert.ok(!existsSync(outside));
    const answer = await sessions.answer(id);
    assert.match(answer, /"content":"made"/);
    assert.match(answer, /\/etc\/passwd is outside of the session's directories/);
    assert.match(answer, /-outside\.txt is outside of the session's directories/);
    assert.doesNotMatch(answer, /root:/);
    assert.match(answer, /terminalId/);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    assert.deepEqual(events.find(({ type }) => type === 'file_write').data, { path, size: 4 });
  }));

  test('can be stopped in the middle of a turn, and continues with the next one', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, [{ say: 'begun' }, { sleep: 60_000 }]);
    await until(async () => (await sessions.answer(id)) === 'begun');
    await sessions.call('POST', `/sessions/${id}/stop`);
    const [turn] = await ended(id, 1);
    assert.equal(turn.outcome, 'cancelled');
    await sessions.queue(id, 'resume');
    await sessions.say(id, 'next');
    await ended(id, 2);
    assert.equal(await sessions.answer(id), 'next');
  }));

  test('fails its turn when it crashes, gets no message twice, and is resumed', () =>
    services.step(async () => {
      const id = await sessions.begin();
      await sessions.say(id, [{ say: 'begun' }, { exit: 3 }]);
      const [turn] = await ended(id, 1);
      assert.deepEqual([turn.outcome, turn.reason], ['failed', 'agent_crashed']);
      const { agent_session_id: before } = await sessions.agent(id);
      const status = await sessions.call('GET', `/sessions/${id}/queue-settings`);
      assert.equal(status.pause_reason, 'agent_crashed');
      await sessions.queue(id, 'skip');
      await sessions.say(id, 'again');
      await ended(id, 2);
      assert.equal(await sessions.answer(id), 'again');
      assert.equal((await sessions.agent(id)).agent_session_id, before);
      const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
      assert.equal(events.filter(({ type }) => type === 'context_lost').length, 0);
    }));

  test('reports that it cannot be resumed, and starts over only on request', () =>
    services.step(async () => {
      const id = await sessions.begin({ acp_server: 'forgetful' });
      await sessions.say(id, 'one');
      await ended(id, 1);
      await sessions.control(id, 'stop');
      await until(async () => (await sessions.agent(id)).status === 'stopped');
      await sessions.say(id, 'two');
      await until(async () => (await sessions.agent(id)).reason === 'cannot_restore');
      const lost = async () => (await sessions.events(id)).filter(({ type }) => type === 'context_lost');
      assert.equal((await lost()).length, 0);
      assert.equal((await sessions.turns(id)).length, 1);
      await sessions.control(id, 'fresh');
      await sessions.queue(id, 'resume');
      await ended(id, 2);
      assert.equal(await sessions.answer(id), 'two');
      assert.deepEqual((await lost()).map(({ data }) => data.reason), ['fresh']);
    }));

  test('runs again after its session is ended during a turn and resumed at once', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, [{ say: 'begun' }, { sleep: 60_000 }]);
    await until(async () => (await sessions.answer(id)) === 'begun');
    await sessions.call('POST', `/sessions/${id}/end`);
    await sessions.call('POST', `/sessions/${id}/resume`);
    await sessions.queue(id, 'resume').catch(() => {});
    await sessions.say(id, 'again');
    const turns = await sessions.ended(id, 2);
    assert.deepEqual(turns.map(({ outcome }) => outcome), ['cancelled', 'completed']);
    assert.equal(await sessions.answer(id), 'again');
  }));

  test('gets one message after another, however many are queued', () => services.step(async () => {
    const id = await sessions.begin();
    const texts = Array.from({ length: 40 }, (_, i) => `message ${i}`);
    for (const text of texts) await sessions.say(id, text);
    const turns = await ended(id, texts.length);
    assert.ok(turns.every(({ outcome }) => outcome === 'completed'));
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    const asked = events.filter(({ type }) => type === 'user_prompt').map(({ data }) => data.message);
    assert.deepEqual(asked, texts);
  }));

  test('is started again if it crashes at startup', () => services.step(async () => {
    const id = await sessions.begin({ acp_server: 'shaky' });
    await sessions.say(id, 'hello');
    const [turn] = await ended(id, 1);
    assert.equal(turn.outcome, 'completed');
  }));

  test('has its shell commands run, and receives their results', () => services.step(async () => {
    const id = await sessions.begin({ acp_server: 'shell' });
    // Equal commands in a message are two commands; the agent repeats its prompt.
    await sessions.say(id, [{ say: 'I look: <shell>echo o' }, { say: 'ne; pwd</shell> and again ' },
      { say: '<shell>echo one; pwd</shell> <shell>exit 7</shell>' },
      { say: "<shell>head -c 16000 /dev/zero | tr '\\0' x</shell>".repeat(20) }]);
    const turns = await ended(id, 2);
    assert.deepEqual(turns.map(({ outcome }) => outcome), ['completed', 'completed']);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    const calls = events.filter(({ type, data }) =>
      type === 'tool_call' && data.tool_call_id.startsWith('cmd-'));
    assert.deepEqual(calls.map(({ data }) => [data.tool_call_id, data.status]),
      Array.from({ length: 23 }, (_, i) => [`cmd-0-${i}`, 'queued']));
    const changes = events.filter(({ type }) => type === 'tool_call_update');
    for (const { data: { tool_call_id: call } } of calls) {
      assert.deepEqual(changes.filter(({ data }) => data.tool_call_id === call)
        .map(({ data }) => data.status), ['running', 'completed']);
    }
    const prompt = events.filter(({ type }) => type === 'user_prompt')[1].data.message;
    assert.equal(prompt.split(`one\n${runner.dir}`).length, 3);
    assert.match(prompt, /exit_code="7">\n\$ exit 7/);
    // The results are too long for a message: as much as fits.
    assert.ok(prompt.length > 200_000 && prompt.length <= 262_144, `${prompt.length}`);
    assert.match(prompt, /bytes more are in the session's events/);
    assert.match(await sessions.answer(id), /exit 7/);
  }));

  test('runs no shell commands of a turn that is stopped', () => services.step(async () => {
    const id = await sessions.begin({ acp_server: 'shell' });
    const watcher = await sessions.watch(id);
    const saying = 'I think <b>h\u00e4rd</b>: <shell>touch stopped</shell> and <she';
    await sessions.say(id, [{ say: saying }, { sleep: 60_000 }]);
    assert.equal((await watcher.ofType('agent_message')).data.iteration, 0);
    await sessions.call('POST', `/sessions/${id}/stop`);
    await ended(id, 1);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    const said = events.filter(({ type }) => type === 'agent_message').map(({ data }) => data.text);
    assert.equal(said.join(''), saying);
    assert.deepEqual(events.filter(({ type }) => type === 'tool_call'), []);
    await assert.rejects(readFile(join(runner.dir, 'stopped')));
    await watcher.close();
    // The runner would not stop it for another agent, since it would lose its context.
    await sessions.call('DELETE', `/sessions/${id}`);
  }));

  for (const what of ['the agent', 'the turn']) {
    test(`has its shell commands stopped when ${what} is stopped`, () => services.step(async () => {
      const id = await sessions.begin({ acp_server: 'shell' });
      const watcher = await sessions.watch(id);
      await sessions.say(id, [{ say: `<shell>touch ${id}; sleep 1000</shell> <shell>touch stopped</shell>` }]);
      await watcher.find(({ type, data }) => type === 'tool_call_update' && data.status === 'running');
      // The process may begin later than that.
      await until(async () => existsSync(join(runner.dir, id)));
      await (what === 'the turn' ? sessions.call('POST', `/sessions/${id}/stop`) : sessions.control(id, 'stop'));
      const [turn] = await ended(id, 1);
      if (what === 'the turn') assert.equal(turn.outcome, 'cancelled');
      else assert.deepEqual([turn.outcome, turn.reason], ['failed', 'agent_stopped']);
      const { events } = await sessions.call('GET', `/sessions/${id}/events?type=tool_call_update`);
      assert.deepEqual(events.map(({ data }) => [data.tool_call_id, data.status]),
        [['cmd-0-0', 'running'], ['cmd-0-0', 'completed'], ['cmd-0-1', 'failed']]);
      await assert.rejects(readFile(join(runner.dir, 'stopped')));
      if (what === 'the turn') {
        // The next answer's calls have ids of their own, and the agent gets the results of the
        // commands.
        await sessions.queue(id, 'resume');
        await sessions.say(id, [{ say: '<shell>exit 3</shell>' }]);
        assert.equal((await ended(id, 3)).at(-1).outcome, 'completed');
        const { events: calls } = await sessions.call('GET', `/sessions/${id}/events?type=tool_call`);
        assert.deepEqual(calls.map(({ data }) => data.tool_call_id).filter((call) => call.startsWith('cmd-')),
          ['cmd-0-0', 'cmd-0-1', 'cmd-1-0']);
      }
      await watcher.close();
      await sessions.call('DELETE', `/sessions/${id}`);
    }));
  }

  test('can withdraw a permission request', () => services.step(async () => {
    const id = await sessions.begin();
    const watcher = await sessions.watch(id);
    await sessions.say(id, [{ ask: { toolCallId: 't', kind: 'edit', title: 'Edit' }, withdraw: 200 },
      { sleep: 60_000 }]);
    await watcher.ofType('permission_asked');
    await watcher.ofType('permission_cancelled');
    assert.deepEqual((await sessions.call('GET', `/sessions/${id}/permissions`)).permissions, []);
    assert.equal((await sessions.agent(id)).status, 'prompting');
    await sessions.call('POST', `/sessions/${id}/stop`);
    await ended(id, 1);
    await watcher.close();
  }));

  test('reports a missing command and how to log in', () => services.step(async () => {
    const missing = await sessions.begin({ acp_server: 'missing', start: false });
    await sessions.say(missing, 'hello');
    await until(async () => (await sessions.agent(missing))?.reason === 'command_missing');
    const locked = await sessions.begin({ acp_server: 'locked' });
    await sessions.say(locked, 'hello');
    const agent = await until(async () => {
      const now = await sessions.agent(locked);
      return now?.status === 'failed' && now;
    });
    assert.equal(agent.reason, 'auth_required');
    assert.match(agent.message, /\(by-hand, tui, broken, program\)/);
    // Runs the command that the message names.
    const [, command] = agent.message.match(/: callslip-runner (login locked --runner-file \S+)$/);
    const { stdout } = await promisify(execFile)(binary('callslip-runner'),
      [...command.split(' ').toSpliced(2, 0, 'tui')]);
    assert.match(stdout, /Who are you\?/);
    await sessions.queue(locked, 'resume');
    const [turn] = await ended(locked, 1);
    assert.equal(turn.outcome, 'completed');
    assert.equal(await sessions.answer(locked), 'hello');
  }));

  test('keeps its mode and settings across a restart', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, 'hello');
    await ended(id, 1);
    await sessions.call('POST', `/sessions/${id}/config`, { mode_id: 'act' });
    await sessions.call('POST', `/sessions/${id}/config`, { option_id: 'model', value: 'large' });
    const chosen = ({ details }) => [details.modes.currentModeId,
      details.config_options[0].currentValue];
    await until(async () => String(chosen(await sessions.agent(id))) === 'act,large');
    await sessions.control(id, 'restart');
    await until(async () => (await sessions.agent(id)).status === 'idle');
    assert.deepEqual(chosen(await sessions.agent(id)), ['act', 'large']);
  }));

  for (const [what, reason] of [['is stopped', 'agent_stopped'], ['crashes', 'agent_crashed']]) {
    test(`is not restarted automatically if it ${what} in a turn`, () => services.step(async () => {
      const id = await sessions.begin();
      const watcher = await sessions.watch(id);
      await sessions.say(id, [{ say: 'ready' }, { sleep: 60_000 }]);
      await until(async () => (await sessions.answer(id)) === 'ready');
      if (reason === 'agent_stopped') {
        await sessions.control(id, 'stop');
      } else {
        const marked = await processesWith(`CALLSLIP_SESSION_ID=${id}`);
        process.kill(marked.at(-1), 'SIGKILL');
      }
      const [turn] = await ended(id, 1);
      assert.deepEqual([turn.outcome, turn.reason], ['failed', reason]);
      const seen = () => watcher.messages.filter(({ type }) => type === 'agent_updated')
        .map(({ data }) => data.status);
      await until(() => seen().includes('stopped'));
      // The runner answers this after all earlier requests.
      await sessions.control(id, 'stop');
      assert.deepEqual(seen().slice(seen().indexOf('stopped') + 1), []);
      watcher.socket.terminate();
    }));
  }

  test('leaves no processes behind when its runner is killed', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, [{ spawn: 'setsid' }, { spawn: 'double' }, { say: 'fled' }, { sleep: 60_000 }]);
    await until(async () => (await sessions.answer(id)) === 'fled');
    const mark = `CALLSLIP_SESSION_ID=${id}`;
    // Three processes and the keeper.
    assert.equal((await processesWith(mark)).length, 4);
    await runner.kill();
    await until(async () => (await processesWith(mark)).length === 0, stretched(5_000));
    await runner.start();
    const [turn] = await ended(id, 1);
    assert.deepEqual([turn.outcome, turn.reason], ['failed', 'runner_lost']);
    await sessions.queue(id, 'skip');
    await sessions.say(id, 'again');
    await ended(id, 2);
    assert.equal(await sessions.answer(id), 'again');
  }));

  test('loses its turn with its runner if it cannot be resumed', () => services.step(async () => {
    const id = await sessions.begin({ acp_server: 'forgetful' });
    await sessions.say(id, 'one');
    await ended(id, 1);
    await sessions.say(id, [{ say: 'ready' }, { sleep: 60_000 }]);
    await until(async () => (await sessions.answer(id)) === 'ready');
    await runner.kill();
    await runner.start();
    const [, turn] = await ended(id, 2);
    assert.deepEqual([turn.outcome, turn.reason], ['failed', 'runner_lost']);
  }));

  test('continues its turn when the tracker is killed and restarted', () => services.step(async () => {
    const id = await sessions.begin();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    await sessions.say(id, [{ say: 'before ' }, { sleep: 1_500 }, { say: 'after ' },
      { ask: { toolCallId: 't', kind: 'edit', title: 'Edit' } }]);
    await until(async () => (await sessions.answer(id)) === 'before ');
    await services.tracker.kill();
    await pause(300);
    await services.startTracker();
    const { permissions: [permission] } = await until(async () => {
      const open = await sessions.call('GET', `/sessions/${id}/permissions`);
      return open.permissions.length === 1 && open;
    });
    // The tracker does not store an agent's state.
    await until(async () => (await sessions.agent(id)).status === 'needs_permission');
    await sessions.call('POST', `/sessions/${id}/permissions/${permission.permission_id}`,
      { option_id: 'yes' });
    const [turn] = await ended(id, 1);
    assert.equal(turn.outcome, 'completed');
    await until(async () => (await sessions.agent(id)).status === 'idle');
    assert.match(await sessions.answer(id), /^before after answered .*yes/);
    watcher.socket.terminate();
  }));
});

describe('callslip-runner prompt', { timeout: stretched(60_000) }, () => {
  let services;
  let folder;
  before(async () => {
    services = await Services.open();
    folder = await mkdtemp(join(tmpdir(), 'callslip-prompt-'));
  });
  after(async () => {
    await services?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Its output and exit code; `answer` is the input. */
  const ask = async (text, { answer = '', signal, agent = scriptedAgent()[0] } = {}) => {
    // Options and text may come in any order.
    const child = spawn(binary('callslip-runner'), ['--dir', folder, 'prompt', '--agent', agent,
      typeof text === 'string' ? text : JSON.stringify(text),
      '--tracker', services.tracker.address]);
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (more) => { said.out += more; });
    // Only one signal: a second one ends the program at once.
    if (signal) child.stdout.once('data', () => child.kill(signal));
    child.stderr.setEncoding('utf8').on('data', (more) => { said.err += more; });
    child.stdin.end(answer);
    const [code] = await once(child, 'close');
    return { ...said, code };
  };

  test('prints the messages of the agent, and exits with the outcome of the turn', async () => {
    const { out, err, code } = await ask([{ say: 'one ' }, { say: 'two' }]);
    assert.deepEqual([out, code], ['one two\n', 0]);
    const [, id] = /session (\S+)/.exec(err);
    const session = await (await fetch(`${services.gatewayUrl}/api/sessions/${id}`)).json();
    assert.deepEqual([session.status, session.end_reason], ['completed', 'prompt_ended']);
    const failed = await ask([{ say: 'one' }, { exit: 3 }]);
    assert.equal(failed.code, 1);
    assert.match(failed.err, /agent_crashed.*code 3/);
    const missing = await ask('hello', { agent: '/nowhere/agent' });
    assert.equal(missing.code, 1);
    assert.match(missing.err, /\/nowhere\/agent does not exist/);
  });

  test('asks the user for permission, and reads the answer from stdin', async () => {
    const { out, err, code } = await ask([{ ask: { toolCallId: 't', kind: 'edit', title: 'Edit' } }],
      { answer: 'perhaps\n2\n' });
    assert.equal(code, 0);
    assert.match(err, /\? Edit\n {2}1 Yes\n {2}2 No/);
    assert.match(out, /"optionId":"no"/);
  });

  test('fails if permission is requested and no user can answer', async () => {
    const { err, code } = await ask([{ ask: { toolCallId: 't', kind: 'edit', title: 'Edit' } }, { say: 'never' }]);
    assert.equal(code, 1);
    assert.match(err, /no user can answer here/);
  });

  test('stops the agent when it is interrupted', async () => {
    const { code } = await ask([{ say: 'begun' }, { sleep: 60_000 }], { signal: 'SIGINT' });
    assert.equal(code, 130);
  });
});

test('a runner without agents is registered, and reports its health', { timeout: stretched(60_000) }, async () => {
  const services = await Services.open();
  try {
    await services.step(async () => {
      const runner = await RunnerProcess.open(services, { agents: {}, id: 'idle' });
      const health = () => new Promise((resolve) => {
        execFile(binary('callslip-runner'), ['healthcheck', '--runner-file', runner.file],
          (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stderr }));
      });
      assert.deepEqual(await health(), { code: 0, stderr: '' });
      const { runners } = await new AgentSessions(services, runner).call('GET', '/runners');
      assert.deepEqual(runners.map(({ runner_id: id, agents }) => [id, agents]), [['idle', []]]);
      await runner.stop();
      const { code, stderr } = await health();
      assert.equal(code, 1);
      assert.match(stderr, /has no runner idle/);
      await services.tracker.kill();
      assert.match((await health()).stderr, /does not answer/);
    });
  } finally {
    await services.close();
  }
});

test('another runner takes over from a lost runner', { timeout: stretched(60_000) }, async () => {
  const services = await Services.open();
  try {
    await services.step(async () => {
      const agents = { scripted: { command: scriptedAgent(
        { restore: 'resume', sessions: SESSIONS }) } };
      const one = await RunnerProcess.open(services, { agents, id: 'one' });
      const two = await RunnerProcess.open(services,
        { agents, id: 'two', workspace: { dir: one.dir } });
      const runners = { one, two };
      const sessions = new AgentSessions(services, one);
      const id = await sessions.begin();
      await sessions.say(id, [{ say: 'begun' }, { sleep: 60_000 }]);
      await until(async () => (await sessions.answer(id)) === 'begun');
      const { runner_id: first } = await sessions.agent(id);
      await runners[first].kill();
      const [turn] = await until(async () => {
        const turns = await sessions.turns(id);
        return turns.length > 0 && turns;
      }, stretched(15_000));
      assert.deepEqual([turn.outcome, turn.reason], ['failed', 'runner_lost']);
      await sessions.queue(id, 'skip');
      await sessions.say(id, 'again');
      await until(async () => (await sessions.turns(id)).length === 2, stretched(15_000));
      assert.equal(await sessions.answer(id), 'again');
      assert.notEqual((await sessions.agent(id)).runner_id, first);
      const { runners: all } = await sessions.call('GET', '/runners');
      assert.deepEqual(all.map(({ runner_id: name, connected }) => [name, connected]),
        ['one', 'two'].map((name) => [name, name !== first]));
    });
  } finally {
    await services.close();
  }
});

test('all sessions get their turn if there are more than can run at once', { timeout: stretched(120_000) }, async () => {
  const services = await Services.open();
  try {
    await services.step(async () => {
      const runner = await RunnerProcess.open(services, {
        agents: { scripted: { command: scriptedAgent(
          { restore: 'resume', sessions: SESSIONS }) } },
        workspace: { max_running: 100 },
        limits: { running_agents: 3, starting_agents: 2 },
      });
      const sessions = new AgentSessions(services, runner);
      const ids = await Promise.all(Array.from({ length: 12 }, () => sessions.begin({ start: false })));
      await Promise.all(ids.map((id) => sessions.say(id, [{ sleep: 100 }, { say: id }])));
      let most = 0;
      const busy = new Set(['starting', 'idle', 'prompting', 'stopping']);
      await until(async () => {
        const { sessions: all } = await sessions.call('GET', '/sessions?limit=100');
        most = Math.max(most, all.filter(({ agent }) => busy.has(agent?.status)).length);
        const turns = await Promise.all(ids.map((id) => sessions.turns(id)));
        return turns.every(([turn]) => turn?.outcome === 'completed');
      }, 60_000);
      assert.ok(most <= 4, `${most} agents at a time`);
      for (const id of ids) assert.equal(await sessions.answer(id), id);
    });
  } finally {
    await services.close();
  }
});
