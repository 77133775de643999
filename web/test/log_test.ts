import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {JsonObject, SessionEvent} from '../src/api/types.ts';
import {EventLog, reduce, type Part, type ToolPart} from '../src/conversation/log.ts';

const log = (...told: [string, JsonObject][]): SessionEvent[] => told.map(([type, data], at) => (
  {seq: at + 1, timestamp: new Date(at * 1000).toISOString(), type, data}));
const call = (id: string, more: JsonObject = {}): [string, JsonObject] =>
  ['tool_call', {tool_call_id: id, title: `run ${id}`, status: 'queued', ...more}];
const update = (id: string, more: JsonObject): [string, JsonObject] =>
  ['tool_call_update', {tool_call_id: id, ...more}];
const tools = (parts: Part[]) => parts.filter((part): part is ToolPart => part.kind === 'tool');

// The same numbers each time.
function random(seed: number): (below: number) => number {
  let state = seed + 1;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

test('pieces of a message form one part, and a thought forms another', () => {
  const {parts} = reduce(log(['agent_thought', {text: 'hm'}], ['agent_message', {text: 'a', message_id: 'm'}],
    ['agent_message', {text: 'b', message_id: 'm'}], ['agent_message', {text: 'c', message_id: 'n'}]));
  assert.deepEqual(parts.map(part => [part.kind, 'text' in part && part.text]),
    [['thought', 'hm'], ['message', 'ab'], ['message', 'c']]);
});

test('two equal commands stay separate, each with its own final status', () => {
  const {parts} = reduce(log(call('cmd-1-0', {title: 'ls'}), call('cmd-1-1', {title: 'ls'}),
    update('cmd-1-1', {status: 'running'}), update('cmd-1-0', {status: 'running'}),
    update('cmd-1-1', {status: 'completed'}), update('cmd-1-0', {status: 'failed'})));
  assert.deepEqual(tools(parts).map(({id, status}) => [id, status]),
    [['cmd-1-0', 'failed'], ['cmd-1-1', 'completed']]);
});

test('a final status stays, and absent members change nothing', () => {
  const {parts} = reduce(log(update('t', {status: 'completed', raw_output: 'done'}),
    call('t', {kind: 'execute', raw_input: {command: 'ls'}}), update('t', {status: 'in_progress'})));
  const [tool] = tools(parts);
  assert.deepEqual([tool?.status, tool?.title, tool?.tool, tool?.rawOutput, tool?.rawInput],
    ['completed', 'run t', 'execute', 'done', {command: 'ls'}]);
});

test('a tool call without a reported end ends with its turn', () => {
  const end = (outcome: string): [string, JsonObject] => ['turn_end', {turn_id: 't', outcome}];
  const told = log(call('a'), update('a', {status: 'running'}), end('completed'),
    call('b'), call('c'), update('c', {status: 'failed'}), end('failed'),
    update('b', {status: 'running'}));
  const statuses = (events: SessionEvent[]) => tools(reduce(events).parts).map(({id, status}) => [id, status]);
  assert.deepEqual(statuses(told.slice(0, -1)), [['a', 'completed'], ['b', 'cancelled'], ['c', 'failed']]);
  // A command that runs after its turn is shown as running.
  assert.deepEqual(statuses(told), [['a', 'completed'], ['b', 'running'], ['c', 'failed']]);
});

test('a plan is updated in place, and each turn has its own', () => {
  const plan = (content: string): [string, JsonObject] =>
    ['plan', {entries: [{content, status: 'pending', priority: 'low'}]}];
  const {parts, plan: last} = reduce(log(plan('a'), ['agent_message', {text: 'x'}], plan('b'),
    ['user_prompt', {message: 'more'}], plan('c')));
  assert.deepEqual(parts.map(part => part.kind === 'plan' ? part.entries[0]?.content : part.kind),
    ['b', 'message', 'prompt', 'c']);
  assert.equal(last?.entries[0]?.content, 'c');
});

test('a decision is shown at its tool call or else alone, and unknown events are kept', () => {
  const {parts} = reduce(log(call('t'), ['permission', {tool_call_id: 't', outcome: 'selected'}],
    ['permission', {title: 'other'}], ['of_tomorrow', {a: [1]}]));
  assert.equal(tools(parts)[0]?.decisions.length, 1);
  assert.deepEqual(parts.map(({kind}) => kind), ['tool', 'permission', 'unknown']);
});

test('a thousand random logs give the same parts in whatever pieces they arrive', () => {
  for (let seed = 0; seed < 1000; seed++) {
    const next = random(seed);
    const events = log(...Array.from({length: 40}, (): [string, JsonObject] => {
      const id = `c${next(5)}`;
      switch (next(6)) {
        case 0: return call(id);
        case 1: return update(id, {status: 'running'});
        case 2: return update(id, {status: next(2) ? 'completed' : 'failed'});
        case 3: return ['agent_message', {text: `${next(9)}`, message_id: `m${next(2)}`}];
        case 4: return ['plan', {entries: [{content: `${next(9)}`, status: 'pending', priority: 'low'}]}];
        default: return ['user_prompt', {message: 'go on'}];
      }
    }));
    const whole = reduce(events).parts;
    const cut = next(40);
    const pieces = new EventLog();
    pieces.add(events.slice(cut));
    pieces.add(events.slice(0, cut + 1 + next(5)));
    for (const each of events) pieces.add([each]);
    assert.deepEqual(pieces.parts, whole, `seed ${seed}`);
    // The model: each tool has its first final status, or else its latest status.
    for (const tool of tools(whole)) {
      const told = events.filter(({data}) => data.tool_call_id === tool.id).map(({data}) => data.status);
      const end = told.find(status => status === 'completed' || status === 'failed');
      assert.equal(tool.status, end ?? told.at(-1), `seed ${seed}`);
    }
  }
});

test('an unchanged part stays the same object', () => {
  const pieces = new EventLog();
  pieces.add(log(call('a'), call('b')));
  const [a] = pieces.parts;
  pieces.add([{seq: 3, timestamp: '', type: 'tool_call_update', data: {tool_call_id: 'b', status: 'running'}}]);
  assert.equal(pieces.parts[0], a);
});

test('omitted bytes of a tool call are counted once for each event', () => {
  const events = log(call('t'), update('t', {raw_output: 'cut'})).map(each => ({...each, omitted_bytes: 10}));
  assert.deepEqual([reduce(events.slice(0, 1)).parts[0]?.omitted, reduce(events).parts[0]?.omitted], [10, 20]);
});
