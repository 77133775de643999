/** Many observers of one session, with third-party clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { Services } from './support/services.js';
import { Follower, Sessions, range } from './support/watcher.js';

const READ_ONLY = 1000;
const CALLS = 20;
const EVENTS_OF_CALL = 10;

describe('observers of a session', { timeout: stretched(240_000) }, () => {
  let services;
  let sessions;
  before(async () => {
    services = await Services.open();
    sessions = new Sessions(services);
  });
  after(() => services?.close());

  /** Opens some at a time, within the listener's backlog. */
  const watchers = async (id, count) => {
    const opened = [];
    while (opened.length < count) {
      const some = range(1, Math.min(100, count - opened.length));
      opened.push(...await Promise.all(some.map(() => sessions.watch(id))));
    }
    await Promise.all(opened.map((watcher) => watcher.ofType('connected')));
    return opened;
  };

  test('receive all events in order if one of a thousand stalls', () => services.step(async () => {
    const id = await sessions.create();
    const all = await watchers(id, READ_ONLY);
    const [stalled, ...others] = all;
    const closed = once(stalled.socket, 'close');
    stalled.socket.pause();
    let last;
    for (const call of range(1, CALLS)) {
      const texts = range(1, EVENTS_OF_CALL).map((event) => `${call}.${event}`);
      ({ last_seq: last } = await sessions.append(id, ...texts));
    }
    await Promise.all(others.map((watcher) => watcher.withSeq(last)));
    for (const watcher of others) assert.deepEqual(watcher.seqs(), range(2, last));

    // Until more data waits for the stalled observer than may; few of the others stay connected.
    const remaining = others.splice(0, 2);
    for (const { socket } of others) socket.terminate();
    const text = 'x'.repeat(256 << 10);
    for (let call = 0; call < 16; call += 1) {
      ({ last_seq: last } = await sessions.append(id, ...Array(8).fill(text)));
      await Promise.all(remaining.map((watcher) => watcher.withSeq(last)));
    }
    for (const watcher of remaining) assert.deepEqual(watcher.seqs(), range(2, last));
    stalled.socket.resume();
    const [code] = await closed;
    // If not even the closing handshake is read in time, the connection is cut.
    assert.ok([1013, 1006].includes(code), `closed with ${code}`);
    const seen = stalled.seqs();
    assert.deepEqual(seen, range(2, seen.length + 1));
    assert.ok(seen.length < last - 1);

    const again = await sessions.watch(id);
    await again.ofType('connected');
    const missed = await again.loadAfter(seen.at(-1) ?? 1);
    assert.deepEqual(missed.map(({ seq }) => seq), range(seen.length + 2, last));
    const { last_seq: live } = await sessions.append(id, 'live');
    await again.withSeq(live);
    for (const { socket } of [again, ...remaining]) socket.terminate();
  }));

  test('reconnect after each crash of the gateway without a gap', () => services.step(async () => {
    const id = await sessions.create();
    const followers = range(1, 200).map(() => new Follower(sessions.socketUrl(id)));
    services.onClose(async () => { for (const follower of followers) follower.leave(); });
    let appending = true;
    const appended = (async () => {
      let last;
      while (appending) {
        // A failed append may have been recorded or not: the log decides.
        ({ last_seq: last } = await sessions.append(id, 'event').catch(() => ({ last_seq: last })));
      }
      return last;
    })();
    for (const goal of [50, 100, 150]) {
      await Promise.all(followers.map((follower) => follower.reaches(goal)));
      await services.gateway.kill();
      await services.startGateway();
    }
    await Promise.all(followers.map((follower) => follower.reaches(200)));
    appending = false;
    await appended;
    const { last_seq: last } = await sessions.append(id, 'the last one');
    await Promise.all(followers.map((follower) => follower.reaches(last)));
    for (const { seqs } of followers) assert.deepEqual(seqs, range(1, last));
  }));

  test('continue after a crash of the tracker without a gap', () => services.step(async () => {
    const id = await sessions.create();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    const { last_seq: before } = await sessions.append(id, 'before');
    await watcher.withSeq(before);
    await services.tracker.kill();
    await services.startTracker();
    let last;
    while (last === undefined) {
      ({ last_seq: last } = await sessions.append(id, 'after').catch(() => ({})));
    }
    await watcher.withSeq(last);
    assert.deepEqual(watcher.seqs(), range(before, last));
    // Messages other than events may have been missed, and the socket reports it.
    await watcher.ofType('notices_missed');
    await watcher.close();
  }));
});
