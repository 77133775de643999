/**
 * An agent that fails at each method in turn, in each way: the failure has a name, and affects no
 * other session.
 */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { AgentSessions, RunnerProcess, scriptedAgent, until } from './support/runner.js';
import { Services } from './support/services.js';

const FOLDER = `/dev/shm/callslip-failures-${process.pid}`;
/** Longer than the start of any agent, beside all others, takes. */
const START_TIMEOUT = `${Math.ceil(stretched(3_000) / 1_000)}s`;
const READY = 'ready';

/** The reason in the agent's state, or READY if it continues normally; by method and failure. */
const STARTS = {
  initialize: { never: 'start_timeout', exit: 'agent_crashed', error: 'initialize_refused',
    void: 'unsupported_version', garbage: 'unsupported_version' },
  authenticate: { never: 'start_timeout', exit: 'agent_crashed', error: 'agent_error',
    void: READY, garbage: READY },
  'session/new': { exit: 'agent_crashed', error: 'agent_error', void: 'agent_error',
    garbage: 'agent_error' },
};
/** The same for a start that restores a session. */
const RESTORES = {
  'session/resume': { exit: 'agent_crashed', error: 'cannot_restore', void: READY, garbage: READY },
  'session/load': { exit: 'agent_crashed', error: 'cannot_restore', void: READY, garbage: READY },
  'session/set_mode': { never: 'start_timeout', exit: 'agent_crashed', error: READY, void: READY,
    garbage: READY },
  'session/set_config_option': { never: 'start_timeout', exit: 'agent_crashed', error: READY,
    void: READY, garbage: READY },
};
/** The reason of a turn's end. */
const TURNS = {
  'session/prompt': { exit: 'agent_crashed', error: 'agent_error', void: 'unknown_stop_reason',
    garbage: 'unknown_stop_reason' },
};

const rows = (table) => Object.entries(table).flatMap(([method, ways]) =>
  Object.entries(ways).map(([way, reason]) => ({ method, way, reason, agent: nameOf(method, way) })));
const nameOf = (method, way) => `${method.replace('/', '-')}-${way}`;

describe('a faulty agent', { timeout: stretched(180_000) }, () => {
  let services;
  let runner;
  let sessions;
  before(async () => {
    services = await Services.open();
    const agents = {
      healthy: { command: scriptedAgent({}) },
      shared: { command: scriptedAgent({ ignores: ['eof', 'term'] }), sessions_per_process: 4 },
      slow: { command: scriptedAgent({ restore: 'resume', sessions: `${FOLDER}-sessions`,
        delay: { 'session/resume': 2_000 } }) },
    };
    for (const { method, way, agent } of [STARTS, RESTORES, TURNS].flatMap(rows)) {
      const restores = method in RESTORES;
      const options = { modes: true, restore: method === 'session/load' ? 'load' : 'resume',
        sessions: `${FOLDER}-sessions`, at: { [method]: way } };
      const [program, ...rest] = scriptedAgent(options);
      // It has a session to restore before it fails.
      const first = scriptedAgent({ ...options, at: {} });
      agents[agent] = { start_timeout: START_TIMEOUT, auth_method: 'by-hand', command: restores
        ? ['sh', '-c', `if [ -e ${FOLDER}-${agent} ]; then exec "$0" "$2"; fi; exec "$0" "$1"`,
          program, first[1], ...rest]
        : [program, ...rest] };
    }
    runner = await RunnerProcess.open(services, { agents,
      workspace: { max_running: 100 }, limits: { running_agents: 100, starting_agents: 50 } });
    sessions = new AgentSessions(services, runner);
  });
  after(async () => {
    await services?.close();
    await Promise.all([...rows(RESTORES).map(({ agent }) => agent), 'sessions'].map((name) =>
      rm(`${FOLDER}-${name}`, { recursive: true, force: true })));
  });

  /** Waits until the agent's state has this reason; for READY until another turn has ended. */
  const says = (id, reason, turns) => until(async () => {
    if (reason === READY) return (await sessions.turns(id)).length > turns;
    const agent = await sessions.agent(id);
    return agent?.reason === reason && agent.message !== '';
  });
  const begin = (agent) => sessions.begin({ acp_server: agent });

  test('starts without optional methods, fails otherwise, and affects no other agent', () =>
    services.step(async () => {
      const healthy = await begin('healthy');
      const all = Promise.all([
        ...rows(STARTS).map(async ({ agent, reason }) => {
          const id = await begin(agent);
          await sessions.say(id, 'hello');
          await says(id, reason, 0).catch((error) => assert.fail(`${agent}: ${error.message}`));
        }),
        ...rows(RESTORES).map(async ({ agent, reason }) => {
          const id = await begin(agent);
          await sessions.say(id, [
            { update: { sessionUpdate: 'current_mode_update', currentModeId: 'act' } },
            { update: { sessionUpdate: 'config_option_update', configOptions: [{ id: 'model',
              name: 'Model', category: 'model', type: 'select', currentValue: 'large',
              options: [{ value: 'small', name: 'Small' }, { value: 'large', name: 'Large' }] }] } }]);
          await sessions.ended(id, 1);
          await writeFile(`${FOLDER}-${agent}`, '');
          await sessions.control(id, 'stop');
          await sessions.say(id, 'hello');
          await says(id, reason, 1).catch((error) => assert.fail(`${agent}: ${error.message}`));
          if (reason === READY) return;
          // The restored session has to have these settings.
          const { details } = await sessions.agent(id);
          assert.deepEqual([agent, details.modes.currentModeId, details.config_options[0].currentValue],
            [agent, 'act', 'large']);
        }),
        ...rows(TURNS).map(async ({ agent, reason }) => {
          const id = await begin(agent);
          await sessions.say(id, 'hello');
          const [turn] = await sessions.ended(id, 1);
          assert.deepEqual([agent, turn.outcome, turn.reason], [agent, 'failed', reason]);
        }),
      ]);
      let turns = 0;
      let done = false;
      const stop = () => { done = true; };
      all.then(stop, stop);
      while (!done) {
        await sessions.say(healthy, `message ${turns}`);
        await sessions.ended(healthy, ++turns);
      }
      await all;
      assert.ok((await sessions.turns(healthy)).every(({ outcome }) => outcome === 'completed'));
    }));

  test('gets one new context on request, even while the old one is being restored', () =>
    services.step(async () => {
      const id = await begin('slow');
      const context = async () => (await sessions.agent(id)).agent_session_id;
      const lost = async () => (await sessions.events(id)).filter(({ type }) => type === 'context_lost');
      await sessions.say(id, 'one');
      await sessions.ended(id, 1);
      const first = await context();
      await sessions.control(id, 'stop');
      await sessions.say(id, 'two');
      await until(async () => (await sessions.agent(id)).status === 'starting');
      await sessions.control(id, 'fresh');
      await sessions.ended(id, 2);
      assert.notEqual(await context(), first);
      assert.deepEqual((await lost()).map(({ data }) => data.reason), ['fresh']);
      // The new context is kept from then on.
      const second = await context();
      await sessions.control(id, 'stop');
      await sessions.say(id, 'three');
      await sessions.ended(id, 3);
      assert.equal(await context(), second);
      assert.equal((await lost()).length, 1);
    }));

  test('is not reused by a session while it stops for another', () => services.step(async () => {
    const first = await begin('shared');
    await sessions.say(first, 'hello');
    await sessions.ended(first, 1);
    await sessions.control(first, 'stop');
    await until(async () => (await sessions.agent(first)).status === 'stopping');
    const second = await begin('shared');
    await sessions.say(second, 'hello');
    await sessions.ended(second, 1);
    assert.equal((await sessions.agent(first)).status, 'stopping');
  }));

  test('reports why it is restarted, and is abandoned after too many attempts', () =>
    services.step(async () => {
      const id = await begin(nameOf('session/new', 'error'));
      await sessions.say(id, 'hello');
      const seen = new Set();
      const agent = await until(async () => {
        const now = await sessions.agent(id);
        if (now?.reason) seen.add(`${now.status} ${now.reason}`);
        return now?.status === 'failed' && now;
      });
      assert.deepEqual([...seen].sort(), ['failed agent_error', 'starting agent_error']);
      assert.match(agent.message, /no luck/);
      assert.equal((await sessions.call('GET', `/sessions/${id}`)).pause_reason, 'agent_error');
      // An unsupported version is not tried again.
      const other = await begin(nameOf('initialize', 'void'));
      await sessions.say(other, 'hello');
      await until(async () => (await sessions.agent(other))?.status === 'failed');
    }));
});
