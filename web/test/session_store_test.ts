import assert from 'node:assert/strict';
import {test} from 'node:test';
import {SessionStore} from '../src/session/store.ts';

type Told = {type: string; data: Record<string, unknown>};

// The gateway's end of a socket.
class Peer {
  static readonly OPEN = 1;
  static latest: Peer;
  readonly readyState = 1;
  readonly sent: Told[] = [];
  onmessage: ((event: {data: string}) => void) | null = null;
  onclose: ((event: {code: number}) => void) | null = null;
  constructor() { Peer.latest = this; }
  send(text: string) { this.sent.push(JSON.parse(text) as Told); }
  close() {}
  tell(type: string, data: object, more: object = {}) { this.onmessage?.({data: JSON.stringify({type, data, ...more})}); }
  join(max_seq: number) { this.tell('connected', {session_id: 's', max_seq, permissions: []}); }
  page(first: number, last: number, has_more: boolean) {
    const events = Array.from({length: Math.max(0, last - first + 1)}, (_, at) => event(first + at));
    this.tell('events_loaded', {events, has_more, first_seq: events.length ? first : 0, last_seq: events.length ? last : 0});
  }
  // What it was asked for last: which events.
  get asked() {
    const {limit: _, max_event_bytes: __, ...where} = this.sent.at(-1)!.data;
    return where;
  }
}

const event = (seq: number) => ({seq, type: 'agent_message', timestamp: '', data: {text: 'x', message_id: `m${seq}`}});
const shown = (store: SessionStore) => store.log.events.map(({seq}) => seq);
const upTo = (first: number, last: number) => Array.from({length: last - first + 1}, (_, at) => first + at);

// The timer of a lost connection, run by the test.
let again: (() => void) | undefined;
let readAgain: (() => void) | undefined;
async function open(run: (store: SessionStore, lose: () => void) => void | Promise<void>, fetch: unknown = () => new Promise(() => {})) {
  const before = {setTimeout: globalThis.setTimeout, fetch: globalThis.fetch};
  const window = {setTimeout: (work: () => void, ms: number) => {
    if (ms === 30) readAgain = work;
    else again = work;
    return 1;
  }};
  Object.assign(globalThis, {WebSocket: Peer, window, addEventListener: () => {}, removeEventListener: () => {},
    location: new URL('http://127.0.0.1/ui/'), requestAnimationFrame: () => 1, cancelAnimationFrame: () => {},
    document: {visibilityState: 'visible', addEventListener: () => {}, removeEventListener: () => {}},
    fetch});
  const store = new SessionStore('s');
  try {
    await run(store, () => {
      Peer.latest.onclose?.({code: 1006});
      again?.();
    });
  } finally {
    store.close();
    Object.assign(globalThis, before);
  }
}

test('what is older can be had after a connection came back to nothing new', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.page(301, 500, true);
  lose();
  Peer.latest.join(500);
  assert.deepEqual(Peer.latest.asked, {after_seq: 500});
  Peer.latest.page(1, 0, false);
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 301});
  Peer.latest.page(1, 300, false);
  assert.deepEqual(shown(store), upTo(1, 500));
}));

test('a connection lost before its first page asks for the newest page again', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.tell('agent_message', event(501).data, {seq: 501});
  lose();
  Peer.latest.join(501);
  assert.deepEqual(Peer.latest.asked, {before_seq: 502});
  Peer.latest.page(302, 501, true);
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 302});
}));

test('the first ones come before what lies between, and all of it in its place', () => open((store, lose) => {
  Peer.latest.join(1_000);
  Peer.latest.page(801, 1_000, true);
  void store.loadFirst();
  assert.deepEqual(Peer.latest.sent.slice(-2).map(({data: {after_seq, before_seq}}) => ({after_seq, before_seq})),
    [{after_seq: 0, before_seq: undefined}, {after_seq: undefined, before_seq: 801}]);
  Peer.latest.page(1, 200, true);
  assert.deepEqual(shown(store), [...upTo(1, 200), ...upTo(801, 1_000)]);
  assert.equal(store.log.parts[200]?.kind, 'gap');
  Peer.latest.page(601, 800, true);
  assert.deepEqual(Peer.latest.asked, {before_seq: 601});
  // What is live comes behind all of it; a connection that was lost goes on where it was.
  Peer.latest.tell('agent_message', event(1_001).data, {seq: 1_001});
  lose();
  Peer.latest.join(1_001);
  assert.deepEqual(Peer.latest.sent.map(({data: {after_seq, before_seq}}) => [after_seq, before_seq]), [[1_001, undefined], [undefined, 601]]);
  Peer.latest.page(1, 0, false);
  Peer.latest.page(401, 600, true);
  Peer.latest.page(201, 400, true);
  assert.deepEqual(shown(store), upTo(1, 1_001));
  assert.equal(store.hasOlder.value, false);
  assert.equal(store.gathered.value, null);
  assert.ok(store.log.parts.every(({kind}) => kind === 'message'));
}));

test('the first ones of a session that is not much longer leave no gap', () => open(store => {
  Peer.latest.join(300);
  Peer.latest.page(101, 300, true);
  void store.loadFirst();
  Peer.latest.page(1, 200, true);
  assert.deepEqual(shown(store), upTo(1, 300));
  assert.equal(store.log.gapAfter, 0);
  Peer.latest.page(1, 100, false);
  assert.deepEqual(shown(store), upTo(1, 300));
  assert.equal(store.hasOlder.value, false);
}));

test('what is older may be asked for while what was missed comes', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.page(301, 500, true);
  lose();
  Peer.latest.join(900);
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 301});
  Peer.latest.page(501, 700, true);
  assert.deepEqual(Peer.latest.asked, {after_seq: 700});
  Peer.latest.page(101, 300, true);
  Peer.latest.page(701, 900, false);
  assert.deepEqual(shown(store), upTo(101, 900));
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 101});
}));

test('what was told while the session was read is not taken back by what was read', async () => {
  let answers: (() => void)[] = [];
  const fetch = (path: string) => new Promise<Response>(resolve => {
    const body = path.endsWith('/queue') ? {messages: []} : path.endsWith('/queue-settings') ? {} : {session_id: 's', name: 'as read'};
    answers.push(() => resolve(new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}})));
  });
  const answered = async () => {
    for (const each of answers.splice(0)) each();
    for (let at = 0; at < 5; at++) await new Promise(resolve => { setImmediate(resolve); });
  };
  await open(async store => {
    await answered();
    assert.equal(store.session.value?.name, 'as read');
    Peer.latest.join(0);
    readAgain?.();
    Peer.latest.tell('turn_started', {turn_id: 't'});
    await answered();
    assert.equal(store.session.value?.turn_id, 't');
    // And read once more, for what it was read for.
    Peer.latest.tell('turn_ended', {turn_id: 't'});
    readAgain?.();
    await answered();
    assert.equal(store.session.value?.turn_id, undefined);
  }, fetch);
});

test('a read that is answered late takes back nothing of one that was begun after it', async () => {
  const answers: (() => void)[][] = [];
  let reads = 0;
  const fetch = (path: string) => new Promise<Response>((resolve, reject) => {
    if (path === '/api/sessions/s') answers.push([]);
    const read = answers.length;
    const body = path.endsWith('/queue') ? {messages: [{id: `m${read}`}]} : path.endsWith('/queue-settings') ? {} : {session_id: 's'};
    reads++;
    answers.at(-1)!.push(() => {
      if (read === 2) reject(new TypeError('Failed to fetch'));
      else resolve(new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}}));
    });
  });
  const answered = async (read: number) => {
    for (const each of answers[read - 1]!) each();
    for (let at = 0; at < 5; at++) await new Promise(resolve => { setImmediate(resolve); });
  };
  await open(async store => {
    Peer.latest.join(0);
    readAgain?.();
    Peer.latest.tell('queue_updated', {});
    readAgain?.();
    assert.equal(reads, 9);
    await answered(3);
    await answered(1);
    await answered(2);
    assert.deepEqual(store.messages.value.map(({id}) => id), ['m3']);
    assert.equal(store.error.value, null);
  }, fetch);
});
