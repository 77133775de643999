import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../support/patience.js';

/** How long a new connection may take to whom it is for, in ms. */
const CONNECT_MS = stretched(2_000);

/** Stands between a client and a server, and can break what is between them. */
export class Proxy {
  /** How long each piece is under way, in ms; those of one connection go one after the other. */
  delayMs = 0;
  #targets;
  #pairs = new Set();
  #server;
  /** Fulfilled unless nothing passes. */
  #passes = Promise.resolve();
  #heal = () => {};

  /** To `HOST:PORT` or `unix:PATH`; of several to the first that takes a connection. */
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

  /** From now on the server hears the client on its present connections, but not vice versa. */
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

  /** As where a cable is pulled: nobody is told anything, and nothing passes, until it is back. */
  silence() {
    if (this.isSilent) return;
    this.isSilent = true;
    this.#passes = new Promise((resolve) => { this.#heal = resolve; });
  }

  /** All is as it was. What was under way arrives now. */
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
      // Whoever has broken it has broken both sides.
      await passes();
      from.destroy();
      to.destroy();
    }
  }
}
