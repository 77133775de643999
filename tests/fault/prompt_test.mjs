/**
 * `callslip-runner prompt` is lost in the middle of its turn. Its session ends with it, since no
 * other runner may have it; a user who resumes it lets any suitable runner continue it. Its turn
 * ends once.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { binary, endWithThis } from '../e2e/support/processes.js';
import { Proxy } from '../e2e/support/proxy.js';
import { AgentSessions, processesWith, RunnerProcess, scriptedAgent, until } from '../e2e/support/runner.js';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';

/** A runner with an agent and a folder, and a prompt with the same ones, whose turn has begun. */
class Prompted {
  static async open(context) {
    const all = new Prompted();
    all.services = await Services.open();
    context.after(() => all.services.close());
    all.runner = await RunnerProcess.open(all.services, { agents: {} });
    const { folder, dir } = all.runner;
    all.lines = join(folder, 'lines');
    await all.runner.stop();
    await all.runner.configure({ agents: { scripted: { command: scriptedAgent(
      { restore: 'resume', sessions: join(folder, 'sessions'), log: all.lines }) } } });
    await all.runner.start();
    all.sessions = new AgentSessions(all.services, all.runner);
    all.link = await Proxy.start(all.services.tracker.address);
    context.after(() => all.link.stop());
    const script = JSON.stringify([{ say: 'begun' }, { sleep: 60_000 }]);
    all.child = endWithThis(spawn(binary('callslip-runner'), ['prompt', script, '--runner-file', all.runner.file,
      '--tracker', all.link.address, '--agent', 'scripted', '--dir', dir], { stdio: ['ignore', 'pipe', 'ignore'] }));
    all.exited = once(all.child, 'close');
    await once(all.child.stdout, 'data');
    const { sessions: [{ session_id: id }] } = await all.sessions.call('GET', '/sessions');
    all.id = id;
    assert.equal((await all.sessions.agent(id)).runner_id, id);
    return all;
  }

  get session() {
    return this.sessions.call('GET', `/sessions/${this.id}`);
  }

  /** Waits until the session has ended with its runner; no other agent was prompted. */
  async isLost() {
    await until(async () => (await this.session).status === 'completed');
    assert.equal((await this.session).end_reason, 'runner_lost');
    await this.wasAsked(1);
    assert.deepEqual(await this.ends(), ['runner_lost']);
  }

  /** Resumes the session, and sends another message. */
  async goOn(message) {
    await this.sessions.call('POST', `/sessions/${this.id}/resume`);
    await this.sessions.queue(this.id, 'resume');
    await this.sessions.say(this.id, message);
  }

  /** The ends of its turns. */
  async ends() {
    return (await this.sessions.turns(this.id)).map(({ outcome, reason }) => reason ?? outcome);
  }

  /** Fails unless agents got exactly `times` prompts. */
  async wasAsked(times) {
    const lines = (await readFile(this.lines, 'utf8')).split('\n');
    assert.equal(lines.filter((line) => line.includes('session/prompt')).length, times);
  }

  /**
   * Fails unless the session continues at the other runner, with its context; `end`: that of the
   * previous turn.
   */
  async goesOn(end = 'runner_lost') {
    await this.sessions.ended(this.id, 2);
    assert.equal(await this.sessions.answer(this.id), 'again');
    assert.equal((await this.sessions.agent(this.id)).runner_id, 'runner');
    assert.deepEqual(await this.ends(), [end, 'completed']);
    await this.wasAsked(2);
    const types = (await this.sessions.events(this.id)).map(({ type }) => type);
    assert.equal(types.filter((type) => type === 'session_end').length, 1);
    assert.ok(!types.includes('context_lost'));
  }
}

describe('the session of a prompt', { concurrency: true, timeout: stretched(60_000) }, () => {
  test('continues at another runner when resumed after a kill of the prompt', async (context) => {
    const prompted = await Prompted.open(context);
    const { services, sessions, runner, id } = prompted;
    prompted.child.kill('SIGKILL');
    await prompted.isLost();
    await until(async () => (await processesWith(`CALLSLIP_SESSION_ID=${id}`)).length === 0);
    await prompted.goOn('again');
    await prompted.goesOn();
    // It stays at that runner over restarts.
    await services.tracker.kill();
    await services.startTracker();
    await runner.kill();
    await runner.start();
    await until(async () => (await sessions.call('GET', '/runners')).runners[0]?.connected);
    await sessions.say(id, 'once more');
    await sessions.ended(id, 3);
    assert.deepEqual(await prompted.ends(), ['runner_lost', 'completed', 'completed']);
    assert.equal((await prompted.session).status, 'active');
  });

  test('continues at another runner if the tracker was killed as well', async (context) => {
    const prompted = await Prompted.open(context);
    const { services, sessions, id } = prompted;
    prompted.child.kill('SIGKILL');
    await services.tracker.kill();
    await services.startTracker();
    await prompted.isLost();
    await sessions.call('POST', `/sessions/${id}/resume`);
    // The stored session no longer names the lost runner.
    await services.tracker.kill();
    await services.startTracker();
    await sessions.queue(id, 'resume');
    await sessions.say(id, 'again');
    await prompted.goesOn();
  });

  test('ends while the prompt is frozen, then continues at another runner', async (context) => {
    const prompted = await Prompted.open(context);
    prompted.child.kill('SIGSTOP');
    prompted.link.cut();
    await prompted.isLost();
    prompted.child.kill('SIGCONT');
    assert.deepEqual(await prompted.exited, [1, null]);
    assert.deepEqual(await processesWith(`CALLSLIP_SESSION_ID=${prompted.id}`), []);
    await prompted.goOn('again');
    await prompted.goesOn();
  });

  for (const [what, end, lose] of [
    ['lost', 'runner_lost', (prompted) => prompted.isLost()],
    ['ended by a person', 'session_ended', ({ sessions, id }) => sessions.call('POST', `/sessions/${id}/end`)],
  ]) {
    test(`is ${what}, resumed, and stays active when the frozen prompt wakes`, async (context) => {
      const prompted = await Prompted.open(context);
      prompted.child.kill('SIGSTOP');
      prompted.link.cut();
      await lose(prompted);
      await prompted.goOn('again');
      await prompted.goesOn(end);
      prompted.child.kill('SIGCONT');
      await prompted.exited;
      assert.equal((await prompted.session).status, 'active');
    });
  }
});
