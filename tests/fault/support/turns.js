import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentSessions, processesWith, RunnerProcess, scriptedAgent, until } from '../../e2e/support/runner.js';
import { stretched } from '../../support/patience.js';

/**
 * The duration of a turn, in ms; a test's fault comes at any time of it, or a little before or
 * after.
 */
export const TURN_MS = 300;
const SESSIONS = 3;
/** The prefix of this file's messages, before a number. */
const MARK = 'mark-';

/**
 * Sessions with an agent, to which messages are sent: each message has its turn and reaches the
 * agent at most once, and every turn ends.
 */
export class Turns {
  /** The ends of turns, and the reasons of failed ones. */
  seen = { completed: 0, failed: 0, reasons: {} };
  messages = 0;
  runners = [];
  #ends = [];
  #patienceMs;
  #folder;
  /** The permission requests of each turn. */
  #asks;
  /** The log files of the input of each runner's agents. */
  #logs = [];
  /** The number of earlier turns of each session. */
  #before = new Map();

  /**
   * `place`: like Services, with the gateway's URL, the tracker's address and onClose().
   * `trackers`: the tracker's address for each of several runners. `workspaces`: the rules of each
   * runner, as in runner.yaml; `more`: further settings of all of them. `asks`: whether each turn
   * asks for permission to edit.
   */
  static async open(place, { patienceMs = stretched(40_000), trackers = [place.tracker.address],
    workspaces = [], more = {}, sessions = SESSIONS, asks = false } = {}) {
    const turns = new Turns();
    turns.#asks = asks ? [{ ask: { toolCallId: 'edit', kind: 'edit', title: 'Edit' } }] : [];
    turns.#patienceMs = patienceMs;
    const folder = await mkdtemp(join(tmpdir(), 'callslip-turns-'));
    place.onClose(() => rm(folder, { recursive: true, force: true }));
    turns.#folder = folder;
    for (const [i, tracker] of trackers.entries()) {
      turns.#logs.push(join(folder, `lines-${i}`));
      const agents = { scripted: { command: scriptedAgent(
        { restore: 'resume', sessions: join(folder, 'sessions'), log: turns.#logs[i] }) } };
      turns.runners.push(await RunnerProcess.open(place, { agents, id: `runner-${i}`,
        workspace: { dir: folder, ...workspaces[i] }, more: { ...more, tracker } }));
    }
    const [runner] = turns.runners;
    runner.dir = folder;
    turns.runner = runner;
    turns.sessions = new AgentSessions(place, runner);
    turns.ids = [];
    for (let i = 0; i < sessions; i += 1) await turns.add(await turns.sessions.begin());
    return turns;
  }

  /** Also sends messages to this session, which has had other turns before. */
  async add(id) {
    this.#before.set(id, (await this.#turns(id)).length);
    this.ids.push(id);
  }

  /** Sends a message to each session, and waits until all their turns have ended. */
  async round() {
    await Promise.all(this.ids.map((id) => this.#one(id)));
  }

  /** Sends one message after another to each session until `signal`, and waits for their turns. */
  async keepOn(signal) {
    await Promise.all(this.ids.map(async (id) => {
      while (!signal.aborted) await this.#one(id);
    }));
  }

  /** Whether the agents of a runner got any of these messages. */
  async hasAsked(runner) {
    return (await this.#prompts(this.#logs[runner])).some((line) => line.includes(MARK));
  }

  /** Ends the runners; fails if a message reached agents twice, or if an agent has not ended. */
  async finish() {
    const lines = (await Promise.all(this.#logs.map((log) => this.#prompts(log)))).flat();
    for (const { mark, outcome } of this.#ends) {
      const times = lines.filter((line) => line.includes(mark)).length;
      assert.ok(times <= 1, `${mark} was asked ${times} times`);
      if (outcome === 'completed') assert.equal(times, 1);
    }
    assert.equal(this.#ends.length, this.messages);
    for (const id of this.ids) {
      const turns = await this.#turns(id);
      const own = this.#ends.filter((end) => end.id === id).length;
      assert.equal(turns.length, this.#before.get(id) + own);
      assert.equal(new Set(turns.map((turn) => turn.turn_id)).size, turns.length);
      // A new tracker learns of it when the runner reconnects; a new runner has no agent yet.
      await until(async () => ['idle', 'stopped', 'none'].includes(
        (await this.#insist(() => this.sessions.agent(id))).status));
    }
    await Promise.all(this.runners.map((runner) => runner.stop()));
    assert.deepEqual(await processesWith(this.#folder), []);
  }

  /** The prompts in the input of agents; empty if none was started. */
  async #prompts(log) {
    const lines = await readFile(log, 'utf8').catch((error) => {
      if (error.code !== 'ENOENT') throw error;
      return '';
    });
    return lines.split('\n').filter((line) => line.includes('session/prompt'));
  }

  async #one(id) {
    const mark = `${MARK}${this.messages += 1}.`;
    const before = (await this.#turns(id)).length;
    // Submitted again if the first answer was lost: the prompt's id makes it one message.
    const prompt = { prompt_id: mark,
      message: JSON.stringify([{ say: mark }, ...this.#asks, { sleep: TURN_MS }, { say: 'end' }]) };
    await this.#insist(() => this.sessions.call('POST', `/sessions/${id}/queue`, prompt).catch((error) => {
      if (!/duplicate_prompt/.test(String(error))) throw error;
    }));
    const turns = await this.#ended(id, before, mark);
    assert.equal(turns.length, before + 1);
    const { outcome, reason } = turns.at(-1);
    this.seen[outcome] += 1;
    if (outcome === 'completed') {
      const answer = await this.#insist(() => this.sessions.answer(id));
      assert.equal(answer.replace(/answered .*}/, ''), `${mark}end`);
    } else {
      this.seen.reasons[reason] = (this.seen.reasons[reason] ?? 0) + 1;
      await this.#insist(() => this.sessions.queue(id, 'skip').catch((error) => {
        if (!/queue_not_paused|queue_empty|nothing_to_retry/.test(String(error))) throw error;
      }));
    }
    this.#ends.push({ id, mark, outcome });
  }

  async #ended(id, before, mark) {
    const patience = performance.now() + this.#patienceMs;
    for (;;) {
      await pause(30);
      const turns = await this.#turns(id);
      if (turns.length > before) return turns;
      if (performance.now() <= patience) continue;
      const now = await this.sessions.call('GET', `/sessions/${id}`);
      assert.fail(`${mark} has no end: ${JSON.stringify([now, turns])}\n${this.runners.map(({ log }) => log).join('\n\n')}`);
    }
  }

  #turns(id) {
    return this.#insist(() => this.sessions.turns(id));
  }

  /** Repeats a call while a gateway or tracker is being restarted. */
  async #insist(call) {
    const patience = performance.now() + this.#patienceMs;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const passes = /fetch failed|terminated|tracker_unreachable|: 50[0-9] |draining|ECONN/.test(String(error));
        if (!passes || performance.now() > patience) throw error;
        await pause(50);
      }
    }
  }
}
