import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentSessions, RunnerProcess } from '../../e2e/support/runner.js';
import { Services } from '../../e2e/support/services.js';
import { stretched } from '../../support/patience.js';
import { FakeModel } from './fake_model.js';
import { Nowhere } from './nowhere.js';

/** Real agents start and answer slowly on a busy machine, in ms. */
const PATIENCE_MS = stretched(60_000);

/** Polls until `look` returns a value. */
export async function until(look, ms = PATIENCE_MS) {
  const patience = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > patience) throw new Error(`still not so after ${ms} ms: ${look}`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

/** The value of `promise`; an Error if it takes too long. */
export async function inTime(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was still missing after ${PATIENCE_MS} ms.`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A real agent in sessions: a fake model that it asks, and a runner that starts it. */
export class Setting {
  /**
   * Everything that it opens is closed with its services, which are fresh unless they are given.
   * `change` gets the agent's entry of runner.yaml, and may change it.
   */
  static async open(agent, { services, change = (entry) => entry, workspace, limits } = {}) {
    const setting = new this();
    setting.agent = agent;
    setting.services = services ?? await Services.open();
    try {
      await setting.#build(change, workspace, limits);
    } catch (error) {
      setting.services.printLogs();
      if (!services) await setting.close();
      throw error;
    }
    return setting;
  }

  async #build(change, workspace, limits) {
    const { services, agent } = this;
    const home = this.home = await mkdtemp(join(tmpdir(), `callslip-${agent.name}-`));
    services.onClose(() => rm(home, { recursive: true, force: true, maxRetries: 10 }));
    this.model = await FakeModel.open();
    services.onClose(() => this.model.close());
    this.nowhere = await Nowhere.open();
    services.onClose(() => this.nowhere.close());
    const entry = await agent.configure(
      { home, model: this.model.url, proxy: this.nowhere.url });
    this.runner = await RunnerProcess.open(services, {
      agents: { [agent.name]: change(entry) },
      workspace,
      limits,
      more: { gateway: services.gatewayUrl },
    });
    this.sessions = new AgentSessions(services, this.runner);
  }

  begin(more = {}) {
    return this.sessions.begin({ acp_server: this.agent.name, ...more });
  }

  /** Observes a session; `seen(type)` is the first message of that type. */
  async watch(id) {
    const watcher = await this.sessions.watch(id);
    const seen = (type) => inTime(type, watcher.ofType(type));
    await seen('connected');
    return { watcher, seen };
  }

  /** Allows every permission request of a session, once. */
  async allows(id) {
    const { watcher } = await this.watch(id);
    this.services.onClose(async () => watcher.socket.terminate());
    watcher.socket.on('message', (text) => {
      const { type, data } = JSON.parse(text);
      if (type !== 'permission_asked') return;
      const { option_id } = data.options.find(({ kind }) => kind === 'allow_once');
      watcher.send('permission_answer', { permission_id: data.permission_id, option_id });
    });
  }

  /** The ended turns, once there are `count`. */
  ended(id, count = 1) {
    return until(async () => {
      const turns = await this.sessions.turns(id);
      return turns.length >= count && turns;
    });
  }

  async events(id) {
    const { events } = await this.sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    return events;
  }

  /** Runs a step of a test; when it fails, all logs are printed. */
  step(work) {
    return this.services.step(async () => {
      try {
        return await work();
      } catch (error) {
        console.error(`--- runner\n${this.runner.log.slice(-8_000)}`);
        console.error(`--- fake model: refused ${JSON.stringify(this.model.refused)}, asked `
          + JSON.stringify(this.model.asked.slice(-3)));
        throw error;
      }
    });
  }

  close() {
    return this.services.close();
  }
}
