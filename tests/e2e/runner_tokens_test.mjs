/** A runner of a tracker that requires tokens, and agents that share a process. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { stretched } from '../support/patience.js';
import { binary } from './support/processes.js';
import { AgentSessions, RunnerProcess, scriptedAgent, until } from './support/runner.js';
import { Services } from './support/services.js';

const run = promisify(execFile);

describe('a runner with a token', { timeout: stretched(120_000) }, () => {
  let services;
  let runner;
  let sessions;
  before(async () => {
    services = await Services.open({ guarded: 'tracker' });
    runner = await RunnerProcess.open(services, {
      agents: {
        scripted: { command: scriptedAgent({}) },
        shell: { command: scriptedAgent({}), shell_commands: true },
      },
      // The runner can't stop any of them for another one, since they restore nothing.
      workspace: { max_running: 20 },
      limits: { running_agents: 20 },
      more: { token_file: services.tokenFile, gateway: services.gatewayUrl },
    });
    const [free, other] = ['free', 'other'].map((name) => `${runner.dir}/${name}`);
    await mkdir(free);
    await mkdir(other);
    await runner.stop();
    const { work } = runner.config.workspaces;
    await runner.configure({ workspaces: {
      work: { ...work, children_in: ['free'] },
      free: { dir: free, parents_allow: true },
      other: { dir: other, permissions: { default: 'allow_once' } },
    } });
    await runner.start();
    sessions = new AgentSessions(services, runner);
    sessions.token = await services.tokenOf('agent');
  });
  after(() => services?.close());

  test('relays messages, requests permissions and names sessions', () => services.step(async () => {
    const id = await sessions.begin();
    const title = `修复登录 ${'é'.repeat(200)}`;
    await sessions.say(id, [
      { update: { sessionUpdate: 'session_info_update', title } },
      { ask: { toolCallId: 'é'.repeat(100), kind: 'edit', title: 'Ändern' } }]);
    const asked = await until(async () =>
      (await sessions.call('GET', `/sessions/${id}/permissions`)).permissions[0]);
    assert.equal(asked.title, 'Ändern');
    await sessions.call('POST', `/sessions/${id}/permissions/${asked.permission_id}`,
      { option_id: 'yes' });
    const [turn] = await sessions.ended(id, 1);
    assert.equal(turn.outcome, 'completed');
    const { name } = await until(async () => {
      const session = await sessions.call('GET', `/sessions/${id}`);
      return session.name && session;
    });
    assert.ok(title.startsWith(name) && name.length > 100, name);
  }));

  test('runs shell commands', () => services.step(async () => {
    const id = await sessions.begin({ acp_server: 'shell' });
    await sessions.say(id, [{ say: '<shell>echo $((6 * 7))</shell>' }]);
    await sessions.ended(id, 2);
    assert.match(await sessions.answer(id), /42/);
  }));

  test('gives its agents session tokens', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, [{ say_mcp: true }]);
    await sessions.ended(id, 1);
    const [, token] = /Bearer ([^"\\]+)/.exec(await sessions.answer(id));
    const ask = async (path, body) => (await fetch(`${services.gatewayUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })).status;
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {
      protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } } };
    assert.equal(await ask('/mcp', initialize), 200);
    assert.equal(await ask('/api/sessions', {}), 403);
  }));

  test('limits agents to allowed workspaces and related sessions', () => services.step(async () => {
    const id = await sessions.begin();
    const call = await sessions.toolOf(id);
    const make = (wish) => call({ what: 'new', message: '[]', agent: 'scripted', ...wish });
    assert.equal((await make({ workspace: 'other' })).error, 'workspace_not_allowed');
    assert.equal((await make({ agent: 'shell' })).error, 'agent_not_allowed');
    const { result: child } = await make({});
    const stranger = await sessions.begin();
    const write = (session_id) => call({ what: 'enqueue', session_id, message: '[]' });
    assert.equal((await write(stranger)).error, 'not_related');
    for (const own of [id, child.session_id]) assert.equal((await write(own)).status, 'complete');
    assert.equal((await call({ what: 'stop', session_id: stranger })).error, 'not_a_child');
    await call({ what: 'end', session_id: child.session_id });
  }));

  test('lets agents answer permission requests of children if the workspace allows it', () => services.step(async () => {
    const session = await sessions.toolOf(await sessions.begin());
    const message = JSON.stringify([{ ask: { toolCallId: 't', kind: 'edit', title: 'Edit it' } }]);
    for (const [workspace, allowed] of [['work', false], ['free', true]]) {
      const { result: made } = await session({ what: 'new', agent: 'scripted', workspace, message });
      const { permissions: [asked] } = await until(async () => {
        const { result } = await session({ what: 'answer', session_id: made.session_id });
        return result.permissions && result;
      });
      assert.equal(asked.parent_may_allow, allowed || undefined);
      const permit = (option) => session({ what: 'permit', session_id: made.session_id,
        permission_id: asked.permission_id, option_id: option });
      const told = await permit('yes');
      if (!allowed) {
        assert.equal(told.error, 'person_decides');
        await permit('no');
      }
      const { result } = await session({ what: 'answer', session_id: made.session_id, wait_ms: 30_000 });
      assert.equal(result.outcome, 'completed');
      assert.match(result.text, allowed ? /yes/ : /no/);
    }
  }));

  test('continues a turn across a restart of the tracker', () => services.step(async () => {
    const id = await sessions.begin();
    await sessions.say(id, [{ say: 'before ' }, { sleep: 500 }, { say: 'after' }]);
    await until(async () => (await sessions.answer(id)) === 'before ');
    await services.tracker.kill();
    await services.startTracker();
    const [turn] = await sessions.ended(id, 1);
    assert.equal(turn.outcome, 'completed');
    assert.equal(await sessions.answer(id), 'before after');
  }));

  test('answers a prompt on the command line as a client', async () => {
    const prompt = (...more) => run(binary('callslip-runner'), ['prompt', '[{"say": "hello there"}]',
      '--tracker', services.tracker.address, '--agent', scriptedAgent()[0], '--dir', runner.dir,
      ...more]);
    const { stdout } = await prompt('--token-file', services.tokenFile);
    assert.equal(stdout, 'hello there\n');
  });
});

test('sessions that share a process stop separately but fail with the process',
  { timeout: stretched(60_000) }, async () => {
  const services = await Services.open();
  try {
    await services.step(async () => {
      const runner = await RunnerProcess.open(services, {
        agents: { scripted: { command: scriptedAgent({ ignores: ['cancel'] }) } },
        limits: { sessions_per_process: 4 },
      });
      const sessions = new AgentSessions(services, runner);
      const [one, two, three] = [await sessions.begin(), await sessions.begin(), await sessions.begin()];
      for (const id of [one, two, three]) await sessions.say(id, id);
      for (const id of [one, two, three]) {
        await sessions.ended(id, 1);
        assert.equal(await sessions.answer(id), id);
      }
      // Stopping one session leaves the others alone.
      await sessions.control(three, 'stop');
      await until(async () => (await sessions.agent(three)).status === 'stopped');
      await sessions.say(two, 'still there');
      await sessions.ended(two, 2);
      // A session that ends the shared process ends the others' turns, with a reason.
      await sessions.say(one, [{ say: 'begun' }, { sleep: 60_000 }]);
      await sessions.say(two, [{ sleep: 60_000 }]);
      await until(async () => (await sessions.agent(two)).status === 'prompting');
      await until(async () => (await sessions.answer(one)) === 'begun');
      await sessions.call('POST', `/sessions/${one}/stop`);
      const [, ignored] = await sessions.ended(one, 2);
      assert.equal(ignored.reason, 'cancel_ignored');
      const [, , hit] = await sessions.ended(two, 3);
      assert.deepEqual([hit.outcome, hit.reason], ['failed', 'agent_crashed']);
      const { pause_message: message } = await sessions.call('GET', `/sessions/${two}/queue-settings`);
      assert.match(message, /over another of its sessions/);
    });
  } finally {
    await services.close();
  }
});
