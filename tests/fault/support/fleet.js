import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerProcess } from '../../e2e/support/processes.js';

/** One tracker and some gateways, each of which may be killed and comes back where it was. */
export class Fleet {
  gateways = [];
  #trackerOptions;
  #gatewayOptions;

  static async start({ gateways = 1, trackerOptions = [], gatewayOptions = [] } = {}) {
    const fleet = new Fleet();
    fleet.#trackerOptions = trackerOptions;
    fleet.#gatewayOptions = gatewayOptions;
    fleet.data = await mkdtemp(join(tmpdir(), 'callslip-fleet-'));
    await fleet.startTracker();
    for (let i = 0; i < gateways; ++i) await fleet.startGateway(i);
    return fleet;
  }

  async startTracker() {
    this.tracker = await ServerProcess.start('callslip-tracker', [
      '--listen', `unix:${this.data}/tracker.sock`, '--data-dir', this.data,
      ...this.#trackerOptions,
    ]);
  }

  async startGateway(i) {
    this.gateways[i] = await ServerProcess.start('callslip-gateway', [
      '--listen', this.gateways[i]?.address ?? '127.0.0.1:0', '--tracker', this.tracker.address,
      ...this.#gatewayOptions,
    ]);
  }

  gatewayUrl(i) {
    return `http://${this.gateways[i].address}`;
  }

  gatewayUrls() {
    return this.gateways.map((_, i) => this.gatewayUrl(i));
  }

  async killGateway(i) {
    await this.gateways[i].kill();
    await this.startGateway(i);
  }

  printLogs() {
    for (const server of [this.tracker, ...this.gateways]) {
      console.error(server.describeLog().slice(-4_000));
    }
  }

  async stop() {
    for (const server of [...this.gateways, this.tracker]) await server.stop();
    await rm(this.data, { recursive: true, force: true });
  }
}

/** What a process uses: `{memory}` in MiB, the most it had so far, and `{files}` that are open. */
export async function usageOf(pid) {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const files = await readdir(`/proc/${pid}/fd`);
    return { memory: Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024, files: files.length };
  } catch {
    // It has just been killed.
    return null;
  }
}
