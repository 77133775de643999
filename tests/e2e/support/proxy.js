import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** The longest time to connect to the server, in ms. */
const CONNECT_MS = stretched(2_000);

/** A proxy between a client and a server that can break the connections. */
export class Proxy {
  /** The delay of each piece, in ms; the pieces of one connection stay in order. */
  delayMs = 0;
  #targets;
  #pairs = new Set();
  #server;
  /** Fulfilled while data passes. */
  #passes = Promise.resolve();
  #heal = () => {};

  /**
   * Forwards to `HOST:PORT` or `unix:PATH`; with several, to the first that accepts a connection.
   */
  static async start(...addresses) {
    const proxy = new Proxy();
    proxy.#targets = addresses.map((address) => {
      const [host, port] = address.split(':');
      return host === 'unix' ? { path: port } : { host, port: Number(port) };
    });
    proxy.#server = createServer({ allowHalfOpen: true }, (client) => proxy.#join(client));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.port = proxy.#server.address().port;
    proxy.address = `127.0.0.1:${proxy.port}`;
    return proxy;
  }

  /**
   * From now on the server receives from the client on the current connections, but not vice versa.
   */
  withholdAnswers() {
    for (const pair of this.#pairs) pair.answers = new Promise(() => {});
  }

  /** Breaks all connections; new ones are accepted. */
  cut() {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Like an unplugged cable: no connection is closed, and nothing passes, until heal(). */
  silence() {
    if (this.isSilent) return;
    this.isSilent = true;
    this.#passes = new Promise((resolve) => { this.#heal = resolve; });
  }

  /** Ends the faults. Delayed data arrives now. */
  heal() {
    this.isSilent = false;
    this.delayMs = 0;
    this.#heal();
  }

  stop() {
    this.#server.close();
    this.cut();
    this.#heal();
  }

  async #join(client) {
    client.on('error', () => {});
    const server = await this.#reach();
    if (server === null) {
      client.destroy();
      return;
    }
    server.on('error', () => {});
    const pair = { client, server, answers: Promise.resolve() };
    this.#pairs.add(pair);
    await Promise.all([
      this.#pump(client, server, () => this.#passes),
      this.#pump(server, client, () => Promise.all([this.#passes, pair.answers]))]);
    this.#pairs.delete(pair);
  }

  async #reach() {
    for (const target of this.#targets) {
      const socket = connect({ ...target, allowHalfOpen: true });
      try {
        await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
        return socket;
      } catch {
        socket.destroy();
      }
    }
    return null;
  }

  async #pump(from, to, passes) {
    try {
      for await (const piece of from) {
        if (this.delayMs > 0) await pause(this.delayMs);
        await passes();
        if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      await passes();
      to.end();
    } catch {
      // A failure of one side closes both.
      await passes();
      from.destroy();
      to.destroy();
    }
  }
}
