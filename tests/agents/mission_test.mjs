/**
 * The whole way: a message over REST, queue, runner, opencode, fake model, the gateway's tools,
 * tracker, extension, a page in Chromium, and back to an observer over a WebSocket. Then the same
 * story again, with the tracker killed at a different point each time.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { House } from '../e2e/support/house.js';
import { stretched } from '../support/patience.js';
import { opencode } from './support/agents.js';
import { Setting } from './support/setting.js';

/** Ends when the test calls `release(value)` in the page; `runs` counts the executions. */
const UNTIL_RELEASED = `window.runs = (window.runs ?? 0) + 1;
  new Promise((resolve) => { window.release = resolve; })`;

/** The points of the story at which the tracker is killed. */
const POINTS = ['before the model speaks', 'in the middle of a command', 'before the model answers'];

describe('a message about a page', { timeout: stretched(280_000) }, () => {
  let house;
  let setting;
  before(async () => {
    house = await House.open();
    setting = await Setting.open(opencode, { services: house });
  });
  after(() => house?.close());

  /** Lets the model use a page, and calls `reaches` at each point. */
  async function story(name, reaches) {
    const { model, sessions } = setting;
    const page = await house.browser.open(`${house.pages.url}/`);
    const tab_id = await house.browser.tabIdOf(page);
    const interact = (args) =>
      ({ call: opencode.tool('interact'), args: { tab_id, wait_ms: 20_000, ...args } });
    const collect = { collect: opencode.tool('observe') };
    const [first, second, third] = POINTS;
    const hold = (point) => `${name}: ${point}`;
    const passes = async (point) => {
      await model.reached(hold(point));
      await reaches(point);
      model.release(hold(point));
    };

    const id = await setting.begin();
    const watcher = await sessions.watch(id);
    await watcher.ofType('connected');
    await sessions.say(id, [
      { hold: hold(first) }, { say: 'I look. ' },
      interact({ action: 'click', selector: '#go' }), collect,
      interact({ action: 'execute_js', script: UNTIL_RELEASED, timeout_ms: 60_000, wait_ms: 0 }),
      collect,
      { hold: hold(third) }, { repeat: true }]);
    await passes(first);
    await page.waitForFunction(() => 'release' in window);
    // The result is ready while the tracker is down.
    await reaches(second, () => page.evaluate(() => window.release(`a secret of ${document.title}`)));
    await passes(third);

    const [turn] = await setting.ended(id);
    assert.deepEqual([turn.outcome, turn.stop_reason], ['completed', 'end_turn']);
    assert.match(await sessions.answer(id), /^I look\. .*a secret of Test page/s);
    assert.equal(await page.getAttribute('#go', 'data-clicks'), '1');
    assert.equal(await page.evaluate(() => window.runs), 1);
    // The observer has seen all events, each once and in order.
    const events = await setting.events(id);
    await watcher.withSeq(events.at(-1).seq);
    const live = watcher.messages.filter(({ seq }) => seq !== undefined);
    assert.equal(live[0].type, 'user_prompt');
    assert.deepEqual(live, events.filter(({ seq }) => seq >= live[0].seq));
    for (const type of ['user_prompt', 'turn_end']) {
      assert.equal(events.filter((event) => event.type === type).length, 1, type);
    }
    assert.deepEqual(events.filter(({ type }) => type === 'error'), []);
    watcher.socket.terminate();
    await page.close();
  }

  test('is answered from the browser', () => setting.step(() =>
    story('undisturbed', (point, meanwhile) => meanwhile?.())));

  for (const victim of POINTS) {
    test(`is answered from the browser when the tracker is killed ${victim}`,
      () => setting.step(() =>
      story(victim, async (point, meanwhile) => {
        if (point !== victim) return meanwhile?.();
        await house.tracker.kill();
        await meanwhile?.();
        await house.startTracker();
      })));
  }
});
