/** The extension in a real Chromium that ends its service worker. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import {
  assertComplete,
  assertError,
  ExtensionSetting,
  release,
  UNTIL_RELEASED,
} from './support/extension_setting.js';
import { stretched } from '../support/patience.js';

let setting;
let gateway;
let pages;
let browser;

before(async () => {
  setting = await ExtensionSetting.start();
  ({ gateway, pages, browser } = setting);
});
after(() => setting?.stop());

const open = (path) => setting.open(path);

describe('a delivery', () => {
  let page;
  const count = { action: 'execute_js', script: 'window.count = (window.count ?? 0) + 1' };
  const read = { action: 'execute_js', script: 'window.count' };

  before(async () => ({ page } = await open('/')));
  after(() => page?.close());

  test('runs once, however often it is delivered', async () => {
    const command = gateway.send(count);
    gateway.send(count, command);
    await gateway.finalOf(command);
    gateway.send(count, command);
    assert.equal(assertComplete(await gateway.run(read)), 1);
    assert.equal(gateway.postsOf(command).length, 1);
  });

  test('is not repeated after a worker restart; an interrupted one is reported', async () => {
    const options = await browser.openExtensionPage('/options.html');
    await page.bringToFront();
    const done = gateway.send(count);
    await gateway.finalOf(done);
    const cut = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    await page.waitForFunction(() => 'release' in window);
    await browser.suspendWorker();
    await gateway.pollDropped();

    const poll = gateway.nextPoll();
    // Any event that the worker listens to starts it; a changed setting is one.
    await options.fill('[name=name]', 'Renamed');
    await options.getByRole('button', { name: 'Save' }).click();
    await poll;
    await gateway.status(({ name }) => name === 'Renamed');
    const error = assertError((await gateway.finalOf(cut)).body, 'execution_failed');
    assert.equal(error.may_have_executed, true);
    gateway.send(count, done);
    gateway.send(count, cut);
    assert.equal(assertComplete(await gateway.run(read)), 2);
    assert.equal(gateway.postsOf(done).length, 1);
    assert.equal(gateway.postsOf(cut).length, 1);
    await options.close();
  });
});

describe('a service worker that is terminated', () => {
  // Each test has a page of its own: scripts of an earlier test would look like its own.
  let page;
  beforeEach(async () => ({ page } = await open('/')));
  afterEach(() => page?.close());

  const count = (id) => ({
    action: 'execute_js',
    script: `fetch("/count?id=${id}").then((answer) => answer.text())`,
  });

  test('leaves a result that the gateway has not accepted to its successor', async () => {
    const command = gateway.send({ action: 'execute_js', script: UNTIL_RELEASED });
    gateway.answer(command, 'complete', { code: 503, body: {} });
    await release(page, 'kept');
    const first = await gateway.post(command, 'complete');
    assert.equal(first.code, 503);
    await browser.restartWorker(page);
    const accepted = await gateway.acceptedPost(command);
    // The work ended longer ago by now.
    const [told, again] = [first, accepted].map(({ body: { work, ...body } }) =>
      ({ ...body, duration_ms: work.duration_ms }));
    assert.deepEqual(again, told);
    assert.ok(accepted.body.work.ended_ms_ago >= first.body.work.ended_ms_ago);
    assert.equal(assertComplete(accepted.body), 'kept');
  });

  test('leaves a queued command to its successor, which runs it once', async () => {
    const fields = { timeout_ms: 60_000 };
    const [cut, waiting] = gateway.sendTogether([
      { params: { action: 'execute_js', script: UNTIL_RELEASED }, ...fields },
      { params: count('waiting'), ...fields },
    ]);
    await page.waitForFunction(() => 'release' in window);
    await browser.restartWorker(page);
    assertError((await gateway.finalOf(cut)).body, 'execution_failed');
    assert.equal(assertComplete((await gateway.finalOf(waiting)).body), '1');
    assert.equal(gateway.postsOf(waiting)[0].body.status, 'pending');
    assert.equal(pages.counts.get('waiting'), 1);
  });

  test('leaves no command to start that was cancelled or abandoned in the meantime', async () => {
    const [cut, waiting] = gateway.sendTogether([
      { params: { action: 'execute_js', script: UNTIL_RELEASED } },
      { params: count('given up') },
    ]);
    await page.waitForFunction(() => 'release' in window);
    gateway.answer(waiting, 'pending', ...Array(3).fill({ body: { accepted: false } }));
    await browser.restartWorker(page);
    await gateway.finalOf(cut);
    await gateway.post(waiting, 'pending');
    assertComplete(await gateway.run({ action: 'get_page' }));
    assert.equal(pages.counts.get('given up'), undefined);
    assert.equal(gateway.postsOf(waiting).length, 1);
  });
});

describe('a suspended service worker', () => {
  test('is woken by the alarm and polls again', { timeout: stretched(45_000) }, async () => {
    await browser.suspendWorker();
    await gateway.pollDropped();
    await gateway.nextPoll();
    assert.equal((await gateway.run({ action: 'navigate', url: pages.url })).status, 'complete');
  });
});
