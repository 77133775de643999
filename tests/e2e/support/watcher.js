import { once } from 'node:events';
import { WebSocket } from 'ws';

/** The numbers from `first` to `last`, both included. */
export const range = (first, last) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

/** A WebSocket that stores its messages, for later waits. */
export class Watcher {
  messages = [];
  #waiting = new Set();

  static async open(url, protocols = []) {
    const watcher = new this();
    watcher.socket = new WebSocket(url, protocols);
    watcher.socket.on('message', (data) => watcher.take(JSON.parse(data)));
    await once(watcher.socket, 'open');
    return watcher;
  }

  take(message) {
    this.messages.push(message);
    for (const look of this.#waiting) look(message);
  }

  send(type, data = {}) {
    this.socket.send(JSON.stringify({ type, data }));
  }

  /** The first message that fits, once it has arrived. */
  find(fits) {
    const found = this.messages.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const look = (message) => {
        if (!fits(message)) return;
        this.#waiting.delete(look);
        resolve(message);
      };
      this.#waiting.add(look);
    });
  }

  ofType(type) {
    return this.find((message) => message.type === type);
  }

  withSeq(seq) {
    return this.find((message) => message.seq === seq);
  }

  seqs() {
    return this.messages.filter(({ seq }) => seq !== undefined).map(({ seq }) => seq);
  }

  /** All events after `seq`, page by page. */
  async loadAfter(seq, limit = 100) {
    const events = [];
    for (let page; !page || page.has_more; seq = page.last_seq) {
      this.messages = this.messages.filter(({ type }) => type !== 'events_loaded');
      this.send('load_events', { after_seq: seq, limit });
      page = (await this.ofType('events_loaded')).data;
      events.push(...page.events);
    }
    return events;
  }

  async close() {
    this.socket.close();
    await once(this.socket, 'close');
  }
}

/**
 * Follows a session across lost connections: reconnects, and loads the missed events. `seqs` has
 * the events in the order of their arrival.
 */
export class Follower {
  seqs = [];
  #url;
  #live = [];
  #loading = true;
  #socket;
  #left = false;
  #waiting;

  constructor(url) {
    this.#url = url;
    this.#connect();
  }

  get last() {
    return this.seqs.at(-1) ?? 0;
  }

  /** Resolves once this event has arrived. */
  reaches(seq) {
    if (this.last >= seq) return Promise.resolve();
    return new Promise((resolve) => { this.#waiting = { seq, resolve }; });
  }

  leave() {
    this.#left = true;
    this.#socket.terminate();
  }

  #connect() {
    if (this.#left) return;
    this.#live = [];
    this.#loading = true;
    this.#socket = new WebSocket(this.#url);
    this.#socket.on('message', (data) => this.#take(JSON.parse(data)));
    // The `close` event that follows an error reconnects.
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => setTimeout(() => this.#connect(), 20));
  }

  #load() {
    const data = { after_seq: this.last, limit: 50 };
    this.#socket.send(JSON.stringify({ type: 'load_events', data }));
  }

  #take({ type, data, seq }) {
    if (type === 'connected') {
      this.#load();
    } else if (type === 'events_loaded') {
      this.seqs.push(...data.events.map((event) => event.seq));
      if (data.has_more) return this.#load();
      this.#loading = false;
      this.seqs.push(...this.#live);
    } else if (seq !== undefined) {
      (this.#loading ? this.#live : this.seqs).push(seq);
    }
    if (this.#waiting && this.last >= this.#waiting.seq) this.#waiting.resolve();
  }
}

/** The sessions of a gateway, over REST. */
export class Sessions {
  #services;
  #last = 0;
  /** The token of calls that name none. */
  token;

  constructor(services) {
    this.#services = services;
  }

  async call(method, path, body, token = this.token) {
    const headers = { 'Content-Type': 'application/json' };
    if (token) headers.Authorization = `Bearer ${token}`;
    const response = await fetch(`${this.#services.gatewayUrl}/api${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async create() {
    const id = `s-${++this.#last}`;
    await this.call('POST', '/sessions', { session_id: id, acp_server: 'test', working_dir: '/' });
    return id;
  }

  append(id, ...texts) {
    const events = texts.map((text) => ({ type: 'agent_message', data: { text } }));
    return this.call('POST', `/sessions/${id}/events`, { events });
  }

  /** The WebSocket address of a session. */
  socketUrl(id) {
    return `ws://${this.#services.gateway.address}/api/sessions/${id}/ws`;
  }

  watch(id) {
    return Watcher.open(this.socketUrl(id));
  }

  watchAll() {
    return Watcher.open(`ws://${this.#services.gateway.address}/api/events/ws`);
  }
}
