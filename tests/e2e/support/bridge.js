import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { binary } from './processes.js';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'callslip-e2e', version: '1.0.0' },
};

/**
 * A bridge without the official client: only its transport, so that a test sees every message, and
 * counts the answers to each id.
 */
export class Bridge {
  log = '';
  /** All answers, by id. */
  answers = new Map();
  /** All messages in the order of their arrival. */
  messages = [];
  /** Called for each message, if it is set. */
  onMessage;
  #waiting = new Map();
  #nextId = 1;

  static async start(args, env = {}) {
    const bridge = new Bridge();
    bridge.transport = new StdioClientTransport({
      command: binary('callslip-bridge'),
      args,
      env: { ...process.env, ...env },
      stderr: 'pipe',
    });
    bridge.transport.stderr.on('data', (chunk) => { bridge.log += chunk; });
    bridge.transport.onmessage = (message) => bridge.#receive(message);
    bridge.ended = new Promise((resolve) => { bridge.transport.onclose = resolve; });
    await bridge.transport.start();
    return bridge;
  }

  get pid() {
    return this.transport.pid;
  }

  async initialize() {
    const answer = await this.request('initialize', INITIALIZE);
    await this.notify('notifications/initialized');
    return answer;
  }

  /** Sends a request; returns its id and the promise of its first answer. */
  send(method, params = {}) {
    const id = this.#nextId++;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.answers.set(id, []);
    this.transport.send({ jsonrpc: '2.0', id, method, params }).catch(() => {});
    return { id, answer };
  }

  request(method, params) {
    return this.send(method, params).answer;
  }

  call(name, args) {
    return this.request('tools/call', { name, arguments: args });
  }

  notify(method, params = {}) {
    return this.transport.send({ jsonrpc: '2.0', method, params });
  }

  #receive(message) {
    this.messages.push(message);
    this.onMessage?.(message);
    if (message.id === undefined) return;
    this.answers.get(message.id).push(message);
    this.#waiting.get(message.id)(message);
  }

  close() {
    return this.transport.close();
  }

  describeLog() {
    return `--- bridge ${this.pid}\n${this.log}`;
  }
}
