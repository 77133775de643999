import assert from 'node:assert/strict';
import {test} from 'node:test';
import {maxBytes, SessionStore} from '../src/session_page/store.ts';

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
    this.tell('events_loaded', {events, has_more, first_seq: events.length ? first : 0, last_seq: events.length ? last : 0, request_id: this.id});
  }
  refuse(more: object = {}) {
    this.tell('request_failed', {error: 'tracker_unreachable', message: 'The tracker is away.', hint: '', request: 'load_events', request_id: this.id, ...more});
  }
  private get loads() { return this.sent.filter(({type}) => type === 'load_events'); }
  private get id() { return this.loads.at(-1)?.data.request_id; }
  get count() { return this.loads.length; }
  // The range of the latest load_events request.
  get asked() {
    const {limit: _, max_event_bytes: __, request_id: id, ...where} = this.loads.at(-1)!.data;
    assert.match(String(id), /^.{1,64}$/);
    return where;
  }
}

const event = (seq: number) => ({seq, type: 'agent_message', timestamp: '', data: {text: 'x', message_id: `m${seq}`}});
const shown = (store: SessionStore) => store.log.events.map(({seq}) => seq);
const upTo = (first: number, last: number) => Array.from({length: last - first + 1}, (_, at) => first + at);

// The timer of a lost connection, run by the test.
let again: (() => void) | undefined;
let readAgain: (() => void) | undefined;
// The timer after a failed load, and its delay.
let loadAgain: (() => void) | undefined;
let waited = 0;
async function open(run: (store: SessionStore, lose: () => void) => void | Promise<void>, fetch: unknown = () => new Promise(() => {})) {
  const before = {setTimeout: globalThis.setTimeout, fetch: globalThis.fetch};
  const window = {setTimeout: (work: () => void, ms: number) => {
    if (ms === 30) readAgain = work;
    else if (new Error().stack?.includes('.fail ')) [loadAgain, waited] = [work, ms];
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

test('older events can be loaded after a reconnect without new events', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.page(301, 500, true);
  lose();
  Peer.latest.join(500);
  assert.equal(Peer.latest.count, 0);
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 301});
  Peer.latest.page(1, 300, false);
  assert.deepEqual(shown(store), upTo(1, 500));
}));

test('a reconnection before the first page requests the newest page', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.tell('agent_message', event(501).data, {seq: 501});
  lose();
  Peer.latest.join(501);
  assert.deepEqual(Peer.latest.asked, {before_seq: 502});
  Peer.latest.page(302, 501, true);
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 302});
}));

test('the first events are loaded before the gap, and all are in order', () => open((store, lose) => {
  Peer.latest.join(1_000);
  Peer.latest.page(801, 1_000, true);
  void store.loadFirst();
  assert.deepEqual(Peer.latest.asked, {after_seq: 0});
  Peer.latest.page(1, 200, true);
  assert.deepEqual(shown(store), [...upTo(1, 200), ...upTo(801, 1_000)]);
  assert.equal(store.log.parts[200]?.kind, 'gap');
  assert.deepEqual(Peer.latest.asked, {before_seq: 801});
  Peer.latest.page(601, 800, true);
  assert.deepEqual(Peer.latest.asked, {before_seq: 601});
  assert.equal(store.gathered.value?.length, 200);
  // A live event comes after all others; a new connection resumes the load.
  live(1_001);
  lose();
  Peer.latest.join(1_001);
  assert.deepEqual(Peer.latest.asked, {before_seq: 601});
  Peer.latest.page(401, 600, true);
  Peer.latest.page(201, 400, true);
  assert.deepEqual(shown(store), upTo(1, 1_001));
  assert.equal(store.hasOlder.value, false);
  assert.equal(store.gathered.value, null);
  assert.ok(store.log.parts.every(({kind}) => kind === 'message'));
  assert.equal(Peer.latest.count, 2);
}));

test('loading the first events of a short session leaves no gap', () => open(store => {
  Peer.latest.join(300);
  Peer.latest.page(101, 300, true);
  void store.loadFirst();
  Peer.latest.page(1, 200, true);
  assert.deepEqual(shown(store), upTo(1, 300));
  assert.equal(store.hasOlder.value, false);
  assert.equal(Peer.latest.count, 2);
}));

test('older events can be requested while missed events are loading', () => open((store, lose) => {
  Peer.latest.join(500);
  Peer.latest.page(301, 500, true);
  lose();
  Peer.latest.join(900);
  assert.deepEqual(Peer.latest.asked, {after_seq: 500});
  store.loadOlder();
  Peer.latest.page(501, 700, true);
  assert.deepEqual(Peer.latest.asked, {before_seq: 301});
  Peer.latest.page(101, 300, true);
  assert.deepEqual(Peer.latest.asked, {after_seq: 700});
  Peer.latest.page(701, 900, false);
  assert.deepEqual(shown(store), upTo(101, 900));
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: 101});
}));

const live = (seq: number) => Peer.latest.tell('agent_message', event(seq).data, {seq});

test('a failed page request is retried with growing delays until it succeeds', () => open(store => {
  Peer.latest.join(500);
  const waits: number[] = [];
  for (let at = 0; at < 10; at++) {
    Peer.latest.refuse();
    waits.push(waited);
    assert.match(String(store.loadError.value), /tracker is away/);
    assert.equal(Peer.latest.count, at + 1);
    loadAgain!();
    assert.equal(Peer.latest.count, at + 2);
    assert.deepEqual(Peer.latest.asked, {before_seq: 501});
  }
  assert.ok(waits[0]! < 1_000 && waits[9]! >= 10_000 && waits[9]! < 15_000, `${waits}`);
  Peer.latest.refuse({retry_after_ms: 3_000});
  assert.ok(waited >= 3_000 && waited < 4_000, `${waited}`);
  loadAgain!();
  Peer.latest.page(301, 500, true);
  assert.deepEqual(shown(store), upTo(301, 500));
  assert.equal(store.loadError.value, null);
}));

test('missed events are loaded despite a failure and newer live events', () => open((store, lose) => {
  Peer.latest.join(1);
  Peer.latest.page(1, 1, false);
  lose();
  Peer.latest.join(3);
  Peer.latest.refuse();
  live(4);
  assert.deepEqual(shown(store), [1, 4]);
  assert.deepEqual(store.log.parts.map(({kind}) => kind), ['message', 'gap', 'message']);
  // A new connection does not wait out the pause of the previous one.
  lose();
  Peer.latest.join(4);
  assert.deepEqual(Peer.latest.asked, {before_seq: 4});
  Peer.latest.page(2, 3, true);
  assert.deepEqual(shown(store), [1, 2, 3, 4]);
  assert.ok(store.log.parts.every(({kind}) => kind === 'message'));
  assert.equal(Peer.latest.count, 1);
}));

test('a page or failure that does not answer the open request is ignored', () => open(store => {
  Peer.latest.join(500);
  Peer.latest.tell('events_loaded', {events: [event(7)], has_more: false, request_id: 'other'});
  Peer.latest.refuse({request_id: 'other'});
  assert.equal(store.isLoaded.value, false);
  assert.equal(store.loadError.value, null);
  Peer.latest.page(1, 500, false);
  Peer.latest.page(1, 500, true);
  assert.deepEqual(shown(store), upTo(1, 500));
}));

test('undelivered events are loaded, and nonexistent ones requested once', () => open((store, lose) => {
  Peer.latest.join(10);
  Peer.latest.page(3, 10, false);
  assert.equal(store.hasOlder.value, false);
  // Event 11 does not exist, and 12 does.
  live(13);
  assert.deepEqual(Peer.latest.asked, {before_seq: 13});
  Peer.latest.tell('events_loaded', {events: [event(10), event(12)], has_more: true, request_id: '2'});
  assert.deepEqual(shown(store), [...upTo(3, 10), 12, 13]);
  assert.ok(store.log.parts.every(({kind}) => kind === 'message'));
  // The latest events did not reach this page live.
  Peer.latest.tell('keepalive_ack', {max_seq: 15});
  assert.deepEqual(Peer.latest.asked, {before_seq: 16});
  Peer.latest.page(12, 14, true);
  assert.equal(Peer.latest.count, 3);
  lose();
  // The session's oldest events were deleted, and its newest were lost.
  Peer.latest.join(14);
  assert.equal(Peer.latest.count, 0);
  lose();
  Peer.latest.join(20);
  assert.deepEqual(Peer.latest.asked, {after_seq: 15});
  Peer.latest.page(1, 0, false);
  assert.equal(Peer.latest.count, 1);
  // An empty page while more is missing: the next request waits for a pause.
  live(30);
  Peer.latest.page(1, 0, true);
  assert.equal(Peer.latest.count, 2);
  loadAgain!();
  assert.equal(Peer.latest.count, 3);
}));

test('live events are truncated like loaded ones, and the oldest are dropped', () => open(store => {
  Peer.latest.join(2_000);
  Peer.latest.page(1_801, 2_000, true);
  const long = (seq: number) => Peer.latest.tell('agent_message', {text: 'x'.repeat(17_000), message_id: `m${seq}`}, {seq});
  long(2_001);
  assert.ok(JSON.stringify(store.log.events.at(-1)).length < 17_000);
  assert.deepEqual(store.log.parts.at(-1)?.cut, [2_001]);
  let seq = 2_001;
  store.isReadAtEnd = false;
  while (store.log.bytes < maxBytes * 1.5) long(++seq);
  // The user is reading the oldest events.
  assert.equal(store.log.start, 1_801);
  while (store.log.bytes > maxBytes) long(++seq);
  assert.ok(store.log.start > 1_801);
  store.isReadAtEnd = true;
  for (let at = 0; at < 200; at++) {
    long(++seq);
    assert.ok(store.log.bytes <= maxBytes);
  }
  assert.equal(store.hasOlder.value, true);
  const {start} = store.log;
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: start});
}));

// A gateway with `newest` events, each of the maximum length, that answers until no event is
// missing. Returns the number of requests.
function answerLong(store: SessionStore, newest: number): number {
  let asked = 0;
  for (let answered = 0; Peer.latest.count > answered; asked++) {
    answered = Peer.latest.count;
    const {after_seq: after, before_seq: before} = Peer.latest.asked as {after_seq?: number; before_seq?: number};
    const first = before === undefined ? after! + 1 : Math.max(1, before - 200);
    const last = before === undefined ? Math.min(newest, after! + 200) : before - 1;
    const events = upTo(first, last).map(seq => ({...event(seq), data: {text: 'x'.repeat(16_000), message_id: `m${seq}`}}));
    Peer.latest.tell('events_loaded', {events, has_more: before === undefined ? last < newest : first > 1, request_id: `${Peer.latest.sent.at(-1)!.data.request_id}`});
    assert.ok(store.log.bytes + (store.gathered.value ?? []).length * 16_000 <= maxBytes * (store.isReadAtEnd ? 1 : 2) + 200 * 16_000);
  }
  return asked;
}

test('missed events are loaded up to the size limit, and older ones on request', async () => {
  for (const [missed, isLive] of [[1_000, false], [3_000, false], [20_000, false], [20_000, true]] as const) {
    await open((store, lose) => {
      const newest = 10 + missed;
      Peer.latest.join(10);
      Peer.latest.page(1, 10, false);
      lose();
      Peer.latest.join(newest);
      if (isLive) live(newest + 1);
      const asked = answerLong(store, newest);
      const [first, last] = [store.log.start, newest + (isLive ? 1 : 0)];
      assert.deepEqual(shown(store), upTo(first, last));
      assert.ok(asked < 20 && store.log.bytes <= maxBytes && (missed === 1_000 || store.log.bytes > maxBytes / 2), `${asked} ${store.log.bytes}`);
      assert.equal(store.gathered.value, null);
      assert.equal(store.log.parts.some(({kind}) => kind === 'gap'), false);
      assert.equal(store.hasOlder.value, missed > 1_000);
      store.isReadAtEnd = false;
      store.loadOlder();
      answerLong(store, newest);
      assert.deepEqual(shown(store), upTo(Math.max(1, first - 200), last));
    });
  }
});

test('a reader at the beginning stays there while the gap exceeds the limit', () => open(store => {
  const newest = 20_000;
  Peer.latest.join(newest);
  answerLong(store, newest);
  store.isReadAtEnd = false;
  void store.loadFirst();
  answerLong(store, newest);
  assert.ok(store.log.bytes > maxBytes && store.log.bytes <= 2 * maxBytes);
  assert.deepEqual([store.log.start, store.log.end, store.isFull.value, store.gathered.value], [1, newest, true, null]);
  assert.equal(store.log.parts[200]?.kind, 'gap');
  // At the end of the log its beginning is dropped, and can be loaded again.
  store.isReadAtEnd = true;
  store.goOn();
  assert.ok(store.log.bytes <= maxBytes);
  assert.deepEqual(shown(store), upTo(store.log.start, newest));
  const {start} = store.log;
  store.loadOlder();
  assert.deepEqual(Peer.latest.asked, {before_seq: start});
}));

test('streamed text above the limit keeps its end', () => open(store => {
  Peer.latest.join(0);
  Peer.latest.page(1, 0, false);
  const piece = '🙂'.repeat(5_000);
  for (let at = 0; at < 200; at++) Peer.latest.tell('agent_text', {iteration: 1, offset: at * 20_000, text: piece});
  Peer.latest.tell('agent_text', {iteration: 1, offset: 200 * 20_000, text: 'the end'});
  const part = store.parts.value.at(-1)!;
  assert.ok('text' in part && part.text.length <= 256 << 10 && part.text.length > 128 << 10);
  assert.match(part.text, /^… (?:🙂)+the end$/u);
}));

test('a session without remaining events counts as loaded', () => open(store => {
  Peer.latest.join(7);
  Peer.latest.page(1, 0, false);
  assert.equal(store.isLoaded.value, true);
  assert.equal(store.hasOlder.value, false);
  live(8);
  assert.deepEqual(shown(store), [8]);
  assert.equal(Peer.latest.count, 1);
}));

test('lost connections and failed requests leave no events missing', async () => {
  for (let seed = 0; seed < 40; seed++) {
    await open((store, lose) => {
      let state = seed + 1;
      const next = (below: number) => (state = (state * 48271) % 2147483647) % below;
      let newest = 600;
      let joined = 0;
      let answered = 0;
      const join = () => {
        joined = newest;
        answered = 0;
        Peer.latest.join(newest);
      };
      // Answers like the gateway, with pages of 50; one answer in three is a failure.
      const answer = (fails = next(3) === 0) => {
        const peer = Peer.latest;
        if (peer.count === answered) {
          loadAgain?.();
          loadAgain = undefined;
          return;
        }
        answered = peer.count;
        if (fails) return peer.refuse();
        const {after_seq: after, before_seq: before} = peer.asked as {after_seq?: number; before_seq?: number};
        const last = before === undefined ? Math.min(after! + 50, after! <= joined ? joined : newest) : before - 1;
        const first = before === undefined ? after! + 1 : Math.max(1, before - 50);
        peer.page(first, last, before === undefined ? last < (after! <= joined ? joined : newest) : first > 1);
      };
      join();
      for (let at = 0; at < 60; at++) {
        switch (next(7)) {
          case 0: live(++newest); break;
          case 1:
            // More events come while the connection is lost.
            lose();
            newest += next(120);
            join();
            break;
          case 2: store.loadOlder(); break;
          case 3: void store.loadFirst(); break;
          default: answer();
        }
      }
      for (let at = 0; at < 200; at++) answer(false);
      assert.deepEqual(shown(store), upTo(store.log.events[0]!.seq, newest), `seed ${seed}`);
      assert.equal(store.log.parts.some(({kind}) => kind === 'gap'), false, `seed ${seed}`);
      assert.equal(store.loadError.value, null);
    });
  }
});

test('notices received while a session is read are not overwritten by the result', async () => {
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
    // The session is read once more after the end of the turn.
    Peer.latest.tell('turn_ended', {turn_id: 't'});
    readAgain?.();
    await answered();
    assert.equal(store.session.value?.turn_id, undefined);
  }, fetch);
});

test('a session is read once at a time, and again for changes during the read', async () => {
  const answers: (() => void)[][] = [];
  const fetch = (path: string, {signal}: {signal: AbortSignal}) => new Promise<Response>((resolve, reject) => {
    if (path === '/api/sessions/s') answers.push([]);
    const read = answers.length;
    const body = path.endsWith('/queue') ? {messages: [{id: `m${read}`}]} : path.endsWith('/queue-settings') ? {} : {session_id: 's'};
    signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    answers.at(-1)!.push(() => {
      if (read === 3) reject(new TypeError('Failed to fetch'));
      else resolve(new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}}));
    });
  });
  const answered = async (read: number) => {
    for (const each of answers[read - 1]!) each();
    for (let at = 0; at < 5; at++) await new Promise(resolve => { setImmediate(resolve); });
  };
  let closed: SessionStore | undefined;
  await open(async store => {
    closed = store;
    // A new connection does not wait for the read of an earlier one.
    Peer.latest.join(0);
    assert.equal(answers.length, 2);
    for (let at = 0; at < 3; at++) {
      Peer.latest.tell('queue_updated', {});
      readAgain?.();
    }
    assert.equal(answers.length, 2);
    await answered(2);
    await answered(1);
    assert.deepEqual(store.messages.value.map(({id}) => id), ['m2']);
    assert.equal(answers.length, 3);
    // A failed read is reported and repeated.
    await answered(3);
    assert.match(String(store.error.value), /cannot be reached/);
    loadAgain?.();
    await answered(4);
    assert.deepEqual(store.messages.value.map(({id}) => id), ['m4']);
    assert.equal(store.error.value, null);
    Peer.latest.tell('queue_updated', {});
    readAgain?.();
  }, fetch);
  await answered(5);
  assert.deepEqual(closed?.messages.value.map(({id}) => id), ['m4']);
});
