import assert from 'node:assert/strict';
import {test} from 'node:test';
import {groupsOf} from '../src/commands/groups.ts';
import {filterOf, matches, stateOf, type Command} from '../src/commands/model.ts';
import {CommandStore, keptEnded, keptLive} from '../src/commands/store.ts';
import {deadlinesOf, lasted, phasesOf, spanRows, traceIdOf} from '../src/commands/timeline.ts';

const time = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();
const made = (id: string, more: Partial<Command> = {}): Command => ({
  correlation_id: id, command: 'execute_js', target: 'browser', status: 'pending', stage: 'queued', created_at: time(Number(id.slice(1)) || 0), ...more});
const ids = (store: CommandStore) => store.sorted().map(({correlation_id}) => correlation_id);

test('the store keeps one row for each id, newest first', () => {
  const store = new CommandStore();
  store.batch([made('c1'), made('c3'), made('c2')]);
  store.batch([made('c1', {status: 'complete'})]);
  assert.deepEqual(ids(store), ['c3', 'c2', 'c1']);
  assert.equal(store.get('c1')?.status, 'complete');
});

test('the store ignores an older revision, and a live status after a final one', () => {
  const store = new CommandStore();
  store.batch([made('c1', {revision: 4, status: 'pending', stage: 'running'})]);
  store.batch([made('c1', {revision: 2})]);
  assert.equal(store.get('c1')?.stage, 'running');
  store.batch([made('c1', {revision: 5, status: 'complete'}), made('c1', {revision: 6, status: 'expired', error: 'result_expired'})]);
  assert.equal(store.get('c1')?.status, 'expired');
  store.batch([made('c2', {status: 'error'}), made('c2', {status: 'pending'})]);
  assert.equal(store.get('c2')?.status, 'error');
});

test('a full list removes unlisted live commands, except those sent since its request', () => {
  const store = new CommandStore();
  store.batch([made('c1'), made('c2', {status: 'complete'}), made('c3')]);
  store.listing();
  store.batch([made('c4')]);
  store.listed([made('c3')], true);
  assert.deepEqual(ids(store), ['c4', 'c3', 'c2']);
  assert.deepEqual([store.isGone('c2'), store.isGone('c3'), store.isGone('c4')], [true, false, false]);
  // A partial list says nothing about other commands.
  store.listing();
  store.listed([made('c9')], false);
  assert.deepEqual(ids(store), ['c9', 'c4', 'c3', 'c2']);
  store.listing();
  store.listed([made('c2', {status: 'complete'})], true);
  assert.equal(store.isGone('c2'), false);
});

test('a command that the tracker has removed stays and is marked as gone', () => {
  const store = new CommandStore();
  store.batch([made('c1', {status: 'complete', revision: 4})]);
  store.listing();
  store.batch([made('c1', {status: 'complete', revision: 4, removed: true})]);
  store.listed([made('c1', {status: 'complete', revision: 4})], true);
  assert.equal(store.isGone('c1'), true);
  assert.deepEqual(ids(store), ['c1']);
});

test('the store keeps the last thousand ended commands', () => {
  const store = new CommandStore();
  store.batch([made('c0')]);
  for (let at = 1; at <= keptEnded + 5; at++) store.batch([made(`c${at}`, {status: 'complete'})]);
  assert.equal(store.size, keptEnded + 1);
  assert.deepEqual([store.get('c0')?.status, store.get('c5'), store.get('c6')?.status], ['pending', undefined, 'complete']);
});

test('the store also bounds the number of live commands', () => {
  const store = new CommandStore();
  store.batch([made('c0', {status: 'complete'}), ...Array.from({length: keptLive + 3}, (_, at) => made(`c${at + 1}`))]);
  assert.equal(store.size, keptLive + 1);
  assert.equal(store.get('c3'), undefined);
  assert.equal(store.get('c0')?.status, 'complete');
});

test('random batches followed by a full list give the state of the tracker', () => {
  let seed = 7;
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const statuses: Command['status'][] = ['pending', 'complete', 'error'];
  for (let round = 0; round < 50; round++) {
    const truth = new Map<string, Command>();
    const history: Command[] = [];
    const store = new CommandStore();
    for (let change = 0; change < 200; change++) {
      const id = `c${next(20)}`;
      const before = truth.get(id);
      if (before && statuses.indexOf(before.status) >= 1) continue;
      const now = made(id, {revision: (before?.revision ?? 0) + 1, status: statuses[next(3)]!});
      truth.set(id, now);
      history.push(now);
    }
    store.listing();
    for (let sent = 0; sent < 300; sent++) store.batch([history[next(history.length)]!]);
    store.listed([...truth.values()], true);
    for (const [id, row] of truth) assert.deepEqual(store.get(id), row);
    assert.equal(store.size, truth.size);
  }
});

test('a filter from the URL query matches by status, target and text', () => {
  const of = (query: string) => filterOf(new URLSearchParams(query));
  const failed = made('c1', {status: 'timeout', error: 'execution_timeout', trace: [{stage: 'sent', time: time(0), source: 'tracker', worker: 'Work Laptop'}]});
  assert.equal(matches(failed, of('')), true);
  assert.equal(matches(failed, of('status=failed')), true);
  assert.equal(matches(failed, of('status=live')), false);
  assert.equal(matches(failed, of('status=nonsense')), true);
  assert.equal(matches(made('c3', {status: 'pending', stage: 'queued'}), of('status=queued')), true);
  assert.equal(matches(made('c3', {status: 'pending', stage: 'running'}), of('status=queued')), false);
  assert.equal(matches(failed, of('status=timeout')), true);
  assert.equal(matches(failed, of('status=complete')), false);
  assert.equal(matches(failed, of('target=browser&q=LAPTOP')), true);
  assert.equal(matches(failed, of('target=other')), false);
  assert.equal(matches(failed, of('q=elsewhere')), false);
  assert.equal(matches(made('c2', {status: 'cancelled'}), of('status=failed')), false);
});

test('the state of a command has a readable name', () => {
  assert.equal(stateOf(made('c1', {status: 'pending', stage: 'running'})), 'running');
  assert.equal(stateOf(made('c1', {status: 'timeout'})), 'timed out');
});

const trace = (...entries: [string, number][]) =>
  entries.map(([stage, ms]) => ({stage, time: time(ms), source: 'tracker', worker: stage === 'sent' ? 'w' : undefined as never}));

test('phases follow the trace to the millisecond and include a returned delivery', () => {
  const command = made('c0', {status: 'complete', trace: trace(
    ['queued', 0], ['sent', 20], ['returned', 3020], ['sent', 3021], ['started', 3400], ['resolved', 5500], ['late_result', 6000])});
  assert.deepEqual(phasesOf(command, 0).map(({kind, start, end, isOpen}) => [kind, end - start, isOpen]), [
    ['queued', 20, false], ['delivered', 3000, false], ['queued', 1, false], ['delivered', 379, false], ['running', 2100, false]]);
});

test('an open phase lasts until now', () => {
  const command = made('c0', {status: 'pending', trace: trace(['queued', 0], ['sent', 20], ['started', 50])});
  const [, , running] = phasesOf(command, Date.parse(time(1050)));
  assert.deepEqual([running?.kind, running?.isOpen, running!.end - running!.start], ['running', true, 1000]);
});

test('deadlines depend on the stage, and an ended command has none', () => {
  const clocks = {schedule_to_start: 30_000, ack_wait: 3_000, start_to_close: 10_000, schedule_to_close: 45_000};
  const names = (command: Command) => deadlinesOf(command, clocks).map(({name, at}) => [name, at - Date.parse(time(0))]);
  assert.deepEqual(names(made('c0', {trace: trace(['queued', 0])})), [['schedule_to_start', 30_000], ['schedule_to_close', 45_000]]);
  assert.deepEqual(names(made('c0', {status: 'pending', trace: trace(['queued', 0], ['sent', 100])})),
    [['ack_wait', 3_100], ['start_to_close', 10_100], ['schedule_to_close', 45_000]]);
  assert.deepEqual(names(made('c0', {status: 'pending', trace: trace(['queued', 0], ['sent', 100], ['started', 200])})),
    [['start_to_close', 10_100], ['schedule_to_close', 45_000]]);
  assert.deepEqual(names(made('c0', {status: 'complete', trace: trace(['queued', 0])})), []);
});

test('durations are formatted in readable units', () => {
  const told = [0, 3, 20, 1234, 12_345, 59_700, 125_000, 3_600_000, 3_720_000, 3 * 86_400_000, -5_000].map(lasted);
  assert.deepEqual(told, ['0 s', '3 ms', '0.02 s', '1.2 s', '12 s', '1 min', '2 min 5 s', '1 h', '1 h 2 min', '3 days', '−5.0 s']);
});

test('failures are grouped, with the largest group first', () => {
  const all = [
    made('c1', {status: 'error', error: 'worker_lost', failed_at: time(9), hint: 'Look at the page.'}),
    made('c2', {status: 'expired', error: 'never_delivered', may_have_executed: false}),
    made('c3', {status: 'error', error: 'worker_lost', command: 'click', failed_at: time(5), may_have_executed: false}),
    made('c4', {status: 'error', error: 'worker_lost', command: 'click', failed_at: time(7), hint: 'Look at the page.'}),
    made('c5', {status: 'error', error: 'worker_lost', command: 'click', failed_at: time(6), hint: 'Another word.'})];
  const [lost, never] = groupsOf(all, 'error');
  assert.deepEqual([lost!.name, lost!.commands.length, lost!.mayHaveRun, lost!.first, lost!.last, lost!.kinds],
    ['worker_lost', 4, 3, time(5), time(9), ['click', 'execute_js']]);
  assert.deepEqual([lost!.hint, never!.hint], ['Look at the page.', '']);
  assert.deepEqual([never!.name, never!.mayHaveRun], ['never_delivered', 0]);
  assert.deepEqual(groupsOf(all, 'command').map(({name}) => name), ['click', 'execute_js']);
});

test('spans share one scale, and an open span lasts until now', () => {
  const rows = spanRows([
    {name: 'command execute_js', start: time(0), span_id: 'aa'},
    {name: 'queue browser', start: time(0), end: time(100), span_id: 'bb', parent_span_id: 'aa'},
    {name: 'process browser', start: time(100), worker: 'w'},
    {name: 'execute execute_js', start: time(200)},
    {name: 'work execute_js', start: time(200), end: time(300)},
  ], 1_700_000_000_000 + 400);
  assert.deepEqual(rows.map(({depth, from, to, ms, isOpen}) => [depth, from, to, ms, isOpen]),
    [[0, 0, 1, 400, true], [1, 0, 0.25, 100, false], [1, 0.25, 1, 300, true], [2, 0.5, 1, 200, true],
      [2, 0.5, 0.75, 100, false]]);
  assert.deepEqual(rows.map(({id}) => id), ['aa', 'bb', undefined, undefined, undefined]);
  assert.equal(rows[2]!.worker, 'w');
  assert.equal(traceIdOf('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'), '4bf92f3577b34da6a3ce929d0e0e4736');
});
