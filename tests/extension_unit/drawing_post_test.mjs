import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { createDrawingPost } from '../../extension/src/draw_mode/drawing_post.js';
import { openDrawings } from '../../extension/src/draw_mode/drawings.js';
import { GatewayRefused, GatewayUnavailable } from '../../extension/src/gateway_client.js';
import { FakeStorage } from './support/fake_storage.mjs';
import { settled } from './support/settled.mjs';

let attempts;
let answers;
let drawings;
let drawing;
let post;
let stop;

/** Gives the test's answers, and `GatewayUnavailable` after that. */
const gateway = {
  async completeDrawing(body) {
    attempts.push(body);
    const answer = answers.shift() ?? new GatewayUnavailable('down');
    if (answer instanceof Error) throw answer;
    return answer;
  },
};

async function elapse(ms) {
  for (let passed = 0; passed < ms; passed += 250) {
    mock.timers.tick(250);
    await settled();
  }
}

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  attempts = [];
  answers = [];
  stop = new AbortController();
  drawings = await openDrawings(new FakeStorage());
  drawing = await drawings.add({ id: 'd-1', tabId: 7, state: 'sending', annotations: [] });
  const settings = { workerId: 'w-1', target: 'browser' };
  const { signal } = stop;
  post = createDrawingPost({ gateway, settings, drawings, random: () => 1, log() {}, signal });
});

describe('the post of a drawing', () => {
  test('is retried for as long as the gateway is unavailable', async () => {
    const delivered = post.deliver(drawing);
    await elapse(600_000);
    assert.ok(attempts.length > 100, `${attempts.length} attempts`);
    assert.ok(drawings.get('d-1'));
    answers = [{ status: 'ok' }];
    await elapse(5_000);
    await delivered;
    assert.deepEqual(attempts.at(-1), attempts[0]);
    assert.equal(drawings.get('d-1'), undefined);
  });

  test('happens only once, however often it is requested', async () => {
    answers = [{ status: 'ok' }];
    await Promise.all([post.deliver(drawing), post.deliver(drawing)]);
    assert.equal(attempts.length, 1);
  });

  test('keeps a drawing that the gateway refuses, with the reason', async () => {
    answers = [new GatewayRefused('/draw-mode/complete answered 403')];
    await post.deliver(drawing);
    assert.equal(attempts.length, 1);
    assert.equal(drawings.get('d-1').state, 'refused');
    assert.match(drawings.get('d-1').error, /403/);
  });

  test('ends when the drawing is discarded', async () => {
    const delivered = post.deliver(drawing);
    await settled();
    await drawings.remove('d-1');
    await elapse(5_000);
    await delivered;
    assert.equal(attempts.length, 1);
  });

  test('ends when it is aborted, and keeps the drawing for a later post', async () => {
    const delivered = post.deliver(drawing);
    await settled();
    stop.abort();
    await delivered;
    await elapse(60_000);
    assert.equal(attempts.length, 1);
    assert.equal(drawings.get('d-1').state, 'sending');
  });
});
