import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ReconnectingSocket, whileVisible} from '../src/api/socket.ts';

// The delays of reconnection after a gateway closes each connection, with a clock that the test
// moves.
function closes(times: number, code: number, {isConnected = true, standsMs = 0} = {}): number[] {
  let now = 1;
  let peer: {onmessage?: (event: {data: string}) => void; onclose?: (event: {code: number}) => void} = {};
  let connect: (() => void) | undefined;
  const waits: number[] = [];
  const found: number[] = [];
  const before = {performance: globalThis.performance, random: Math.random};
  class Peer {
    static readonly OPEN = 1;
    readonly readyState = 1;
    constructor() { peer = this; }
    send() {}
    close() {}
  }
  Object.assign(globalThis, {WebSocket: Peer, location: new URL('http://127.0.0.1/ui/'), performance: {now: () => now},
    addEventListener: () => {}, removeEventListener: () => {},
    document: {visibilityState: 'visible', addEventListener: () => {}, removeEventListener: () => {}},
    window: {setTimeout: (work: () => void, ms: number) => {
      connect = work;
      waits.push(ms);
      return 1;
    }}});
  Math.random = () => 0.5;
  try {
    const socket = new ReconnectingSocket(() => '/x', {onMessage: () => {}, onState: () => {}});
    for (let at = 0; at < times; at++) {
      if (isConnected) peer.onmessage?.({data: '{"type":"connected","data":{}}'});
      now += standsMs;
      waits.length = 0;
      peer.onclose?.({code});
      found.push(waits[0]!);
      now += waits[0]!;
      connect?.();
    }
    socket.close();
    return found;
  } finally {
    globalThis.performance = before.performance;
    Math.random = before.random;
  }
}

test('a refused connection is retried with increasing delays, whatever the close code', () => {
  for (const code of [1013, 1006, 1011]) {
    assert.deepEqual(closes(7, code, {isConnected: false}), [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  }
});

test('a connection closed as too slow is retried at once, but not repeatedly', () => {
  assert.deepEqual(closes(5, 1013), [0, 250, 500, 1_000, 2_000]);
  assert.deepEqual(closes(3, 1013, {standsMs: 10_000}), [0, 0, 0]);
  assert.deepEqual(closes(3, 1006, {standsMs: 10_000}), [250, 250, 250]);
  // A connection that opens and is lost waits as long as one that does not open.
  assert.deepEqual(closes(4, 1006), [250, 500, 1_000, 2_000]);
});

test('a connection of a visible page stays open for a while after the page is hidden', () => {
  let look = () => {};
  let late: (() => void) | undefined;
  const page = {visibilityState: 'visible', addEventListener: (_: string, heard: () => void) => { look = heard; },
    removeEventListener: () => {}};
  Object.assign(globalThis, {document: page, clearTimeout: () => { late = undefined; },
    window: {setTimeout: (work: () => void) => { late = work; }}});
  const done: string[] = [];
  const show = (state: string) => {
    page.visibilityState = state;
    look();
  };
  const end = whileVisible(() => {
    done.push('open');
    return () => done.push('close');
  }, 300_000);
  show('hidden');
  show('visible');
  assert.equal(late, undefined);
  assert.deepEqual(done, ['open']);
  show('hidden');
  late!();
  assert.deepEqual(done, ['open', 'close']);
  show('visible');
  end();
  assert.deepEqual(done, ['open', 'close', 'open', 'close']);
});
