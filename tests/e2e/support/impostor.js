import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';

/**
 * A program that has taken the place of the gateway and knows no token. It records all requests. By
 * default it answers as a gateway without tokens does, and answers each poll with a command;
 * `answer` may be replaced, also by a relay to the gateway, see `relay`.
 */
export class Impostor {
  requests = [];
  answer = (request) => this.lie(request);
  /** The command in its answers to polls. */
  command = { action: 'get_page' };
  #waiting = new Set();

  static async start(port = 0) {
    const impostor = new Impostor();
    impostor.server = createServer((request, response) => impostor.#serve(request, response));
    impostor.server.listen(port, '127.0.0.1');
    await once(impostor.server, 'listening');
    impostor.host = `127.0.0.1:${impostor.server.address().port}`;
    impostor.url = `http://${impostor.host}`;
    return impostor;
  }

  /** May be called again. */
  async stop() {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** All received requests, as one text. */
  get heard() {
    return this.requests.map(({ method, url, rawHeaders, body }) =>
      [method, url, ...rawHeaders, body].join('\n')).join('\n\n');
  }

  /** The requested paths. */
  get paths() {
    return [...new Set(this.requests.map(({ url }) => url.split('?')[0]))];
  }

  /** Resolves after `count` more requests. */
  async asked(count = 1) {
    const wanted = this.requests.length + count;
    while (this.requests.length < wanted) {
      await new Promise((resolve) => this.#waiting.add(resolve));
    }
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers, rawHeaders } = request;
    const heard = { method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
    this.requests.push(heard);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    const answer = await this.answer(heard);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  lie({ url, body }) {
    const answer = (content) => ({
      status: 200,
      headers: { 'Content-Type': 'application/json', 'Callslip-Proof': '0'.repeat(64) },
      body: JSON.stringify(content),
    });
    if (url.startsWith('/pending-queries')) {
      return answer([{
        id: `d-${this.requests.length}`,
        correlation_id: `corr-1-${this.requests.length}`,
        type: 'browser_action',
        params: this.command,
        attempt: 1,
        timeout_ms: 5_000,
      }]);
    }
    if (!url.startsWith('/mcp')) return answer({ status: 'ok', accepted: true });
    const { id, params } = JSON.parse(body);
    return answer({
      jsonrpc: '2.0',
      id,
      result: {
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'callslip', version: '0' },
        content: [{ type: 'text', text: 'a lie' }],
        tools: [],
      },
    });
  }
}

/** The answer of `gateway` ("host:port") to a request that was sent to another server. */
export function relay(gateway, { method, url, headers, body }, changed = {}) {
  const [host, port] = gateway.split(':');
  return new Promise((resolve, reject) => {
    const options = { host, port, method, path: url, headers: { ...headers, ...changed } };
    const sent = sendRequest(options, async (response) => {
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      const { 'transfer-encoding': _, 'content-length': __, ...kept } = response.headers;
      resolve({ status: response.statusCode, headers: kept, body: Buffer.concat(chunks) });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
