import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Stands between a client and the tracker, and can break what is between them. */
export class Proxy {
  #pairs = new Set();

  static async start(address) {
    const proxy = new Proxy();
    const [host, port] = address.split(':');
    const target = host === 'unix' ? { path: port } : { host, port: Number(port) };
    proxy.#server = createServer((client) => proxy.#pair(client, connect(target)));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.address = `127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  #server;

  #pair(client, tracker) {
    const pair = { client, tracker };
    this.#pairs.add(pair);
    client.pipe(tracker);
    tracker.pipe(client);
    const drop = () => {
      client.destroy();
      tracker.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of [client, tracker]) socket.on('error', drop).on('close', drop);
  }

  /** From now on the tracker hears the client on its present connections, but not vice versa. */
  withholdAnswers() {
    for (const { client, tracker } of this.#pairs) tracker.unpipe(client);
  }

  /** Breaks all connections; new ones are accepted. */
  cut() {
    for (const { client } of this.#pairs) client.destroy();
  }

  stop() {
    this.cut();
    this.#server.close();
  }
}
