import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../../e2e/support/ports.js';
import { ServerProcess } from '../../e2e/support/processes.js';
import { Proxy } from '../../e2e/support/proxy.js';
import { stretched } from '../../support/patience.js';
import { Postgres } from './postgres.js';

/** Logged by a running tracker, whether it serves or stands by. */
const READY = /listening on (\S+:\S+)\n|"event":"standing by"/;
/** The patience until one of several serves, in ms. */
const PATIENCE_MS = stretched(60_000);

/**
 * Trackers and gateways, each of which may be killed and restarts at its address: one tracker with
 * a directory, or with `database` several, of which one serves. With `links` there is a proxy in
 * each link: between gateways and trackers, and between trackers and the database's servers.
 */
export class Fleet {
  gateways = [];
  trackers = [];
  /** The proxies, by gateway and tracker, and by tracker and server; empty without `links`. */
  trackerLinks = [];
  databaseLinks = [];
  #options;
  /** The logs of processes that have ended, for a failing test. */
  #logs = [];

  static async start({ gateways = 1, trackers = 1, database = false, links = false,
    trackerOptions = [], gatewayOptions = [] } = {}) {
    const fleet = new Fleet();
    fleet.#options = { trackerOptions, gatewayOptions };
    fleet.data = await mkdtemp(join(tmpdir(), 'callslip-fleet-'));
    try {
      if (database) await fleet.#openDatabase(trackers, links);
      for (let i = 0; i < trackers; ++i) await fleet.startTracker(i);
      if (links) await fleet.#linkGateways(gateways);
      for (let i = 0; i < gateways; ++i) await fleet.startGateway(i);
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  /** The only tracker, or the first. */
  get tracker() {
    return this.trackers[0];
  }

  /** The addresses of the trackers, whether or not they listen. */
  get trackerAddresses() {
    return this.ports?.map((port) => `127.0.0.1:${port}`) ?? [this.tracker.address];
  }

  async startTracker(i = 0) {
    if (this.trackers[i]) this.#logs.push(this.trackers[i].describeLog());
    this.trackers[i] = await ServerProcess.start('callslip-tracker',
      [...this.#placeOf(i), ...this.#options.trackerOptions], {}, READY);
  }

  async startGateway(i) {
    const ways = this.trackerLinks[i]?.map(({ address }) => address) ?? this.trackerAddresses;
    this.gateways[i] = await ServerProcess.start('callslip-gateway', [
      '--listen', this.gateways[i]?.address ?? '127.0.0.1:0', '--tracker', ways.join(','),
      ...this.#options.gatewayOptions,
    ]);
  }

  /** The index of the serving tracker; waits until one serves. */
  async owner() {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const epochs = this.trackers.map((tracker) => {
        const serves = isAlive(tracker) && /listening on/.test(tracker.log);
        return serves ? Number(tracker.log.match(/"epoch":"(\d+)"/)?.[1] ?? 1) : 0;
      });
      const newest = Math.max(...epochs);
      if (newest > 0) return epochs.indexOf(newest);
      await pause(10);
    }
    throw new Error(`no tracker serves:\n${this.trackers.map((one) => one.describeLog().slice(-1_000)).join('\n')}`);
  }

  /** Restarts, thaws and reconnects everything, like an administrator. */
  async restore() {
    for (const link of this.links) link.heal();
    for (const server of [...this.trackers, ...this.gateways]) if (isAlive(server)) server.thaw();
    const until = performance.now() + PATIENCE_MS;
    for (let i = 0; i < this.trackers.length; ++i) {
      while (!isAlive(this.trackers[i])) {
        // The database may still be down.
        await this.startTracker(i).catch((error) => {
          if (performance.now() > until) throw error;
        });
      }
    }
    await this.owner();
  }

  get links() {
    return [...this.trackerLinks, ...this.databaseLinks].flat();
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
    for (const log of this.#logs.slice(-4)) console.error(log.slice(-2_000));
    for (const server of [...this.trackers, ...this.gateways]) {
      console.error(server.describeLog().slice(-4_000));
    }
  }

  async stop() {
    for (const link of this.links) link.heal();
    for (const server of [...this.gateways, ...this.trackers]) await server.stop();
    for (const link of this.links) link.stop();
    await this.postgres?.stop();
    await rm(this.data, { recursive: true, force: true });
  }

  #placeOf(i) {
    if (!this.postgres) return ['--listen', `unix:${this.data}/tracker.sock`, '--data-dir', this.data];
    const storage = this.postgres.urlBy(this.databaseLinks[i]?.map(({ port }) => port));
    return ['--listen', `127.0.0.1:${this.ports[i]}`, '--storage', storage];
  }

  async #openDatabase(trackers, links) {
    this.postgres = await Postgres.start();
    this.ports = await freePorts(trackers);
    if (!links) return;
    const servers = this.postgres.sockets.map((path) => `unix:${path}`);
    this.databaseLinks = await Promise.all(this.ports.map(
      () => Promise.all(servers.map((server) => Proxy.start(server)))));
  }

  async #linkGateways(gateways) {
    this.trackerLinks = await Promise.all(Array.from({ length: gateways },
      () => Promise.all(this.trackerAddresses.map((address) => Proxy.start(address)))));
  }
}

/** Whether it has not ended; it may be frozen. */
export function isAlive({ child }) {
  return child.exitCode === null && child.signalCode === null;
}

/** A process's resources: `{memory}`, its peak in MiB, and `{files}`, its open files. */
export async function usageOf(pid) {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const files = await readdir(`/proc/${pid}/fd`);
    return { memory: Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024, files: files.length };
  } catch {
    // The process has just been killed.
    return null;
  }
}
