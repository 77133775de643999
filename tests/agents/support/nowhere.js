import { once } from 'node:events';
import { createServer } from 'node:http';

const MAX_ASKED = 100;

/** A proxy that rejects every request, and records it. */
export class Nowhere {
  asked = [];

  static async open() {
    const nowhere = new this();
    nowhere.server = createServer((request, response) => {
      nowhere.#keep(`${request.method} ${request.url}`);
      response.writeHead(403).end();
    });
    nowhere.server.on('connect', (request, socket) => {
      nowhere.#keep(`CONNECT ${request.url}`);
      socket.on('error', () => {});
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    nowhere.server.listen(0, '127.0.0.1');
    await once(nowhere.server, 'listening');
    nowhere.url = `http://127.0.0.1:${nowhere.server.address().port}`;
    return nowhere;
  }

  async close() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  #keep(what) {
    if (this.asked.length < MAX_ASKED) this.asked.push(what);
  }
}
