/**
 * The cost of a runner: the time of a prompt to its agent, and of an agent's first piece to an
 * observer of the session, against events that are appended without a runner; memory; and many
 * agents that talk at once. All parts are real except the agent, which is the tests' scripted one.
 * Prints figures and judges one property: nothing may be lost or change its place.
 *
 *     CALLSLIP_BIN=build/release/bin node tests/bench/runner_bench.mjs
 *
 * The agent reports its times by the clock of `process.hrtime`. A message, and the turn that it
 * begins, are synced to the disk of TMPDIR: that is most of a prompt's latency.
 */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentSessions, RunnerProcess, scriptedAgent, until } from '../e2e/support/runner.js';
import { Services } from '../e2e/support/services.js';
import { TrackerApi } from '../e2e/support/tracker_api.js';

const ROUNDS = 200;
const STOPS = 50;
const RUNNING = 50;
const SLEEPING = 1000;
const IDLE_MS = 30;
const TALKERS = 8;
const PIECES_A_SECOND = 200;
const TALK_S = Number(process.env.CALLSLIP_BENCH_RUNNER_S ?? 60);

/** Jiffies, the unit of /proc, in a second. */
const JIFFIES = 100;
const KEPT = `/dev/shm/callslip-bench-${process.pid}`;

const now = () => Number(process.hrtime.bigint()) / 1e6;

function printRow(name, count, ...cells) {
  const figures = cells.map((cell) => String(cell).padStart(16)).join('');
  console.log(`${name.padEnd(44)}${String(count).padStart(6)}${figures}`);
}

function percentile(numbers, percent) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
}

class Bench {
  static async open() {
    const bench = new this();
    const services = await Services.open();
    bench.services = services;
    services.onClose(() => rm(KEPT, { force: true }));
    bench.runner = await RunnerProcess.open(services, {
      agents: { scripted: { command: scriptedAgent({ restore: 'resume', sessions: KEPT }) } },
      workspace: { max_running: 1000 },
      limits: { running_agents: RUNNING + TALKERS + 2, starting_agents: 4 },
    });
    bench.sessions = new AgentSessions(services, bench.runner);
    bench.tracker = new TrackerApi(services.tracker.address);
    services.onClose(async () => bench.tracker.close());
    return bench;
  }

  async process(file) {
    return readFile(`/proc/${this.runner.child.pid}/${file}`, 'utf8');
  }
  async residentKib() {
    return Number((await this.process('status')).match(/VmRSS:\s+(\d+)/)[1]);
  }
  async processorSeconds() {
    const fields = (await this.process('stat')).replace(/^.*\) /, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) / JIFFIES;
  }

  async turns(ids) {
    await until(async () => {
      const turns = await Promise.all(ids.map((id) => this.sessions.turns(id)));
      return turns.every(({ length }) => length > 0);
    });
  }

  /** Everything that the agent has said, and the number of its events. */
  async said(id) {
    const pieces = [];
    for (let after = 0, page; !page || page.has_more; after = page.last_seq) {
      page = await this.sessions.call('GET', `/sessions/${id}/events?limit=1000&after_seq=${after}`);
      pieces.push(...page.events.filter(({ type }) => type === 'agent_message'));
    }
    return { text: pieces.map(({ data }) => data.text).join(''), events: pieces.length };
  }

  /**
   * ms: from a message's addition to the agent; from the agent's text to its observer; and the same
   * from an append.
   */
  async latencies() {
    const id = await this.sessions.begin();
    const watcher = await this.sessions.watch(id);
    await watcher.ofType('connected');
    const times = { bare: [], stored: [], prompt: [], chunk: [], append: [] };
    for (let round = -10; round < ROUNDS; round += 1) {
      // An agent that has just ended a turn is not idle yet.
      await pause(IDLE_MS);
      // The cost of this caller and its connection to the tracker: a call that changes nothing.
      const asked = now();
      await this.tracker.call('GetQueueStatus', { session_id: id }, this.tracker.queues);
      const bare = now() - asked;
      await pause(IDLE_MS);
      const seen = watcher.find(({ type }) => type === 'agent_message').then(({ data }) => ({ data, at: now() }));
      const added = now();
      await this.tracker.call('AddMessage', { session_id: id, message: '[{"say_times":true}]' },
        this.tracker.queues);
      const stored = now() - added;
      const { data, at } = await seen;
      await watcher.ofType('turn_end');
      const { read, write } = JSON.parse(data.text);
      watcher.messages.length = 0;

      const appended = watcher.find(({ type }) => type === 'agent_message').then(now);
      const sent = now();
      await this.tracker.call('AppendEvents',
        { session_id: id, events: [{ type: 'agent_message', data: Buffer.from(JSON.stringify({ text: data.text })) }] }, this.tracker.sessions);
      const took = (await appended) - sent;
      watcher.messages.length = 0;
      // The first rounds warm up.
      if (round < 0) continue;
      times.bare.push(bare);
      times.stored.push(stored);
      times.prompt.push(read / 1e6 - added);
      times.chunk.push(at - write / 1e6);
      times.append.push(took);
    }
    await watcher.close();
    printRow('ms', 'rounds', 'p50', 'p99');
    const figures = {};
    for (const [name, of] of [['a call that changes nothing', 'bare'], ['AddMessage, until it is stored', 'stored'],
      ['AddMessage → session/prompt', 'prompt'], ['first piece of an agent → WebSocket', 'chunk'], ['AppendEvents → WebSocket', 'append']]) {
      figures[of] = [50, 99].map((percent) => percentile(times[of], percent));
      printRow(name, ROUNDS, ...figures[of].map((ms) => ms.toFixed(2)));
    }
    printRow('a piece against an append', '',
      ...figures.chunk.map((ms, i) => `${(ms / figures.append[i]).toFixed(2)} x`));
  }

  /** ms: from the stop of a turn to its agent. */
  async stops() {
    const id = await this.sessions.begin();
    const watcher = await this.sessions.watch(id);
    await watcher.ofType('connected');
    const times = [];
    const said = (fits) => watcher.find(({ type, data }) => type === 'agent_message' && fits(data.text));
    for (let round = -5; round < STOPS; round += 1) {
      // The cancel ends the sleep, and the agent says when.
      await this.sessions.say(id, [{ say: 'works' }, { sleep: 60_000, say_times: true }]);
      await said((text) => text.startsWith('works'));
      const stopped = now();
      await this.tracker.call('StopTurn', { session_id: id }, this.tracker.queues);
      const { data } = await said((text) => text.includes('write'));
      await watcher.ofType('turn_end');
      if (round >= 0) times.push(Number(data.text.match(/"write":(\d+)/)[1]) / 1e6 - stopped);
      watcher.messages.length = 0;
      // After a stop the queue waits for the user's decision.
      await this.sessions.queue(id, 'resume');
    }
    await watcher.close();
    printRow('StopTurn → session/cancel', STOPS,
      ...[50, 99].map((percent) => percentile(times, percent).toFixed(2)));
  }

  /** KiB of the runner without agents, and the increase for each session. */
  async memory(idle) {
    const countStopped = async () => {
      let count = 0;
      for (let page; !page || page.next_page_token;) {
        const token = page ? `&page_token=${encodeURIComponent(page.next_page_token)}` : '';
        page = await this.sessions.call('GET', `/sessions?limit=500${token}`);
        count += page.sessions.filter(({ agent }) => agent?.status === 'stopped').length;
      }
      return count;
    };
    const begin = async (count) => {
      const ids = [];
      while (ids.length < count) {
        const some = Math.min(20, count - ids.length);
        const more = await Promise.all(Array.from({ length: some }, () => this.sessions.begin()));
        await Promise.all(more.map((id) => this.sessions.say(id, 'hello')));
        await this.turns(more);
        ids.push(...more);
      }
      return ids;
    };
    const stop = async (ids) => {
      for (let i = 0; i < ids.length; i += 20) {
        await Promise.all(ids.slice(i, i + 20).map((id) => this.sessions.control(id, 'stop')));
      }
    };
    // The first sessions allocate memory that later ones share; more of them would leave free
    // memory to the others.
    await stop(await begin(2));
    const before = await this.residentKib();
    const running = await begin(RUNNING);
    const during = await this.residentKib();
    await stop(running);
    const stopped = await countStopped();
    const between = await this.residentKib();
    for (let left = SLEEPING; left > 0; left -= RUNNING) await stop(await begin(RUNNING));
    const asleep = (await countStopped()) - stopped;
    const after = await this.residentKib();
    console.log();
    printRow('KiB of the runner', '', 'each', 'in all');
    printRow('without sessions', '', '', idle);
    printRow('session with an idle agent', RUNNING, ((during - before) / RUNNING).toFixed(1), during);
    printRow('session whose agent is stopped', asleep, ((after - between) / asleep).toFixed(2), after);
  }

  /** Many agents that say a piece every few ms. */
  async talk() {
    const ids = await Promise.all(Array.from({ length: TALKERS }, () => this.sessions.begin()));
    const watchers = await Promise.all(ids.map((id) => this.sessions.watch(id)));
    await Promise.all(watchers.map((watcher) => watcher.ofType('connected')));
    await until(async () => {
      const agents = await Promise.all(ids.map((id) => this.sessions.agent(id)));
      return agents.every(({ status }) => status === 'idle');
    });
    const count = PIECES_A_SECOND * TALK_S;
    const script = [{ count, every_us: 1e6 / PIECES_A_SECOND }];
    const [begun, spent] = [now(), await this.processorSeconds()];
    const ends = watchers.map((watcher) => watcher.ofType('turn_end'));
    await Promise.all(ids.map((id) => this.sessions.say(id, script)));
    await Promise.all(ends);
    const seconds = (now() - begun) / 1e3;
    const processor = (await this.processorSeconds()) - spent;
    const want = Array.from({ length: count }, (_, i) => `${i} `).join('');
    let events = 0;
    for (const [i, id] of ids.entries()) {
      const said = await this.said(id);
      assert.equal(said.text, want, `the log of session ${i} has not all, or not in order`);
      const seen = watchers[i].messages.filter(({ type }) => type === 'agent_message');
      assert.equal(seen.map(({ data }) => data.text).join(''), want,
        `who watches session ${i} has not seen all, or not in order`);
      events = Math.max(events, said.events);
      await watchers[i].close();
    }
    console.log();
    printRow(`${TALKERS} agents, ${PIECES_A_SECOND} pieces a second each`, 's', 'events/s each', 'processor');
    printRow('nothing lost, all in order', seconds.toFixed(0), (events / seconds).toFixed(1),
      `${((processor / seconds) * 100).toFixed(1)} %`);
  }
}

const bench = await Bench.open();
try {
  const idle = await bench.residentKib();
  await bench.latencies();
  await bench.stops();
  await bench.memory(idle);
  await bench.talk();
} finally {
  await bench.services.close();
}
