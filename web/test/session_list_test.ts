import assert from 'node:assert/strict';
import {test} from 'node:test';
import {follow, sessions, unfollow} from '../src/sessions/store.ts';

// The gateway's end of the socket that tells of all sessions.
class Peer {
  static latest: Peer;
  readonly readyState = 1;
  onmessage: ((event: {data: string}) => void) | null = null;
  constructor() { Peer.latest = this; }
  send() {}
  close() {}
  tell(type: string, data: object = {}) { this.onmessage?.({data: JSON.stringify({type, data})}); }
}

test('a list that is answered late takes back nothing of one that was asked for after it', async () => {
  const answers: (() => void)[] = [];
  const fetch = () => new Promise<Response>(resolve => {
    const body = {sessions: [{session_id: 's', status: 'active', name: `list ${answers.length + 1}`}]};
    answers.push(() => resolve(new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}})));
  });
  Object.assign(globalThis, {WebSocket: Peer, fetch, window: {setTimeout: () => 1}, location: new URL('http://127.0.0.1/ui/'),
    addEventListener: () => {}, removeEventListener: () => {},
    document: {visibilityState: 'visible', addEventListener: () => {}, removeEventListener: () => {}}});
  const answered = async (list: number) => {
    answers[list - 1]!();
    for (let at = 0; at < 5; at++) await new Promise(resolve => { setImmediate(resolve); });
  };
  follow();
  try {
    Peer.latest.tell('connected');
    Peer.latest.tell('notices_missed');
    assert.equal(answers.length, 2);
    await answered(2);
    assert.equal(sessions.value.get('s')?.name, 'list 2');
    await answered(1);
    assert.equal(sessions.value.get('s')?.name, 'list 2');
  } finally {
    unfollow();
  }
});
