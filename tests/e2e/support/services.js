import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from './agent.js';
import { ServerProcess } from './processes.js';

/**
 * A fresh tracker and a fresh gateway, and the agents that use them. They are closed in the reverse
 * order.
 */
export class Services {
  #closers = [];
  #data;
  #talkers = [];
  #gatewayProgram;
  #gatewayOptions;
  #guarded;

  /** `guarded`: `true` if the gateway requires tokens; `'tracker'` if the tracker does, too. */
  constructor({ gateway = 'callslip-gateway', gatewayOptions = [], guarded = false } = {}) {
    this.#gatewayProgram = gateway;
    this.#gatewayOptions = gatewayOptions;
    this.#guarded = guarded;
  }

  /**
   * Opens everything or nothing; the caller closes it. With `guarded` the gateway requires tokens,
   * and each caller has the token of its role.
   */
  static async open(options) {
    const services = new this(options);
    try {
      await services.build();
    } catch (error) {
      services.printLogs();
      await services.close();
      throw error;
    }
    return services;
  }

  async build() {
    const data = await mkdtemp(join(tmpdir(), 'callslip-tracker-'));
    this.onClose(() => rm(data, { recursive: true, force: true }));
    this.#data = data;
    if (this.#guarded) this.tokenFile = join(data, 'tokens');
    await this.startTracker();
    await this.startGateway();
  }

  get gatewayUrl() {
    return `http://${this.gateway.address}`;
  }

  /**
   * Starts the tracker, on a unix socket if it requires no tokens; after the first time at the
   * previous address, with the previous sessions.
   */
  async startTracker() {
    const asks = this.#guarded === 'tracker';
    const fresh = asks ? '127.0.0.1:0' : `unix:${this.#data}/tracker.sock`;
    const args = ['--listen', this.tracker?.address ?? fresh, '--data-dir', this.#data];
    if (asks) args.push('--token-file', this.tokenFile);
    this.tracker = this.#keep(await ServerProcess.start('callslip-tracker', args));
  }

  /** Starts the gateway; after the first time at the previous address. */
  async startGateway() {
    const listen = this.gateway?.address ?? '127.0.0.1:0';
    const args = ['--listen', listen, '--tracker', this.tracker.address, ...this.#gatewayOptions];
    if (this.tokenFile) args.push('--token-file', this.tokenFile);
    this.gateway = this.#keep(await ServerProcess.start(this.#gatewayProgram, args));
  }

  /** The token of a principal in the gateway's file; undefined without one. */
  async tokenOf(name) {
    if (!this.tokenFile) return undefined;
    const lines = (await readFile(this.tokenFile, 'utf8')).split('\n');
    return lines.map((line) => line.split(' ')).find((words) => words[1] === name)[2];
  }

  async agentOverBridge() {
    return this.keepAgent(await Agent.overBridge(this.gatewayUrl, this.tokenFile));
  }

  async agentOverHttp() {
    return this.keepAgent(await Agent.overHttp(this.gatewayUrl, await this.tokenOf('agent')));
  }

  keepAgent(agent) {
    this.#talkers.push(agent);
    this.onClose(() => agent.close());
    return agent;
  }

  /** Calls and awaits `close` when everything is closed. */
  onClose(close) {
    this.#closers.push(close);
  }

  /** Runs a step of a test; prints the logs of all processes if it fails. */
  async step(work) {
    try {
      return await work();
    } catch (error) {
      this.printLogs();
      throw error;
    }
  }

  printLogs() {
    const talkers = this.#talkers.filter(({ log }) => log);
    for (const talker of talkers) console.error(talker.describeLog());
  }

  async close() {
    for (const close of this.#closers.reverse()) {
      await close().catch((error) => console.error(error));
    }
  }

  #keep(server) {
    this.#talkers.push(server);
    this.onClose(() => server.stop());
    return server;
  }
}
