import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentSessions, processesWith, RunnerProcess, scriptedAgent, until } from '../../e2e/support/runner.js';
import { stretched } from '../../support/patience.js';

/** A turn, in ms; what a test does comes at any time of it, and a little before and after. */
export const TURN_MS = 300;
const SESSIONS = 3;
/** What messages of this file begin with, and a number. */
const MARK = 'mark-';

/**
 * Sessions with an agent, to which messages are sent: each message has its turn, is brought to the agent
 * once at most, and every turn ends.
 */
export class Turns {
  /** How turns have ended, and why they failed. */
  seen = { completed: 0, failed: 0, reasons: {} };
  messages = 0;
  runners = [];
  #ends = [];
  #patienceMs;
  #folder;
  /** What each turn asks for. */
  #asks;
  /** What the agents of each runner are sent. */
  #logs = [];
  /** How many turns each session had before. */
  #before = new Map();

  /**
   * `place`: as Services; of it the gateway's URL, the tracker's address and onClose(). `trackers`: by
   * what address each of several runners reaches it. `workspaces`: the rules of each, as in runner.yaml; `more`:
   * the same of what all of them have. `asks`: whether each turn asks for permission to edit.
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

  /** Has messages sent to a session, too, which has had other turns before. */
  async add(id) {
    this.#before.set(id, (await this.#turns(id)).length);
    this.ids.push(id);
  }

  /** A message to each session, until all their turns have ended. */
  async round() {
    await Promise.all(this.ids.map((id) => this.#one(id)));
  }

  /** One message after the other to each session until `signal`, and until their turns have ended. */
  async keepOn(signal) {
    await Promise.all(this.ids.map(async (id) => {
      while (!signal.aborted) await this.#one(id);
    }));
  }

  /** Whether the agents of a runner were asked any of these messages. */
  async hasAsked(runner) {
    return (await this.#prompts(this.#logs[runner])).some((line) => line.includes(MARK));
  }

  /** Ends the runners, and fails where any message was brought twice, or none of its agents has ended. */
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
      // A tracker that is new hears of it when the runner is back; a runner that is new has none yet.
      await until(async () => ['idle', 'stopped', 'none'].includes(
        (await this.#insist(() => this.sessions.agent(id))).status));
    }
    await Promise.all(this.runners.map((runner) => runner.stop()));
    assert.deepEqual(await processesWith(this.#folder), []);
  }

  /** What was sent to agents that have been started, if any. */
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
    // Handed in twice where the first answer was lost: the prompt's id makes it one.
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

  /** Repeats what a gateway or tracker that is being restarted has not answered. */
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
