/** AnnotationService over the wire, with gRPC for Node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { TrackerApi, refusal, startTracker, stateOf, unique } from './support/tracker_api.js';

const TIMEOUT = { timeout: stretched(30_000) };

let tracker;
let api;

before(async () => {
  tracker = await startTracker();
  api = new TrackerApi(tracker.address);
});

after(async () => {
  api?.close();
  await tracker?.stop();
});

async function ask(settings) {
  return (await api.call('RequestAnnotations', settings, api.annotations)).command;
}

const drawn = (n) => JSON.stringify({ annotations: [], n });

function draw(drawing, content, command_ids = [], drawing_id = '') {
  const request = { drawing: { ...drawing, content: Buffer.from(content) }, command_ids, drawing_id };
  return api.call('AppendAnnotations', request, api.annotations);
}

test('a drawing completes those who wait for it, and wakes them', TIMEOUT, async () => {
  const target = unique('target');
  const one = await ask({ target, tab_id: 7, client_id: 'one' });
  const two = await ask({ target, client_id: 'two' });
  const other = await ask({ target, tab_id: 8 });
  assert.match(one.command_id, /^ann_\d+_[0-9a-f]{32}$/);
  assert.equal(stateOf(one), 'QUEUED');

  const waiting = api.reached(one.command_id, 'COMPLETED', 'one');
  const appended = await draw({ target, tab_id: 7 }, '{"annotations":[]}');
  assert.deepEqual(appended, {
    completed_command_ids: [one.command_id, two.command_id], stored: true,
  });
  assert.equal((await waiting).result.toString(), '{"annotations":[]}');
  assert.equal(stateOf(await api.get(other.command_id)), 'QUEUED');
  const named = await draw({ target, tab_id: 9 }, drawn(1), [other.command_id]);
  assert.deepEqual(named.completed_command_ids, [other.command_id]);
});

test('a drawing that is handed in again is the same', TIMEOUT, async () => {
  const target = unique('target');
  const { command_id: id } = await ask({ target });
  const drawing = { target, tab_id: 7, session: 'review' };
  const first = await draw(drawing, drawn(1), [], 'd1');
  assert.deepEqual(first, { completed_command_ids: [id], stored: true });
  assert.deepEqual(await draw(drawing, drawn(1), [], 'd1'), first);
  const { drawings } = await api.call('ListAnnotations', { target }, api.annotations);
  assert.equal(drawings.length, 1);
});

test('a drawing that nobody waited for is found once, and listed', TIMEOUT, async () => {
  const target = unique('target');
  await draw({ target, tab_id: 7, session: 'review', url: 'http://page/' }, drawn(1));
  await draw({ target, tab_id: 8, session: 'review' }, drawn(2));
  const request = { target, session: 'review' };
  assert.equal((await ask(request)).result.toString(), `[${drawn(1)},${drawn(2)}]`);
  assert.equal(stateOf(await ask(request)), 'QUEUED');
  const { drawings } = await api.call('ListAnnotations', request, api.annotations);
  assert.deepEqual(drawings.map(({ content }) => content.toString()), [drawn(2), drawn(1)]);
  assert.equal(drawings[1].url, 'http://page/');
});

test('refusals say what to do', TIMEOUT, async () => {
  await assert.rejects(draw({}, ''), refusal('INVALID_ARGUMENT', 'invalid_argument'));
  await assert.rejects(
    draw({}, '1'.repeat(8 << 20)), refusal('INVALID_ARGUMENT', 'drawing_too_large'));
  const request = { target: unique('target'), client_id: unique('client') };
  for (let i = 0; i < 100; ++i) await ask(request);
  await assert.rejects(
    ask(request), refusal('RESOURCE_EXHAUSTED', 'too_many_waits', { retryAfterMs: '5000' }));
});
