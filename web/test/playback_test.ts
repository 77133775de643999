import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {SessionEvent} from '../src/api/types.ts';
import {advance, faster, pause, play, seek, skipIdle, step, stopped, Timeline, untilNext} from '../src/playback/player.ts';
import {loadEvents, Recording, type PositionPage} from '../src/playback/recording.ts';
import {reduce} from '../src/conversation/log.ts';

const day = 86_400_000;
const line = new Timeline([1000, 1500, 1500, 2500, 2500 + day]);

test('events are played at their recorded times', () => {
  let playing = play({...stopped, skipsIdle: false}, line);
  playing = advance(playing, line, 0);
  assert.equal(playing.position, 1);
  assert.equal(untilNext(playing, line), 500);
  playing = advance(playing, line, 499);
  assert.equal(playing.position, 1);
  playing = advance(playing, line, 1);
  assert.equal(playing.position, 3);
  playing = advance(playing, line, 1000);
  assert.equal(playing.position, 4);
  assert.equal(untilNext(playing, line), day);
  playing = advance(playing, line, day);
  assert.deepEqual([playing.position, playing.isPlaying, untilNext(playing, line)], [5, false, null]);
});

test('the speed divides the delay, and a gap above two seconds is shortened', () => {
  let playing = faster(faster(play(seek(stopped, line, 4), line), 1), 1);
  assert.equal(playing.speed, 4);
  assert.equal(untilNext(playing, line), 75);
  playing = advance(playing, line, 75);
  assert.equal(playing.position, 5);
  for (let at = 0; at < 9; at++) playing = faster(playing, 1);
  assert.equal(playing.speed, 32);
  for (let at = 0; at < 9; at++) playing = faster(playing, -1);
  assert.equal(playing.speed, 1);
  // A gap of two seconds is not idle time.
  assert.equal(untilNext(play(seek(stopped, new Timeline([0, 2000]), 1), line), new Timeline([0, 2000])), 2000);
});

test('changing whether idle time is skipped keeps the current event', () => {
  const at = skipIdle(seek(stopped, line, 5), line, false);
  assert.deepEqual([at.position, at.offset], [5, 1500 + day]);
  assert.equal(skipIdle(at, line, true).offset, 1800);
});

test('seeking stays in range, stepping pauses, and playing from the end starts over', () => {
  assert.equal(seek(stopped, line, -3).position, 0);
  assert.equal(seek(stopped, line, 99).position, 5);
  assert.equal(seek(stopped, line, NaN).position, 0);
  const playing = play(seek(stopped, line, 2), line);
  assert.deepEqual([step(playing, line, 1).position, step(playing, line, 1).isPlaying], [3, false]);
  assert.equal(step(playing, line, -10).position, 0);
  assert.equal(play(seek(stopped, line, 5), line).position, 0);
  assert.equal(pause(playing).isPlaying, false);
  assert.equal(advance(pause(playing), line, 1e9).position, 2);
  assert.equal(play(stopped, new Timeline([])).isPlaying, false);
});

test('a clock that went back or an invalid time causes no delay', () => {
  const odd = new Timeline([5000, 4000, NaN, 6000]);
  assert.deepEqual([...odd.offsets(false)], [0, 0, 0, 1000]);
  assert.deepEqual([...new Timeline([NaN, 10]).offsets(false)], [0, 0]);
});

test('density is scaled so that its maximum is 1', () => {
  const dense = new Timeline([0, 1, 2, 3, 4, 100_000, 200_000, 300_000]).density(4);
  assert.equal(dense.length, 4);
  assert.equal(Math.max(...dense), 1);
  assert.ok(dense[3]! < dense[0]!);
  assert.deepEqual(new Timeline([]).density(4), []);
});

const events: SessionEvent[] = Array.from({length: 2500}, (_, at) => ({
  seq: at + 1, timestamp: new Date(1e12 + at).toISOString(),
  type: at % 5 === 4 ? 'tool_call' : 'agent_message',
  data: at % 5 === 4 ? {tool_call_id: `t${at % 50}`, title: 'x', status: 'pending'} : {text: `${at} `}}));

test('each position has the parts of its prefix, whatever the previous position', () => {
  const recording = new Recording(events);
  for (const position of [0, 10, 11, 2500, 1200, 1201, 3, 2499]) {
    assert.deepEqual(recording.at(position), reduce(events, position).parts);
  }
});

test('each page of a recording is loaded once', async () => {
  const asked: string[] = [];
  const told: number[] = [];
  const read = async (path: string): Promise<PositionPage> => {
    asked.push(path);
    const from = Number(new URL(path, 'http://x').searchParams.get('position'));
    const some = events.slice(from, from + 1000);
    return {events: some, has_more: from + some.length < events.length, first_seq: 1, last_seq: 0,
      max_seq: events.length, length: events.length, next_position: from + some.length};
  };
  const abort = new AbortController();
  const all = await loadEvents('a/b', read, abort.signal, loaded => told.push(loaded));
  assert.deepEqual(all.map(({seq}) => seq), events.map(({seq}) => seq));
  assert.deepEqual(told, [1000, 2000, 2500]);
  assert.ok(asked[0]!.startsWith('/sessions/a%2Fb/events?position=0&'));
});

test('a page without progress ends the load', async () => {
  const page = {events: [], has_more: true, first_seq: 0, last_seq: 0, max_seq: 0, length: 9, next_position: 0};
  assert.deepEqual(await loadEvents('a', async () => page, new AbortController().signal, () => undefined), []);
});
