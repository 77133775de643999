/**
 * Runs mcp-remote, supergateway and callslip-bridge side by side, each before a gateway of ours with
 * faults in between, and prints what each of them does as a table in Markdown. The peers come from
 * npm; where that cannot be reached, they are left out.
 *
 *   node tests/bridge_peers/run.mjs
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { binary } from '../e2e/support/processes.js';
import { Services } from '../e2e/support/services.js';
import { stretched } from '../support/patience.js';

const PACKAGES = ['mcp-remote@0.15', 'supergateway@4'];
/** Who has not answered after this has given no answer, in ms. */
const PATIENCE_MS = stretched(5_000);
const INSTALL_PATIENCE_MS = 120_000;

/** Stands before the gateway, hands requests on, sees them all, and does what the gateway never does. */
class FaultyGateway {
  messages = [];
  deletes = 0;
  forgotten = new Set();
  #sessions = new Set();

  static async start(services) {
    const faulty = new FaultyGateway();
    faulty.server = createServer((request, response) => {
      faulty.#serve(services, request, response).catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(faulty.server, 'listening');
    faulty.url = `http://127.0.0.1:${faulty.server.address().port}`;
    return faulty;
  }

  /** Answers 404 to all sessions so far, as a gateway with another key does. */
  forgetSessions() {
    for (const session of this.#sessions) this.forgotten.add(session);
  }

  async #serve(services, request, response) {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const session = request.headers['mcp-session-id'];
    if (request.method === 'DELETE') this.deletes += 1;
    const message = body ? JSON.parse(body) : {};
    this.messages.push(message);
    if (this.forgotten.has(session)) {
      response.writeHead(404, { 'Content-Type': 'application/json' });
      return response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"}}');
    }
    const fault = message.params?.arguments?.fault;
    if (fault) return this.#misbehave(fault, message, response);
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(services.gatewayUrl + request.url,
      { method: request.method, headers, body: body || undefined });
    const issued = answer.headers.get('mcp-session-id');
    if (issued) this.#sessions.add(issued);
    response.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? 'application/json',
      ...(issued ? { 'Mcp-Session-Id': issued } : {}),
    });
    response.end(await answer.text());
  }

  #misbehave(fault, { id, params }, response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const event = (message) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
    const { progressToken } = params._meta ?? {};
    event({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    if (fault === 'progress') event({ id, result: { content: [] } });
    if (fault === 'drop') return setTimeout(() => response.destroy(), 50);
    return response.end();
  }
}

/** A bridge of anyone's, spoken to by lines. */
class Peer {
  lines = [];
  #waiting = [];

  constructor(command, args) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.exited = once(this.child, 'exit');
    this.child.stdin.on('error', () => {});
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      let message;
      try { message = JSON.parse(line); } catch { return; }
      this.lines.push(message);
      this.#waiting = this.#waiting.filter((check) => !check(message));
    });
  }

  write(message) {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  /** The first message from now on that fits, and how long it took; nothing after a while. */
  async next(fits, ms = PATIENCE_MS) {
    const start = performance.now();
    let timer;
    const found = new Promise((resolve) => {
      this.#waiting.push((message) => fits(message) && (resolve(message), true));
      timer = setTimeout(() => resolve(undefined), ms);
    });
    const message = await found;
    clearTimeout(timer);
    return message && { message, ms: Math.round(performance.now() - start) };
  }

  request(id, method, params = {}, ms = PATIENCE_MS) {
    const answer = this.next((message) => message.id === id, ms);
    this.write({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  call(id, args, meta, ms) {
    return this.request(id, 'tools/call', { name: 'observe', arguments: args, _meta: meta }, ms);
  }

  async initialize() {
    const answer = await this.request(0, 'initialize', {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'peers', version: '1' },
    }, 30_000);
    if (!answer?.message.result) throw new Error('It does not initialize.');
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
}

const ROWS = {
  'fast call beside a slow one': async ({ peer, slowCall }) => {
    const slow = slowCall(10);
    const fast = await peer.request(11, 'ping');
    await slow;
    return fast ? `${fast.ms} ms` : 'no answer';
  },
  'cancel forwarded': async ({ peer, faulty, slowCall }) => {
    const slow = slowCall(20);
    await peer.request(21, 'ping');
    const isCall = ({ method }) => method === 'tools/call';
    const sent = faulty.messages.filter(isCall).at(-1);
    peer.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 20 } });
    await peer.request(22, 'ping');
    const cancel = faulty.messages.find(({ method }) => method === 'notifications/cancelled');
    await slow;
    if (!cancel) return 'no';
    return cancel.params.requestId === sent.id ? 'yes, same id' : 'wrong id';
  },
  'progress forwarded': async ({ peer }) => {
    const progress = peer.next(({ method }) => method === 'notifications/progress', 2_000);
    await peer.call(30, { fault: 'progress' }, { progressToken: 'p' });
    return (await progress) ? 'yes' : 'dropped';
  },
  'SSE drops mid-call': async ({ peer }) => {
    const answer = await peer.call(40, { fault: 'drop' }, { progressToken: 'q' });
    return answer ? `one answer, ${answer.ms} ms` : `no answer in ${PATIENCE_MS / 1000} s`;
  },
  'SSE ends without the answer': async ({ peer }) => {
    const answer = await peer.call(50, { fault: 'end' }, { progressToken: 'r' });
    return answer ? `one answer, ${answer.ms} ms` : `no answer in ${PATIENCE_MS / 1000} s`;
  },
  'id 1.5, batch': async ({ peer }) => {
    const says = [];
    for (const line of ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
      '[{"jsonrpc":"2.0","id":60,"method":"ping"}]']) {
      const answer = peer.next(({ error, result }) => error ?? result, 2_000);
      peer.write(line);
      says.push((await answer)?.message.error ? 'error' : (await answer) ? 'answered' : 'silent');
    }
    return says.join(', ');
  },
  'gateway restarts, session lost': async ({ peer, faulty, services }) => {
    await services.gateway.kill();
    await services.startGateway();
    faulty.forgetSessions();
    const answer = await peer.request(70, 'tools/list');
    if (answer?.message.result) return 'transparent';
    const again = await peer.request(71, 'tools/list');
    const later = again?.message.result ? 'then well' : 'then still not';
    return `${answer ? 'error' : 'no answer'}, ${later}`;
  },
  'stdin EOF → exit': async ({ peer }) => {
    const start = performance.now();
    peer.child.stdin.end();
    const late = setTimeout(() => peer.child.kill('SIGKILL'), PATIENCE_MS);
    const [code] = await peer.exited;
    clearTimeout(late);
    return code === null ? `not in ${PATIENCE_MS / 1000} s` : `${Math.round(performance.now() - start)} ms`;
  },
  'DELETE on exit': async ({ faulty }) => (faulty.deletes > 0 ? 'yes' : 'no'),
};

/** What each row says about one bridge. */
async function examine(command, argsFor) {
  const services = await Services.open();
  const faulty = await FaultyGateway.start(services);
  const peer = new Peer(command, argsFor(faulty.url));
  try {
    await peer.initialize();
    const { message } = await peer.request(1, 'tools/call',
      { name: 'interact', arguments: { action: 'get_page' } });
    const id = message.result.structuredContent.correlation_id;
    const slowCall = (requestId) => peer.call(requestId,
      { what: 'command_result', correlation_id: id, wait_ms: 1_500 }, undefined, 3_000);
    const says = {};
    for (const [row, find] of Object.entries(ROWS)) {
      says[row] = await find({ peer, faulty, services, slowCall })
        .catch((error) => `failed: ${error.message}`);
    }
    return says;
  } finally {
    peer.child.kill('SIGKILL');
    faulty.server.closeAllConnections();
    faulty.server.close();
    await services.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'callslip-peers-'));
try {
  const columns = {};
  const npm = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...PACKAGES],
    { timeout: stretched(INSTALL_PATIENCE_MS), encoding: 'utf8' });
  if (npm.status === 0) {
    const bin = (name) => join(folder, 'node_modules', '.bin', name);
    columns['mcp-remote'] = await examine(bin('mcp-remote'),
      (url) => [`${url}/mcp`, '--allow-http', '--transport', 'http-only']).catch(String);
    columns.supergateway = await examine(bin('supergateway'),
      (url) => ['--streamableHttp', `${url}/mcp`, '--logLevel', 'none']).catch(String);
  } else {
    console.error('npm cannot be reached: mcp-remote and supergateway are left out.');
  }
  columns.ours = await examine(binary('callslip-bridge'), (url) => ['--gateway', url]);
  console.log(`| | ${Object.keys(columns).join(' | ')} |`);
  console.log(`|---${'|---'.repeat(Object.keys(columns).length)}|`);
  for (const row of Object.keys(ROWS)) {
    const cells = Object.values(columns).map((says) => says[row] ?? 'does not run');
    console.log(`| ${row} | ${cells.join(' | ')} |`);
  }
  for (const [name, says] of Object.entries(columns)) {
    if (typeof says === 'string') console.error(`${name}: ${says}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
