import { Bridge } from '../../e2e/support/bridge.js';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'callslip-fault', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

/** The tasks of a subscription, and the ends that it received, by task id. */
class Subscription {
  ends = new Map();
  acknowledged = new Promise((resolve) => { this.acknowledge = resolve; });
  over = null;

  take({ method, params, id }) {
    if (id !== undefined) this.over = 'answered';
    if (method === 'notifications/subscriptions/acknowledged') this.acknowledge();
    if (method !== 'notifications/tasks' || params.status === 'working') return;
    const told = this.ends.get(params.taskId) ?? [];
    this.ends.set(params.taskId, [...told, params.result?.structuredContent?.status ?? params.status]);
  }
}

/** An agent that speaks MCP to the gateway, with any number of concurrent requests. */
export class HttpCaller {
  #url;
  #token;
  #session;
  #nextId = 1;
  #left = new AbortController();

  static async open(gatewayUrl, token) {
    const caller = new HttpCaller();
    caller.#url = `${gatewayUrl}/mcp`;
    caller.#token = token ? { Authorization: `Bearer ${token}` } : {};
    const response = await caller.#post({ 'MCP-Protocol-Version': LEGACY }, 'initialize', {
      protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'fault', version: '1' } });
    caller.#session = response.headers.get('mcp-session-id');
    await response.text();
    return caller;
  }

  /** The answer to a request; earlier messages are ignored. */
  async request(method, params) {
    const headers = { 'MCP-Protocol-Version': LEGACY, 'Mcp-Session-Id': this.#session };
    const response = await this.#post(headers, method, params);
    let answer = null;
    const take = (message) => { answer = message.id === undefined ? answer : message; };
    await eachMessage(response, take);
    return answer;
  }

  listen(taskIds) {
    const subscription = new Subscription();
    const headers = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'subscriptions/listen' };
    const params = { notifications: { taskIds }, _meta: META };
    this.#post(headers, 'subscriptions/listen', params)
      .then((response) => eachMessage(response, (message) => subscription.take(message)))
      .catch(() => { subscription.over = 'broken'; });
    return subscription;
  }

  close() {
    this.#left.abort();
  }

  #post(headers, method, params) {
    const id = this.#nextId++;
    return fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream', ...this.#token, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      signal: this.#left.signal,
    });
  }
}

/** The same over a bridge. */
export class BridgeCaller {
  #bridge;
  #subscriptions = [];

  static async open(gatewayUrl) {
    const caller = new BridgeCaller();
    caller.#bridge = await Bridge.start(['--gateway', gatewayUrl]);
    await caller.#bridge.initialize();
    caller.#bridge.onMessage = (message) => {
      for (const each of caller.#subscriptions) each.take(message);
    };
    return caller;
  }

  request(method, params) {
    return this.#bridge.request(method, params);
  }

  listen(taskIds) {
    const subscription = new Subscription();
    const { id, answer } = this.#bridge.send('subscriptions/listen',
      { notifications: { taskIds }, _meta: META });
    const ofThis = ({ params }) => params?._meta?.['io.modelcontextprotocol/subscriptionId'] === id;
    this.#subscriptions.push({ take: (message) => {
      if (ofThis(message)) subscription.take(message);
    } });
    answer.then(() => { subscription.over = 'answered'; });
    return subscription;
  }

  close() {
    return this.#bridge.close();
  }
}

/** Each JSON-RPC message of an answer, be it JSON or a stream of events. */
async function eachMessage(response, take) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    take(await response.json());
    return;
  }
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split('\n\n');
    text = events.pop();
    for (const event of events) {
      const data = event.match(/^data: (.*)$/m);
      if (data) take(JSON.parse(data[1]));
    }
  }
}
