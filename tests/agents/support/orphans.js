import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { processesWith } from '../../e2e/support/runner.js';
import { stretched } from '../../support/patience.js';
import { Setting, until } from './setting.js';

const ROUNDS = Number(process.env.CALLSLIP_AGENT_ROUNDS ?? 1);
/** The keeper gives an agent 2 s to end after its runner is gone. */
const END_PATIENCE_MS = stretched(10_000);

/** The processes that a round kills, and the reason with which each ends the running turn. */
const VICTIMS = { runner: 'runner_lost', agent: 'agent_crashed', keeper: 'agent_crashed' };

/**
 * No process of an agent outlives its runner, its keeper, or the agent, in the middle of a command
 * with children that left its session. `wrap` makes the runner's command of the agent's. Reports
 * how long the last process took to end.
 */
export function checkOrphans(name, agent, wrap = (command) => command, rounds = ROUNDS) {
  test(name, { timeout: stretched(60_000 + rounds * 120_000) }, async (context) => {
    const setting = await Setting.open(agent, {
      change: (entry) => ({ ...entry, command: wrap(entry.command) }),
      workspace: { permissions: { default: 'allow_once' } },
    });
    const took = Object.fromEntries(Object.keys(VICTIMS).map((victim) => [victim, []]));
    try {
      for (let round = 0; round < rounds; ++round) {
        await setting.step(() => killEach(setting, round, took));
      }
    } finally {
      await setting.close();
    }
    for (const [victim, times] of Object.entries(took)) {
      times.sort((a, b) => a - b);
      const at = (part) => times[Math.floor((times.length - 1) * part)].toFixed(0);
      context.diagnostic(`${victim} killed ${times.length} times: nothing is left after ms `
        + `${at(0.5)} (median), ${at(1)} (most)`);
    }
  });
}

/** In a session of its own: the runner no longer starts an agent that has crashed often. */
async function killEach(setting, round, took) {
  const { runner, sessions } = setting;
  const id = await setting.begin();
  const command = new Command(setting, id, `86${process.pid}${round}`);
  let ended = 0;
  for (const [victim, reason] of Object.entries(VICTIMS)) {
    const pids = await command.runs();
    const killed = performance.now();
    if (victim === 'runner') await runner.kill();
    else process.kill(pids[victim], 'SIGKILL');
    await command.isGone();
    took[victim].push(performance.now() - killed);
    if (victim === 'runner') await runner.start();
    const turns = await setting.ended(id, ended += 1);
    assert.deepEqual([turns.at(-1).outcome, turns.at(-1).reason], ['failed', reason]);
    await sessions.queue(id, 'skip');
  }
  await sessions.control(id, 'stop');
}

/**
 * A command in an agent's session that sleeps for `seconds`. So does a child that has left its
 * session, one that has also left its parent, and one that also has an empty environment.
 */
class Command {
  #setting;
  #id;
  #words;
  #mark;

  constructor(setting, id, seconds) {
    this.#setting = setting;
    this.#id = id;
    this.#words = ['sleep', seconds];
    this.#mark = `CALLSLIP_SESSION_ID=${id}`;
  }

  /** Starts the command. Returns the pids of its agent and keeper once all its processes run. */
  async runs() {
    const { sessions, agent } = this.#setting;
    const sleep = this.#words.join(' ');
    await sessions.say(this.#id, [agent.shell(
      `setsid ${sleep} & (setsid ${sleep} &); (env -i setsid ${sleep} &); ${sleep}`)]);
    return until(async () => {
      // The session may have been lost with the previous victim.
      if ((await sessions.agent(this.#id))?.reason === 'cannot_restore') {
        await sessions.control(this.#id, 'fresh');
        await sessions.queue(this.#id, 'resume');
      }
      const all = await this.#all();
      const of = (is) => all.find(({ words }) => is(words))?.pid;
      const pids = {
        agent: of((words) => words.slice(0, 2).some((word) => agent.program.test(word))),
        keeper: of(([program]) => /\/callslip-keeper$/.test(program)),
      };
      const asleep = all.filter(({ words }) => words.join(' ') === sleep);
      return asleep.length === 4 && pids.agent && pids.keeper && pids;
    });
  }

  /** Waits until no process of the command or its agent is left. */
  async isGone() {
    let left;
    try {
      await until(async () => (left = await this.#all()).length === 0, END_PATIENCE_MS);
    } catch (error) {
      throw new Error(`still there: ${left.map(({ pid, words }) => `${pid} ${words.join(' ')}`).join('; ')}`,
        { cause: error });
    }
  }

  async #all() {
    const marked = await processesWith(this.#mark);
    // The process with an empty environment has no mark.
    const asleep = await processesWith(this.#words.join('\0'));
    return Promise.all([...new Set([...marked, ...asleep])].sort((a, b) => a - b)
      .map(async (pid) => ({ pid, words: await wordsOf(pid) })));
  }
}

async function wordsOf(pid) {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.split('\0').slice(0, -1);
}
