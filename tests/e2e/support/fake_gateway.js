import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { nonceIn, proofOf } from '../../support/request_signature.js';

/**
 * A working double of the gateway for the extension: answers held polls with commands and cancels,
 * and records every post. It can be taken down and brought back on the same port. With a `token` it
 * proves its answers to signed requests.
 */
export class FakeGateway {
  token = '';
  posts = [];
  drawings = [];
  urls = [];
  polls = [];
  pollHeaders = [];
  statuses = [];
  handedOutAt = new Map();
  #events = new EventEmitter();
  #queue = [];
  #held = [];
  #answers = new Map();
  #drawingAnswers = [];
  #server = null;
  #port = 0;

  static async start() {
    const gateway = new FakeGateway();
    gateway.#events.setMaxListeners(0);
    await gateway.up();
    return gateway;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens; the first time on a port of the system's choice, later on the same one again. */
  async up() {
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = this.#server.address().port;
  }

  /** Stops listening and drops every connection, as a killed gateway does. */
  async down() {
    this.#held = [];
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Queues a command and returns it. The fields given override the defaults. */
  send(params, fields = {}) {
    const command = {
      id: randomUUID(),
      correlation_id: `corr-${Date.now()}-${randomUUID().replaceAll('-', '')}`,
      type: 'browser_action',
      params,
      attempt: 1,
      timeout_ms: 10_000,
      ...fields,
    };
    this.#queue.push(command);
    this.#handOut();
    return command;
  }

  /** Queues several commands, which one answer delivers together. */
  sendTogether(list) {
    const held = this.#held;
    this.#held = [];
    const commands = list.map(({ params, ...fields }) => this.send(params, fields));
    this.#held.push(...held);
    this.#handOut();
    return commands;
  }

  /** Cancels a delivered command. */
  cancel({ id, correlation_id }) {
    this.#queue.push({ type: 'cancel', id, correlation_id });
    this.#handOut();
  }

  /** The reports about one command so far. */
  postsOf({ id }) {
    return this.posts.filter((post) => post.body.id === id);
  }

  /** Sets the answers to the next posts of one status about one command, in turn. */
  answer({ id }, status, ...answers) {
    this.#answers.set(`${id} ${status}`, answers);
  }

  /** Waits for a post about the command with one of the statuses. */
  async post({ id }, ...statuses) {
    const wanted = ({ body }) => body.id === id && statuses.includes(body.status);
    return this.#wait('post', () => this.posts.find(wanted));
  }

  /** Sends a command and waits for its final report. */
  async run(params, fields) {
    const command = this.send(params, fields);
    return (await this.finalOf(command)).body;
  }

  finalOf(command) {
    return this.post(command, 'complete', 'error', 'timeout');
  }

  /** Waits for the final report that was answered with 200. */
  async acceptedPost({ id }) {
    const wanted = ({ body, code }) => body.id === id && body.status !== 'pending' && code === 200;
    return this.#wait('post', () => this.posts.find(wanted));
  }

  /** Waits for a poll that arrives after this call. */
  async nextPoll() {
    const seen = this.polls.length;
    return this.#wait('poll', () => this.polls[seen]);
  }

  /** Waits for a poll that arrives after this call and has these parameters. */
  async pollFor(query) {
    const seen = this.polls.length;
    const isWanted = (poll) => Object.entries(query).every(([key, value]) => poll[key] === value);
    return this.#wait('poll', () => this.polls.slice(seen).find(isWanted));
  }

  /** Waits for a status report for which `isWanted` returns true. */
  async status(isWanted) {
    return this.#wait('status', () => this.statuses.find(isWanted));
  }

  /** Waits until no poll is held: the extension is gone or stopped. */
  async pollDropped() {
    return this.#wait('close', () => this.#held.length === 0);
  }

  /** Sets the answers to the next drawings, in turn. */
  answerDrawings(...answers) {
    this.#drawingAnswers = answers;
  }

  /** Waits for the accepted drawing after `others` earlier ones. */
  async drawing(others = 0) {
    const accepted = () => this.drawings.filter(({ code }) => code === 200);
    return this.#wait('drawing', () => accepted()[others]);
  }

  /** Waits for a drawing that was answered with this code. */
  async drawingAnswered(code) {
    return this.#wait('drawing', () => this.drawings.find((drawing) => drawing.code === code));
  }

  async #wait(event, find) {
    for (;;) {
      const found = find();
      if (found) return found;
      await once(this.#events, event);
    }
  }

  async #serve(request, response) {
    const url = new URL(request.url, this.url);
    this.urls.push(request.url);
    response.prove = (code, text) => {
      const nonce = nonceIn(request.headers.authorization);
      if (!this.token || !nonce) return {};
      return { 'Callslip-Proof': proofOf(this.token, { nonce, status: code, body: text }) };
    };
    if (request.method === 'GET' && url.pathname === '/pending-queries') {
      this.pollHeaders.push(request.headers);
      return this.#poll(url.searchParams, response);
    }
    if (request.method === 'POST' && url.pathname === '/query-result') {
      return this.#receive(request, response);
    }
    if (request.method === 'POST' && url.pathname === '/worker-status') {
      const body = await bodyOf(request);
      if (!isWellFormed(body)) return respond(response, 400, { error: 'malformed_json' });
      this.statuses.push(body);
      respond(response, 200, { status: 'ok' });
      return this.#events.emit('status');
    }
    if (['/readyz', '/healthz'].includes(url.pathname)) return respond(response, 200, {});
    if (request.method === 'POST' && url.pathname === '/draw-mode/complete') {
      return this.#receiveDrawing(request, response);
    }
    response.writeHead(404).end('Not found.');
  }

  #poll(query, response) {
    const hold = setTimeout(() => this.#release(poll, []), Number(query.get('wait')) * 1000);
    const poll = { response, hold };
    this.#held.push(poll);
    response.on('close', () => {
      clearTimeout(hold);
      this.#held = this.#held.filter((other) => other !== poll);
      this.#events.emit('close');
    });
    this.polls.push(Object.fromEntries(query));
    this.#events.emit('poll');
    this.#handOut();
  }

  #handOut() {
    if (this.#held.length === 0 || this.#queue.length === 0) return;
    const commands = this.#queue.splice(0);
    for (const { id } of commands) this.handedOutAt.set(id, performance.now());
    this.#release(this.#held.shift(), commands);
  }

  #release({ response, hold }, commands) {
    clearTimeout(hold);
    respond(response, 200, commands);
  }

  async #receiveDrawing(request, response) {
    const body = await bodyOf(request);
    const { code = 200, ...planned } = this.#drawingAnswers.shift() ?? {};
    const taken = { status: 'ok', completed: body.correlation_ids ?? [], stored: true };
    respond(response, code, planned.body ?? taken);
    this.drawings.push({ headers: request.headers, code, body });
    this.#events.emit('drawing');
  }

  async #receive(request, response) {
    const body = await bodyOf(request);
    if (!body.correlation_id) {
      return respond(response, 400, { error: 'missing_correlation_id' });
    }
    if (!isWellFormed(body)) return respond(response, 400, { error: 'malformed_json' });
    const planned = this.#answers.get(`${body.id} ${body.status}`)?.shift();
    const { code = 200, body: answer = { accepted: true } } = planned ?? {};
    respond(response, code, answer);
    this.posts.push({ at: performance.now(), headers: request.headers, code, body });
    this.#events.emit('post');
  }
}

/** The gateway rejects lone surrogates, which JSON.parse accepts. */
function isWellFormed(body) {
  return !/\\ud[89a-f]/.test(JSON.stringify(body));
}

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

function respond(response, code, body) {
  const text = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json', ...response.prove(code, text) };
  response.writeHead(code, headers).end(text);
}
