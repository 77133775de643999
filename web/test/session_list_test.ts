import assert from 'node:assert/strict';
import {test} from 'node:test';
import {follow, listed, sessions, unfollow} from '../src/session_list/store.ts';

// The gateway's end of the socket with the notices of all sessions.
class Peer {
  static latest: Peer;
  readonly readyState = 1;
  onmessage: ((event: {data: string}) => void) | null = null;
  constructor() { Peer.latest = this; }
  send() {}
  close() {}
  tell(type: string, data: object = {}) { this.onmessage?.({data: JSON.stringify({type, data})}); }
}

test('session lists are read one at a time and do not overwrite newer notices', async () => {
  const answers: (() => void)[] = [];
  const fetch = (_: string, {signal}: {signal: AbortSignal}) => new Promise<Response>((resolve, reject) => {
    const body = {sessions: [{session_id: 's', status: 'active', name: `list ${answers.length + 1}`}]};
    signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    answers.push(() => resolve(new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}})));
  });
  Object.assign(globalThis, {WebSocket: Peer, fetch, window: {setTimeout: () => 1}, location: new URL('http://127.0.0.1/ui/'),
    addEventListener: () => {}, removeEventListener: () => {},
    document: {visibilityState: 'visible', addEventListener: () => {}, removeEventListener: () => {}}});
  const answered = async (list: number) => {
    answers[list - 1]!();
    for (let at = 0; at < 5; at++) await new Promise(resolve => { setImmediate(resolve); });
  };
  const asks = (open_permissions: number) => Peer.latest.tell('permission_asked', {session_id: 's', title: 'May I?', open_permissions});
  follow();
  try {
    Peer.latest.tell('connected');
    Peer.latest.tell('notices_missed');
    Peer.latest.tell('notices_missed');
    asks(1);
    assert.equal(answers.length, 1);
    await answered(1);
    assert.equal(sessions.value.get('s')?.open_permissions, 1);
    // One more read for both notices.
    assert.equal(answers.length, 2);
    asks(2);
    await answered(2);
    assert.deepEqual([sessions.value.get('s')?.name, sessions.value.get('s')?.open_permissions], ['list 2', 2]);
    assert.equal(answers.length, 2);
    // A new connection does not wait for a hanging read, and ignores its answer.
    Peer.latest.tell('notices_missed');
    Peer.latest.tell('connected');
    assert.equal(answers.length, 4);
    await answered(4);
    await answered(3);
    assert.equal(sessions.value.get('s')?.name, 'list 4');
    Peer.latest.tell('notices_missed');
  } finally {
    unfollow();
  }
  await answered(5);
  assert.equal(sessions.value.size, 0);
  assert.equal(listed.value, false);
});
