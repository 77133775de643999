/** A tracker that is killed and started again: waiting callers do not notice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from '../e2e/support/agent.js';
import { stretched } from '../support/patience.js';
import { Fleet } from './support/fleet.js';

const TIMEOUT = { timeout: stretched(60_000) };

class Installation {
  static async start(context) {
    const installation = new Installation();
    installation.fleet = await Fleet.start();
    installation.agent = await Agent.overHttp(installation.fleet.gatewayUrl(0));
    context.after(async () => {
      await installation.agent.close();
      await installation.fleet.stop();
    });
    return installation;
  }

  async restartTracker() {
    await this.fleet.tracker.kill();
    await this.fleet.startTracker();
  }

  /** The answer to one of an extension's requests. */
  async asExtension(path, body) {
    const init = body === undefined ? {} : {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    for (;;) {
      const response = await fetch(`${this.fleet.gatewayUrl(0)}${path}`, init);
      // Until the gateway has reconnected to the tracker.
      if (response.status !== 503) return response.json();
    }
  }

  draw(drawing) {
    return this.asExtension('/draw-mode/complete', {
      tab_id: 7, annotations: [{ kind: 'rectangle', note: 'here' }], ...drawing });
  }
}

test('a wait that began before a tracker restart is answered after it', TIMEOUT,
  async (context) => {
  const installation = await Installation.start(context);
  const { agent } = installation;
  const id = await agent.submit({ action: 'get_page' });
  const waiting = agent.ask(id, 30_000);
  const [query] = await installation.asExtension('/pending-queries');
  await installation.restartTracker();
  // The result of a delivery from before the kill.
  const report = { id: query.id, correlation_id: id, status: 'complete', result: { n: 1 } };
  await installation.asExtension('/query-result', report);
  const { status, result } = await waiting;
  assert.deepEqual({ status, result }, { status: 'complete', result: { n: 1 } });
});

test('a drawing after a tracker restart completes an earlier request', TIMEOUT, async (context) => {
  const installation = await Installation.start(context);
  const { structuredContent } = await installation.agent.call('analyze', {
    what: 'annotations', wait: true });
  assert.equal(structuredContent.final, false);
  const id = structuredContent.correlation_id;
  await installation.restartTracker();
  const { completed } = await installation.draw({ drawing_id: 'd-1' });
  assert.deepEqual(completed, [id]);
  // Submitted again, since the first answer might have been lost.
  await installation.restartTracker();
  assert.deepEqual((await installation.draw({ drawing_id: 'd-1' })).completed, [id]);
  const answer = await installation.agent.ask(id, 5_000);
  assert.equal(answer.status, 'complete');
});

test('a stored drawing is still available after a tracker restart', TIMEOUT, async (context) => {
  const installation = await Installation.start(context);
  const { stored } = await installation.draw({ drawing_id: 'd-2' });
  assert.equal(stored, true);
  await installation.restartTracker();
  let answer;
  do {
    answer = (await installation.agent.call('analyze', { what: 'annotations' })).structuredContent;
  } while (answer.error === 'tracker_unreachable');
  assert.match(JSON.stringify(answer), /"note":"here"/);
});
