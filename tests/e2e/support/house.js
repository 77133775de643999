import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from './agent.js';
import { startBrowser } from './chromium.js';
import { startPageServer } from './page_server.js';
import { ServerProcess } from './processes.js';

/**
 * Everything between an agent and a page: tracker, gateway, browser with the extension, and a page
 * server, each fresh. What was opened is closed in the reverse order.
 */
export class House {
  #closers = [];
  #talkers = [];
  #guarded = false;

  /**
   * Opens a house, all of it or none; whoever opened it closes it. In a guarded one the gateway
   * asks for tokens, and everyone has the one of its role.
   */
  static async open({ guarded = false } = {}) {
    const house = new House();
    house.#guarded = guarded;
    try {
      await house.#build();
    } catch (error) {
      house.printLogs();
      await house.close();
      throw error;
    }
    return house;
  }

  async #build() {
    const data = await mkdtemp(join(tmpdir(), 'callslip-tracker-'));
    this.#closers.push(() => rm(data, { recursive: true, force: true }));
    const listen = ['--listen', '127.0.0.1:0', '--data-dir', data];
    this.tracker = this.#keep(await ServerProcess.start('callslip-tracker', listen));
    if (this.#guarded) this.tokenFile = join(data, 'tokens');
    await this.startGateway();
    this.pages = await startPageServer();
    this.#closers.push(() => this.pages.stop());
    const token = await this.tokenOf('extension');
    this.browser = await startBrowser({ serverUrl: this.gatewayUrl, token });
    this.#closers.push(() => this.browser.stop());
  }

  get gatewayUrl() {
    return `http://${this.gateway.address}`;
  }

  /** Starts the gateway; after the first time, at the address that its predecessor had. */
  async startGateway() {
    const listen = this.gateway?.address ?? '127.0.0.1:0';
    const args = ['--listen', listen, '--tracker', this.tracker.address];
    if (this.tokenFile) args.push('--token-file', this.tokenFile);
    this.gateway = this.#keep(await ServerProcess.start('callslip-gateway', args));
  }

  /** The token of a principal in the file that the gateway has made; undefined without one. */
  async tokenOf(name) {
    if (!this.tokenFile) return undefined;
    const lines = (await readFile(this.tokenFile, 'utf8')).split('\n');
    return lines.map((line) => line.split(' ')).find((words) => words[1] === name)[2];
  }

  async agentOverBridge() {
    return this.#keepAgent(await Agent.overBridge(this.gatewayUrl, this.tokenFile));
  }

  async agentOverHttp() {
    return this.#keepAgent(await Agent.overHttp(this.gatewayUrl, await this.tokenOf('agent')));
  }

  /** Runs a step of a test; the logs of all processes are printed when it fails. */
  async step(work) {
    try {
      return await work();
    } catch (error) {
      this.printLogs();
      throw error;
    }
  }

  printLogs() {
    for (const talker of this.#talkers) console.error(talker.describeLog());
  }

  async close() {
    for (const close of this.#closers.reverse()) {
      await close().catch((error) => console.error(error));
    }
  }

  #keep(server) {
    this.#talkers.push(server);
    this.#closers.push(() => server.stop());
    return server;
  }

  #keepAgent(agent) {
    this.#talkers.push(agent);
    this.#closers.push(() => agent.close());
    return agent;
  }
}
