import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {JsonObject, SessionEvent} from '../src/api/types.ts';
import {cut, sizeOf} from '../src/conversation/cut.ts';
import {EventLog, reduce} from '../src/conversation/log.ts';

const most = 16_384;
const event = (data: JsonObject, seq = 1): SessionEvent => ({seq, type: 'tool_call_update', timestamp: '', data});

test('an event that fits stays unchanged', () => {
  const short = event({tool_call_id: 't', raw_output: 'x'.repeat(most - 100)});
  assert.equal(cut(short, most), short);
});

test('the longest strings are truncated to the same length, and short ones stay', () => {
  const long = event({tool_call_id: 'call-1', status: 'completed', raw_output: {output: 'a'.repeat(4 << 20), exit_code: 0},
    content: [{type: 'text', text: 'b'.repeat(50_000)}, {type: 'text', text: 'c'.repeat(300)}]});
  const {data, omitted_bytes: omitted} = cut(long, most);
  assert.ok(sizeOf(event(data)) <= most && sizeOf(event(data)) > most - 100);
  const {output, exit_code: code} = data.raw_output as JsonObject;
  const [b, c] = data.content as {text: string}[];
  assert.equal(String(output).length, b!.text.length);
  assert.deepEqual([data.tool_call_id, data.status, code, c!.text.length], ['call-1', 'completed', 0, 300]);
  assert.equal(omitted, sizeOf(long) - sizeOf(event(data)));
});

test('an event of any structure is truncated to the limit', () => {
  const values: JsonObject[] = [
    {raw_output: Array.from({length: 100_000}, (_, at) => at)}, {raw_output: Array.from({length: 5_000}, () => 'x'.repeat(100))},
    {raw_output: '\u0001'.repeat(100_000)}, {raw_output: '😀'.repeat(50_000)}, {raw_output: '"\\'.repeat(50_000)},
    Object.fromEntries(Array.from({length: 5_000}, (_, at) => [`name ${at}`, 'x'.repeat(50)]))];
  for (const value of values) {
    const {data, omitted_bytes: omitted} = cut(event({tool_call_id: 't', status: 'failed', ...value}), most);
    assert.ok(sizeOf(event(data)) <= most);
    assert.ok(omitted! > 0);
    if (!('name 0' in value)) assert.deepEqual([data.tool_call_id, data.status], ['t', 'failed']);
    assert.doesNotMatch(JSON.stringify(data), /\\ud83d"/);
  }
});

test('a part lists its truncated events until their full versions arrive', () => {
  const events = [{...event({tool_call_id: 't', raw_input: 'a'}), omitted_bytes: 10},
    {...event({tool_call_id: 't', raw_output: 'b'}, 2), omitted_bytes: 20}, event({tool_call_id: 't', status: 'completed'}, 3)];
  const log = new EventLog();
  log.add(events);
  assert.deepEqual([log.parts[0]?.omitted, log.parts[0]?.cut], [30, [1, 2]]);
  log.replace(event({tool_call_id: 't', raw_input: 'all of a'}));
  assert.deepEqual([log.parts[0]?.omitted, log.parts[0]?.cut], [20, [2]]);
  assert.equal(reduce(events.slice(2)).parts[0]?.cut, undefined);
});

test('the log drops its oldest events and records that they are missing', () => {
  const log = new EventLog();
  const size = sizeOf(event({tool_call_id: 't', raw_output: 'x'.repeat(1_000)}));
  const events = (from: number, to: number) => Array.from({length: to - from + 1}, (_, at) =>
    event({tool_call_id: 't', raw_output: 'x'.repeat(1_000)}, from + at));
  log.add(events(1, 10), 1, 10);
  log.add(events(15, 30), 15, 30);
  assert.equal(log.bytes, 26 * size);
  log.forget(20 * size);
  assert.deepEqual([log.start, log.end, log.hole, log.events.length, log.bytes], [7, 30, {from: 11, to: 14}, 20, 20 * size]);
  log.forget(10 * size);
  assert.deepEqual([log.start, log.end, log.hole, log.events.length], [21, 30, null, 10]);
  log.add(events(11, 20), 11, 20);
  assert.deepEqual([log.start, log.events.length], [11, 20]);
  log.forget(0);
  assert.deepEqual([log.events.length, log.start], [1, 30]);
});
