/**
 * The attacks on a gateway in a hostile hour: bodies of the largest size, whole and stalled, ids of
 * megabytes, silent connections, and clients that do not read.
 */
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Part } from './strangers.js';

const BODY_BYTES = 12 << 20;
const ID_BYTES = 9 << 20;
/** How long an incomplete body stays incomplete, in ms. */
const STALL_MS = 3_000;
const SILENT = 300;
const FROZEN = 60;

const filled = (bytes, head, unit, tail) => Buffer.concat([Buffer.from(head),
  Buffer.alloc(bytes - head.length - tail.length, unit), Buffer.from(tail)]);
/** The value with the largest memory for a parsed tree. */
const EMPTY_LISTS = filled(BODY_BYTES, '{"events":[{"type":"other","data":[[]', ',[]', ']}]}');
/** A single large text. */
const TEXT = filled(BODY_BYTES, '{"events":[{"type":"error","data":{"message":"', 'x', '"}}]}');
const LONG_ID = filled(ID_BYTES, '{"status":"complete","correlation_id":"', 'x', '"}');
/** Each with the token that authorizes it. */
const BODIES = [
  ['/api/sessions/large/events', EMPTY_LISTS, 'token'],
  ['/api/sessions/large/events', TEXT, 'token'],
  ['/query-result', LONG_ID, 'workerToken'],
  ['/query-result', EMPTY_LISTS, 'workerToken'],
  ['/sync', EMPTY_LISTS, 'workerToken'],
  ['/mcp', TEXT, 'token'],
  ['/draw-mode/complete', LONG_ID, 'workerToken'],
];

const sockets = [];

function post(part, path, body, token, isStalled) {
  return new Promise((resolve) => {
    const call = request(new URL(path, part.options.url), {
      method: 'POST', agent: false,
      headers: { 'Content-Type': 'application/json', 'Content-Length': body.length,
        ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    });
    call.on('response', (response) => {
      resolve(response.statusCode);
      response.resume().on('error', () => {});
      call.destroy();
    });
    call.on('error', () => resolve('cut'));
    if (isStalled) {
      call.write(body.subarray(0, body.length - 1));
      setTimeout(() => { call.destroy(); resolve('stalled'); }, STALL_MS);
    } else {
      call.end(body);
    }
  });
}

/** A request whose answer is not read, on a connection that stays. */
function freeze({ options: { url, token } }, path, isStream = false) {
  const { hostname, port } = new URL(url);
  const socket = connect(port, hostname);
  sockets.push(socket);
  socket.on('error', () => {});
  socket.pause();
  if (path) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`
      + `${isStream ? 'Accept: text/event-stream\r\n' : ''}Authorization: Bearer ${token}\r\n\r\n`);
  }
}

async function prepare({ options: { url, token } }) {
  const call = async (path, body) => {
    const response = await fetch(new URL(path, url), {
      method: 'POST', body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  await call('/api/sessions', { session_id: 'large' });
  for (let i = 0; i < 8; ++i) {
    await call('/api/sessions/large/events',
      { events: [{ type: 'error', data: { message: 'x'.repeat(1 << 20) } }] });
  }
}

await Part.play(prepare, (part) => {
  for (let i = 0; i < SILENT; ++i) freeze(part);
  for (let i = 0; i < FROZEN; ++i) {
    freeze(part, '/api/sessions/large/events?limit=1000', i % 2 === 0);
  }
  // Three of four are authorized, and a third of them does not complete its body.
  return Array.from({ length: part.options.strangers }, (_, i) => async () => {
    const [path, body, token] = BODIES[Math.floor(Math.random() * BODIES.length)];
    const isStalled = i % 3 === 0;
    const met = await post(part, path, body, i % 4 ? part.options[token] : undefined, isStalled);
    part.note(`bodies ${met}`);
    if (met === 'cut' || met >= 400) await pause(10);
  });
});
