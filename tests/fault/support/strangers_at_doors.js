/**
 * Strangers at one entry: hundreds of connections or streams at once, each of which holds as much
 * as it can, and reconnects when it is closed.
 */
import http2 from 'node:http2';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Part } from './strangers.js';

/** The pause before a reconnection, in ms. */
const AGAIN_MS = 200;
const MIB = 1 << 20;
const MEBIBYTE = Buffer.alloc(MIB, 'x');

/** Set before the first attack. */
let part;

/** Opens a connection that sends a text and then stays. */
function sayAtGateway(said) {
  const { hostname, port } = new URL(part.options.gateway);
  return new Promise((gone) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(said));
    socket.on('data', (bytes) => part.note(bytes.toString('latin1').slice(9, 12)));
    socket.on('error', () => {});
    socket.on('close', () => gone(pause(AGAIN_MS)));
  });
}

function head(method, path, ...headers) {
  const { host } = new URL(part.options.gateway);
  return [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...headers, '', ''].join('\r\n');
}

function bearer(token) { return `Authorization: Bearer ${token}`; }

function madeUp() {
  const digits = () => Math.floor(Math.random() * 16).toString(16);
  return `callslip-session-${Array.from({ length: 64 }, digits).join('')}`;
}

/** One connection to the tracker, with an incomplete message in each of its streams. */
function streamsAtTracker(path, count) {
  return new Promise((gone) => {
    const connection = http2.connect(`http://${part.options.tracker}`);
    connection.on('error', () => {});
    connection.on('close', () => gone(pause(AGAIN_MS)));
    const begin = () => {
      if (connection.closed || connection.destroyed) return;
      const stream = connection.request({ ':method': 'POST', ':path': path,
        'content-type': 'application/grpc', te: 'trailers' });
      stream.on('error', () => {});
      stream.on('close', () => setTimeout(begin, AGAIN_MS));
      stream.resume();
      const announced = Buffer.alloc(5);
      announced.writeUInt32BE(15 * MIB, 1);
      stream.write(announced);
      for (let i = 0; i < 4; ++i) stream.write(MEBIBYTE);
    };
    for (let i = 0; i < count; ++i) begin();
  });
}

function listenWithNotes() {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'stranger', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {}, notes: 'x'.repeat(MIB) } } });
  return sayAtGateway(`${head('POST', '/mcp', bearer(part.options.token),
    'Content-Type: application/json', 'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: subscriptions/listen',
    `Content-Length: ${body.length}`)}${body}`);
}

function attacksOf() {
  const { door, strangers } = part.options;
  const each = (attack) => Array.from({ length: strangers }, () => attack);
  switch (door) {
    case 'bodies with tokens that were made up':
      return each(() => sayAtGateway(`${head('POST', '/mcp', bearer(madeUp()),
        'Content-Type: application/json', `Content-Length: ${2 * MIB}`)}{`));
    case 'logins': return each(() => sayAtGateway(`${head('POST', '/api/login',
      'Content-Type: application/json', 'Content-Length: 4096')}{`));
    case 'heads': return each(() => sayAtGateway(
      `GET /healthz HTTP/1.1\r\nX-Long: ${'x'.repeat(15_000)}`));
    case 'silence': return each(() => sayAtGateway(''));
    case 'calls that are held': return each(listenWithNotes);
    case 'requests at the tracker': return [() => streamsAtTracker(
      '/callslip.tracker.v1.CommandService/RegisterCommand', strangers)];
    case 'health checks at the tracker': return [() => streamsAtTracker(
      '/grpc.health.v1.Health/Check', strangers)];
    default: throw new Error(`no such door: ${door}`);
  }
}

await Part.play(async (made) => { part = made; }, attacksOf);
