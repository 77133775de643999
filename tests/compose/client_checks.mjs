// Checks that compose_test.sh, cluster_test.sh, image_test.sh and package_test.sh make as clients
// from outside. One a run:
//   node client_checks.mjs CHECK ARGUMENT...
// It exits with 0 if the check holds, and otherwise prints the reason. It needs only Node, so that
// it also runs on a machine without npm packages.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import readline from 'node:readline';
import { stretched } from '../support/patience.js';

// No answer looked at here takes longer than a second; a loaded machine gets a large margin.
const DEADLINE_MS = stretched(30_000);
const POLL_MS = 100;

const PROTOCOL_VERSION = '2025-06-18';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: {name: 'compose-test', version: '1'},
  },
};
const INITIALIZED = {jsonrpc: '2.0', method: 'notifications/initialized'};
const LIST_TOOLS = {jsonrpc: '2.0', id: 2, method: 'tools/list', params: {}};

const checks = {
  // GET on a path of the gateway answers 200.
  async 'http-ok'(port, path) {
    const answer = await request(port, {method: 'GET', path});
    assert.equal(answer.status, 200, answer.body);
  },

  // A page that rebinds its own name to 127.0.0.1 arrives with a foreign Host header.
  async 'foreign-host-refused'(port) {
    const answer = await postMcp(port, INITIALIZE, {host: 'attacker.example'});
    assert.ok(answer.status >= 400 && answer.status < 500, `status ${answer.status}`);
  },

  async 'mcp-over-http'(port) {
    const first = await postMcp(port, INITIALIZE);
    assert.equal(first.status, 200, first.body);
    assertInitialized(rpcMessage(first));

    const session = {'mcp-protocol-version': PROTOCOL_VERSION};
    const sessionId = first.headers['mcp-session-id'];
    if (sessionId) session['mcp-session-id'] = sessionId;
    const noted = await postMcp(port, INITIALIZED, session);
    assert.equal(noted.status, 202, noted.body);
    const listed = await postMcp(port, LIST_TOOLS, session);
    assert.equal(listed.status, 200, listed.body);
    assertTools(rpcMessage(listed));
  },

  // A command goes from an agent to a worker and back, with the tokens of `file`.
  async 'command-with-tokens'(port, file) {
    const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.split(' '));
    const tokens = Object.fromEntries(lines.map(([role, , token]) => [role, `Bearer ${token}`]));
    const stranger = await postMcp(port, INITIALIZE);
    assert.equal(stranger.status, 401, stranger.body);

    const agent = {authorization: tokens.client};
    const first = await postMcp(port, INITIALIZE, agent);
    assert.equal(first.status, 200, first.body);
    assertInitialized(rpcMessage(first));
    agent['mcp-protocol-version'] = PROTOCOL_VERSION;
    agent['mcp-session-id'] = first.headers['mcp-session-id'];
    const call = async (name, args) => {
      const params = {name, arguments: args};
      const answer = await postMcp(port, {jsonrpc: '2.0', id: 3, method: 'tools/call', params}, agent);
      assert.equal(answer.status, 200, answer.body);
      return rpcMessage(answer).result.structuredContent;
    };
    const {status, correlation_id} = await call('interact', {action: 'execute_js', script: '1'});
    assert.equal(status, 'queued');

    const worker = {authorization: tokens.worker, 'content-type': 'application/json'};
    const path = '/pending-queries?wait=5&worker=test';
    const polled = await request(port, {method: 'GET', path, headers: worker});
    assert.equal(polled.status, 200, polled.body);
    const [query] = JSON.parse(polled.body);
    assert.equal(query.correlation_id, correlation_id);
    const result = {id: query.id, correlation_id, status: 'complete', result: {data: 'done'}};
    const posted = await request(port, {method: 'POST', path: '/query-result', headers: worker},
      JSON.stringify(result));
    assert.equal(posted.status, 200, posted.body);

    const end = await call('observe', {what: 'command_result', correlation_id});
    assert.equal(end.status, 'complete', JSON.stringify(end));
    assert.equal(end.result.data, 'done');
  },

  // The tracker has a connected runner without agents.
  async 'runner-idle'(port) {
    const answer = await request(port, {method: 'GET', path: '/api/runners'});
    const {runners} = JSON.parse(answer.body);
    assert.deepEqual(runners.map(({connected, agents}) => [connected, agents]), [[true, []]],
      answer.body);
  },

  // The agent of a session says a given text. `file`: tokens, if the gateway requires one.
  async 'agent-answers'(port, agent, dir, file) {
    const headers = {'content-type': 'application/json'};
    if (file) {
      const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.split(' '));
      headers.authorization = `Bearer ${lines.find(([role]) => role === 'client')[2]}`;
    }
    const call = async (method, path, body) => {
      const options = {method, path: `/api/sessions${path}`, headers};
      const answer = await request(port, options, body && JSON.stringify(body));
      assert.ok(answer.status < 300, answer.body);
      return JSON.parse(answer.body);
    };
    const {session_id: id} = await call('POST', '', {acp_server: agent, working_dir: dir});
    await call('POST', `/${id}/queue`, {message: JSON.stringify([{say: 'well'}])});
    for (;;) {
      const {events} = await call('GET', `/${id}/events?limit=100`);
      const end = events.find(({type}) => type === 'turn_end');
      if (end) {
        assert.equal(end.data.outcome, 'completed', JSON.stringify(end));
        assert.equal(events.find(({type}) => type === 'agent_message')?.data.text, 'well');
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  },

  // Runs a command that speaks MCP over stdio, and ends at the end of its input.
  async 'mcp-over-stdio'(command, ...args) {
    const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
    const exited = new Promise((resolve) => child.once('close', resolve));
    const lines = readline.createInterface({input: child.stdout})[Symbol.asyncIterator]();
    const ask = async (message) => {
      child.stdin.write(JSON.stringify(message) + '\n');
      const {value, done} = await lines.next();
      assert.ok(!done, 'the output ended before the answer');
      return JSON.parse(value);
    };
    assertInitialized(await ask(INITIALIZE));
    child.stdin.write(JSON.stringify(INITIALIZED) + '\n');
    assertTools(await ask(LIST_TOOLS));
    child.stdin.end();
    assert.equal((await lines.next()).done, true, 'output after the last answer');
    assert.equal(await exited, 0, 'exit code');
  },

  // The standard gRPC health service, spoken by hand: an empty HealthCheckRequest in a gRPC frame,
  // and SERVING (field 1 = 1) in the answer.
  async 'grpc-serving'(port) {
    const {status, message, answer} = await grpcCall(port, 'grpc.health.v1.Health/Check', []);
    assert.equal(status, '0', message);
    assert.deepEqual(answer, [0, 0, 0, 0, 2, 0x08, 0x01]);
  },

  // A caller without a valid token can't list workers, nor list, lease or complete commands.
  async 'grpc-strangers-refused'(port) {
    const allClients = [0x10, 0x01];
    const calls = [['WorkerService/ListWorkers', allClients], ['CommandService/ListCommands', []],
      ['CommandService/LeaseCommands', []], ['CommandService/CompleteCommand', []]];
    for (const [method, request] of calls) {
      for (const token of [undefined, '0'.repeat(64)]) {
        const {status} = await grpcCall(port, `callslip.tracker.v1.${method}`, request, token);
        assert.equal(status, '16', `${method} with the token ${token}`);
      }
    }
  },

  // A caller with a token of the file has its role.
  async 'grpc-with-token'(port, file) {
    const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.split(' '));
    const [, , client] = lines.find(([role]) => role === 'client');
    const list = (request) =>
      grpcCall(port, 'callslip.tracker.v1.WorkerService/ListWorkers', request, client);
    assert.equal((await list([])).status, '0');
    assert.equal((await list([0x10, 0x01])).status, '7', 'a client sees its own alone');
  },
};

/** One unary call with the bytes of a message. */
async function grpcCall(port, method, request, token) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on('error', fail);
  const call = session.request({
    ':method': 'POST',
    ':path': `/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token && {authorization: `Bearer ${token}`}),
  });
  call.on('error', fail);
  // An answer without a message has its status in its only headers.
  let trailers = {};
  call.on('response', (headers) => { trailers = headers; });
  call.on('trailers', (headers) => { trailers = headers; });
  call.end(Buffer.from([0, 0, 0, 0, request.length, ...request]));
  const chunks = [];
  for await (const chunk of call) chunks.push(chunk);
  session.close();
  return {
    status: trailers['grpc-status'],
    message: trailers['grpc-message'],
    answer: [...Buffer.concat(chunks)],
  };
}

function assertInitialized(message) {
  assert.equal(message.id, INITIALIZE.id);
  assert.equal(message.result?.protocolVersion, PROTOCOL_VERSION, JSON.stringify(message));
  assert.ok(message.result.capabilities.tools, 'no tools capability');
}

function assertTools(message) {
  assert.equal(message.id, LIST_TOOLS.id);
  const names = message.result?.tools?.map((tool) => tool.name) ?? [];
  for (const name of ['interact', 'observe']) {
    assert.ok(names.includes(name), `no tool "${name}" in ${JSON.stringify(message)}`);
  }
}

function postMcp(port, message, headers = {}) {
  return request(port, {
    method: 'POST',
    path: '/mcp',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  }, JSON.stringify(message));
}

// fetch() does not let a caller choose the Host header, hence the older interface.
function request(port, options, body) {
  return new Promise((resolve, reject) => {
    const call = http.request({host: '127.0.0.1', port, ...options}, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

// A server may answer one request with JSON or with an event stream that holds the same message.
function rpcMessage({headers, body}) {
  if (!headers['content-type']?.startsWith('text/event-stream')) return JSON.parse(body);
  const data = body.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(data.at(-1).slice('data:'.length));
}

function fail(error) {
  console.error(error.message);
  process.exit(1);
}

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(checks, name)) fail(new Error(`unknown check: ${name}`));
setTimeout(() => fail(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS).unref();
checks[name](...args).then(() => process.exit(0), fail);
