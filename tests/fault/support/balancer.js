import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** The interval of the gateways' health checks, in ms. */
const PROBE_MS = 100;

/**
 * One address before several gateways, like a load balancer's: it passes each new connection to the
 * next gateway that answers and does not drain, and keeps existing connections. See also
 * deploy/cluster/balancer.cfg.
 */
export class Balancer {
  #backends = [];
  #next = 0;
  #server;
  #probe;

  static async start() {
    const balancer = new Balancer();
    balancer.#server = createServer((client) => balancer.#serve(client));
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    balancer.address = `127.0.0.1:${balancer.#server.address().port}`;
    return balancer;
  }

  /** Sets the gateways' addresses. */
  async use(addresses) {
    this.#backends = addresses.map((address) => ({ address, isReady: false }));
    await this.#look();
    this.#probe = setInterval(() => this.#look(), PROBE_MS);
  }

  isReady(address) {
    return this.#backends.find((backend) => backend.address === address).isReady;
  }

  stop() {
    clearInterval(this.#probe);
    this.#server.close();
  }

  async #look() {
    await Promise.all(this.#backends.map(async (backend) => {
      try {
        const signal = AbortSignal.timeout(1_000);
        const response = await fetch(`http://${backend.address}/readyz`, { signal });
        backend.isReady = !(await response.text()).includes('draining');
      } catch {
        backend.isReady = false;
      }
    }));
  }

  #serve(client) {
    const ready = this.#backends.filter(({ isReady }) => isReady);
    if (ready.length === 0) {
      client.destroy();
      return;
    }
    const [host, port] = ready[this.#next++ % ready.length].address.split(':');
    const gateway = connect(Number(port), host);
    client.pipe(gateway);
    gateway.pipe(client);
    // A normal end is passed on by the pipes, after the data before it.
    const drop = () => {
      client.destroy();
      gateway.destroy();
    };
    for (const socket of [client, gateway]) socket.on('error', drop);
  }
}
