import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';
import { binary, endWithThis } from './processes.js';
import { Sessions } from './watcher.js';

const STOP_PATIENCE_MS = stretched(20_000);
const MCP_VERSION = '2026-07-28';

/** The scripted agent (tests/support/scripted_agent), as a command. */
export function scriptedAgent(options = {}) {
  const program = join(binary('callslip-runner'), '../../test_bin/callslip-scripted-agent');
  return [program, JSON.stringify(options)];
}

/** A callslip-runner with a configuration of its own, and a folder for its agents. */
export class RunnerProcess {
  log = '';

  /** `agents`: name → {command, …}, as in runner.yaml; likewise `workspace`, `limits` and `more`. */
  static async open(services, { agents, workspace = {}, limits = {}, more = {}, id = 'runner' }) {
    const runner = new this();
    runner.folder = await mkdtemp(join(tmpdir(), 'callslip-runner-'));
    services.onClose(() => runner.close());
    runner.dir = join(runner.folder, 'work');
    await mkdir(runner.dir);
    runner.file = join(runner.folder, 'runner.yaml');
    await runner.configure({ tracker: services.tracker.address, runner_id: id, limits, agents,
      workspaces: { work: { dir: runner.dir, ...workspace } }, ...more });
    await runner.start();
    return runner;
  }

  /** Changes the configuration for the next start. */
  async configure(change) {
    this.config = { ...this.config, ...change };
    // JSON is YAML.
    await writeFile(this.file, JSON.stringify(this.config));
  }

  async start() {
    const begun = this.log.length;
    this.child = endWithThis(spawn(binary('callslip-runner'), ['--runner-file', this.file],
      { stdio: ['ignore', 'ignore', 'pipe'] }));
    this.exited = once(this.child, 'close');
    this.child.stderr.setEncoding('utf8').on('data', (text) => { this.log += text; });
    while (!this.log.slice(begun).includes('"event":"serves"')) {
      await Promise.race([once(this.child.stderr, 'data'), this.exited.then(() => {
        throw new Error(`the runner has ended:\n${this.log}`);
      })]);
    }
  }

  async stop() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    const insist = setTimeout(() => this.child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await this.exited;
    clearTimeout(insist);
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async close() {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Polls until `look` returns a value; the patience is long enough for a busy machine. */
export async function until(look, ms = stretched(60_000)) {
  const patience = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > patience) throw new Error(`still not so after ${ms} ms: ${look}`);
    await pause(20);
  }
}

/** Sessions with agents, over REST. */
export class AgentSessions extends Sessions {
  #services;
  #runner;

  constructor(services, runner) {
    super(services);
    this.#services = services;
    this.#runner = runner;
  }

  async begin(body = {}) {
    const { session_id: id } = await this.call('POST', '/sessions',
      { acp_server: 'scripted', working_dir: this.#runner.dir, ...body });
    return id;
  }

  /** Sends a prompt: a script of the scripted agent, or a text that it repeats. */
  say(id, script) {
    const message = typeof script === 'string' ? script : JSON.stringify(script);
    return this.call('POST', `/sessions/${id}/queue`, { message });
  }

  /** All recorded events. */
  async events(id) {
    const events = [];
    for (let page; !page || page.has_more;) {
      page = await this.call('GET', `/sessions/${id}/events?limit=1000&after_seq=${page?.last_seq ?? 0}`);
      events.push(...page.events);
    }
    return events;
  }

  /** The data of each turn's end, so far. */
  async turns(id) {
    return (await this.events(id)).filter(({ type }) => type === 'turn_end').map(({ data }) => data);
  }

  /** The same, once there are `count`. */
  ended(id, count) {
    return until(async () => {
      const turns = await this.turns(id);
      return turns.length >= count && turns;
    });
  }

  /** The agent's text since the latest prompt. */
  async answer(id) {
    const events = await this.events(id);
    const asked = events.findLastIndex(({ type }) => type === 'user_prompt');
    return events.slice(asked).filter(({ type }) => type === 'agent_message')
      .map(({ data }) => data.text).join('');
  }

  async agent(id) {
    return (await this.call('GET', `/sessions/${id}`)).agent;
  }

  /** The agent's own way to call the tool `session`, with its token. Takes a turn. */
  async toolOf(id) {
    const before = (await this.turns(id)).length;
    await this.say(id, [{ say_mcp: true }]);
    await this.ended(id, before + 1);
    const [, token] = /Bearer ([^"\\]+)/.exec(await this.answer(id));
    return async (args) => {
      const params = { name: 'session', arguments: args, _meta: {
        'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
        'io.modelcontextprotocol/clientCapabilities': {} } };
      const answer = await fetch(`${this.#services.gatewayUrl}/mcp`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${token}`, 'MCP-Protocol-Version': MCP_VERSION,
          'Mcp-Method': 'tools/call', 'Mcp-Name': 'session' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      });
      return (await answer.json()).result.structuredContent;
    };
  }

  control(id, action) {
    return this.call('POST', `/sessions/${id}/agent`, { action });
  }

  queue(id, action) {
    return this.call('POST', `/sessions/${id}/queue-control`, { action });
  }
}

/** The processes with `text` in their command line or their environment. */
export async function processesWith(text) {
  const found = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '');
    const [command, environment] = await Promise.all([read('cmdline'), read('environ')]);
    if (`${command}\0${environment}`.includes(text)) found.push(Number(pid));
  }
  return found.filter((pid) => pid !== process.pid);
}
