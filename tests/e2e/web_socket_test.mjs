/** The listener's WebSockets, with a client that we did not write. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { stretched } from '../support/patience.js';
import { ServerProcess } from './support/processes.js';

const TOKEN = '0123456789abcdef0123456789abcdef';
const PROTOCOLS = ['callslip.v1', `callslip.bearer.${TOKEN}`];

describe('a WebSocket', { timeout: stretched(30_000) }, () => {
  let server;
  before(async () => { server = await ServerProcess.start('../test_bin/web_socket_echo', [TOKEN]); });
  after(() => server?.stop());

  const open = async (path, protocols = PROTOCOLS, options = {}) => {
    const socket = new WebSocket(`ws://${server.address}${path}`, protocols, options);
    await once(socket, 'open');
    return socket;
  };
  const refusal = async (protocols, options) => {
    const socket = new WebSocket(`ws://${server.address}/echo`, protocols, options);
    socket.on('error', () => {});
    const [, response] = await once(socket, 'unexpected-response');
    response.resume();
    return response.statusCode;
  };

  test('is opened by a token among its protocols, or in a header', async () => {
    const socket = await open('/echo');
    assert.equal(socket.protocol, 'callslip.v1');
    assert.equal(socket.extensions, '');
    socket.close();
    const byHeader = await open('/echo', [], { headers: { Authorization: `Bearer ${TOKEN}` } });
    byHeader.close();
  });

  test('is refused before it is opened', async () => {
    assert.equal(await refusal(['callslip.v1']), 401);
    assert.equal(await refusal(PROTOCOLS, { origin: 'http://evil.example' }), 403);
    assert.equal(await refusal(PROTOCOLS, { headers: { Host: 'evil.example' } }), 403);
    assert.equal(await refusal([PROTOCOLS[1]]), 400);
  });

  test('returns each message whole', async () => {
    const socket = await open('/echo');
    for (const message of ['', 'ä€😀', 'x'.repeat(65_536), 'y'.repeat(126)]) {
      socket.send(message);
      const [data, isBinary] = await once(socket, 'message');
      assert.equal(isBinary, false);
      assert.equal(data.toString(), message);
    }
    socket.send('one, ', { fin: false });
    socket.send('two', { fin: true });
    assert.equal((await once(socket, 'message'))[0].toString(), 'one, two');
    socket.ping('there?');
    assert.equal((await once(socket, 'pong'))[0].toString(), 'there?');
    socket.close(1000, 'done');
    assert.equal((await once(socket, 'close'))[0], 1000);
  });

  test('closes on what it does not take', async () => {
    for (const [message, code] of [[Buffer.from('bytes'), 1003], ['x'.repeat(65_537), 1009]]) {
      const socket = await open('/echo');
      socket.send(message);
      assert.equal((await once(socket, 'close'))[0], code);
    }
  });

  test('is not delayed by another that does not read', async () => {
    const socket = await open('/flood');
    const other = await open('/echo');
    socket.pause();
    other.send('quick');
    assert.equal((await once(other, 'message'))[0].toString(), 'quick');
    other.close();
    socket.terminate();
  });

  test('closes when its server stops', async () => {
    const socket = await open('/echo');
    const closed = once(socket, 'close');
    await server.stop();
    assert.equal((await closed)[0], 1001);
  });
});
