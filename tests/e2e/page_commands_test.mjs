/** Commands, failures, workers and the overview at the page, with a real tracker and gateway. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { OtlpCollector } from './support/otlp_collector.js';
import { checkAccess, PageSetting, screen } from './support/page.js';
import { until } from './support/runner.js';
import { TrackerApi } from './support/tracker_api.js';

const failing = (code) => ({ error: { code, message: 'The element is not there.', hint: 'Look at the page first.' } });

describe('commands on the page', { timeout: stretched(300_000) }, () => {
  let setting;
  let tracker;
  let collector;
  before(async () => {
    collector = await OtlpCollector.start();
    // For the processes that the setting starts.
    Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpUrl, OTEL_BSP_SCHEDULE_DELAY: '50' });
    setting = await PageSetting.open({ runner: false });
    setting.services.onClose(() => collector.close());
    tracker = new TrackerApi(setting.services.tracker.address);
    setting.services.onClose(async () => tracker.close());
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  const open = (path, options) => setting.visit(path, options);
  const command = (more) => tracker.register({ type: 'execute_js', target: 'browser',
    params: Buffer.from('{"script":"document.title"}'), ...more });
  const call = async (path) => {
    const response = await fetch(`${setting.services.gatewayUrl}/api${path}`);
    assert.equal(response.status, 200, path);
    return response.json();
  };
  const row = (page, id) => page.locator(`tr:has(a[data-id="${id}"])`);
  const shows = (page, id, status) => until(async () =>
    (await row(page, id).count()) === 1 && (await row(page, id).getAttribute('data-status')) === status);

  test('empty views show what to do', () => step(async () => {
    const page = await open('commands');
    await page.getByText('No commands yet. Connect an agent').waitFor();
    await checkAccess(page, 'commands');
    await screen(page, 'commands-empty');
    for (const [path, words] of [['failed', 'No failures in the last 10 minutes'],
      ['workers', 'No workers are connected and no commands are queued'], ['overview', 'No worker is connected']]) {
      await page.goto(setting.url(path));
      await page.getByText(words).first().waitFor();
      await checkAccess(page, path);
      await screen(page, `${path}-empty`);
    }
  }));

  test('are updated live until each has the status of the tracker', () => step(async () => {
    const page = await open('commands');
    await until(async () => (await page.getByText('live', { exact: true }).count()) > 0);
    const [first, second, third] = [await command(), await command({ type: 'click' }), await command({ type: 'navigate' })];
    for (const { command_id: id } of [first, second, third]) await shows(page, id, 'pending');
    const leases = await tracker.lease('browser', 'w1', { max_commands: 3 });
    await tracker.acknowledge(leases[0]);
    await row(page, first.command_id).getByText('running').waitFor();
    await tracker.complete(leases[0], { result: Buffer.from('{"title":"A page"}') });
    await tracker.complete(leases[1], failing('element_not_found'));
    await shows(page, first.command_id, 'complete');
    await shows(page, second.command_id, 'error');
    // Each command's row shows the API's status.
    const { commands } = await call('/commands');
    for (const { correlation_id: id, status } of commands) await shows(page, id, status);

    await page.getByRole('searchbox', { name: 'Filter', exact: true }).fill('element_not');
    await until(async () => (await page.locator('tr[data-status]').count()) === 1);
    assert.match(page.url(), /q=element_not/);
    await page.getByLabel('Status').selectOption('complete');
    await page.getByText(/^0 of 3 commands match/).waitFor();
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await until(async () => (await page.locator('tr[data-status]').count()) === 3);

    // The detail of one command, with its params and its result.
    await row(page, first.command_id).locator('a').click();
    const detail = page.getByRole('region', { name: 'Command', exact: true });
    await detail.getByText('A page').waitFor();
    await detail.getByText('document.title').waitFor();
    await detail.getByText(/^Trace \(\d+ steps\)$/).click();
    const told = await call(`/commands/${first.command_id}`);
    const start = Date.parse(told.trace[0].time);
    assert.deepEqual(await detail.locator('.trace li .number').allTextContents(),
      told.trace.map(({ time }) => `+${Date.parse(time) - start} ms`));
    // Its spans are drawn to scale, with the ids that a collector has.
    const spans = detail.locator('.spans tr');
    assert.deepEqual(await spans.locator('th').allTextContents(),
      told.spans.map(({ name, worker }) => (worker ? `${name} · ${worker}` : name)));
    const lengthOf = ({ start: from, end }) => Date.parse(end) - Date.parse(from);
    const [whole] = told.spans;
    const share = (ms) => (ms / Math.max(1, lengthOf(whole))) * 100;
    const drawn = await spans.locator('rect').evaluateAll((all) =>
      all.map((bar) => [Number(bar.getAttribute('x')), Number(bar.getAttribute('width'))]));
    for (const [at, span] of told.spans.entries()) {
      const expected = [share(Date.parse(span.start) - Date.parse(whole.start)), Math.max(0.6, share(lengthOf(span)))];
      assert.deepEqual(drawn[at].map((each) => each.toFixed(3)), expected.map((each) => each.toFixed(3)), span.name);
    }
    const ids = await spans.locator('code').allTextContents();
    assert.deepEqual(ids, told.spans.map(({ span_id: id }) => id));
    await collector.untilSo(() => ids.every((id) => collector.spans.some((span) => span.id === id)));
    await checkAccess(page, 'a command');
    await screen(page, 'command');
    // The page only peeks: the result is still there for its submitter.
    assert.equal((await tracker.get(first.command_id)).state, 'COMMAND_STATE_COMPLETED');
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    assert.equal(await row(page, third.command_id).count(), 1);
  }));

  test('are cancelled and replayed only once on a double click', () => step(async () => {
    const waiting = await command({ target: 'nobody' });
    const page = await open(`commands/${waiting.command_id}`);
    await page.getByRole('button', { name: 'Cancel command' }).dblclick();
    const detail = page.getByRole('region', { name: 'Command', exact: true });
    await until(async () => (await detail.getAttribute('data-status')) === 'cancelled');
    assert.equal((await tracker.get(waiting.command_id)).state, 'COMMAND_STATE_CANCELLED');

    const failed = await command({ target: 'twice' });
    const [lease] = await tracker.lease('twice', 'w');
    await tracker.acknowledge(lease);
    await tracker.complete(lease, failing('page_changed'));
    await page.goto(setting.url(`commands/${failed.command_id}`));
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    // The command has been executed, so the page asks for confirmation.
    await page.getByRole('button', { name: 'Replay anyway' }).dblclick();
    await page.getByText('Replayed as').waitFor();
    const { commands } = await call('/commands?target=twice');
    assert.deepEqual(commands.map(({ replay_of: of }) => of).sort(), [failed.command_id, undefined].sort());
    await page.getByText('Replayed as').getByRole('link').click();
    await page.getByText('Replay of').waitFor();
  }));

  test('are grouped by their failure, and a group can be replayed', () => step(async () => {
    for (let i = 0; i < 3; i += 1) {
      await command({ target: 'group' });
      const [lease] = await tracker.lease('group', 'w');
      await tracker.complete(lease, failing('session_expired'));
    }
    const page = await open('failed');
    const group = page.getByRole('region', { name: 'session_expired' });
    await group.getByText('×3').waitFor();
    await checkAccess(page, 'failed');
    await screen(page, 'failed');
    await group.getByRole('button', { name: /session_expired/ }).click();
    assert.equal(await group.getByRole('link', { name: 'execute_js' }).count(), 3);
    await group.getByRole('button', { name: 'Replay 3' }).click();
    const anyway = group.getByRole('button', { name: 'Replay all 3' });
    await group.getByText('3 of 3 replayed').or(anyway).first().waitFor();
    if (await anyway.count()) await anyway.click();
    await group.getByText('3 of 3 replayed').waitFor();
    const { commands } = await call('/commands?target=group&stage=queued');
    assert.equal(commands.length, 3);
    assert.ok(commands.every(({ replay_of: of }) => of));
  }));

  test('are shown with their workers and with targets that have no worker', () => step(async () => {
    const page = await open('workers');
    const targets = page.getByRole('region', { name: 'Targets' });
    const target = (name) => targets.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await command({ target: 'ci-runner' });
    await target('ci-runner').getByText('no worker connected').waitFor();
    const held = tracker.lease('ci-runner', 'builder', { max_commands: 1 });
    const [lease] = await held;
    await tracker.acknowledge(lease);
    await target('ci-runner').getByText('1 of 1').waitFor();
    await page.getByRole('searchbox', { name: 'Filter targets' }).fill('CI-');
    await until(async () => (await targets.getByRole('row').count()) === 2);
    await target('ci-runner').getByRole('link').click();
    const worker = page.getByRole('article').filter({ hasText: 'builder' });
    await worker.getByRole('link', { name: 'execute_js' }).waitFor();
    await checkAccess(page, 'workers');
    await screen(page, 'workers');
  }));

  test('are shown again after restarts of the gateway and the tracker', () => step(async () => {
    const page = await open('commands');
    await until(async () => (await page.locator('tr[data-status]').count()) > 0);
    await setting.services.gateway.kill();
    await page.getByText('connecting…').first().waitFor();
    const meanwhile = await command({ target: 'away' });
    await setting.services.startGateway();
    await shows(page, meanwhile.command_id, 'pending');
    await setting.services.tracker.kill();
    await setting.services.startTracker();
    tracker.close();
    tracker = new TrackerApi(setting.services.tracker.address);
    const later = await command({ target: 'away' });
    await shows(page, later.command_id, 'pending');
    await tracker.call('CancelCommand', { command_id: meanwhile.command_id });
    await shows(page, meanwhile.command_id, 'cancelled');
  }));

  test('are accessible and fit the width, wide and narrow, light and dark', () => step(async () => {
    for (const width of [1280, 320]) {
      for (const colours of ['light', 'dark']) {
        const page = await open('commands', { width, height: width === 320 ? 640 : 800, colours });
        await until(async () => (await page.locator('tr[data-status]').count()) > 0);
        for (const path of ['commands', 'failed', 'workers', 'overview']) {
          await page.goto(setting.url(path));
          await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
          if (path === 'overview') await page.getByText('Submitted', { exact: true }).waitFor();
          if (path === 'failed') await page.getByRole('list', { name: 'Failures' }).waitFor();
          if (path === 'workers') await page.getByRole('region', { name: 'Targets' }).waitFor();
          const where = `${path}-${width}-${colours}`;
          await checkAccess(page, where);
          await screen(page, where);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${where} is ${wide} px wide`);
        }
        await page.close();
      }
    }
  }));

  test('update the rates on the overview as they arrive', () => step(async () => {
    const page = await open('overview');
    const tile = page.locator('.tile').filter({ hasText: 'Submitted' }).locator('.tile-value');
    await tile.waitFor();
    await until(async () => {
      await command({ target: 'rates' });
      return (await tile.textContent()) !== '0/s';
    });
  }));

  test('no browser logs an error', () => {
    assert.deepEqual(setting.complaints(), []);
  });
});

describe('ten thousand targets', { timeout: stretched(180_000) }, () => {
  const TARGETS = 10_000;
  const AT_ONCE = 200;
  let setting;
  before(async () => { setting = await PageSetting.open({ runner: false }); });
  after(() => setting?.close());

  test('can be filtered and are never loaded all at once', () => setting.services.step(async () => {
    const tracker = new TrackerApi(setting.services.tracker.address);
    setting.services.onClose(async () => tracker.close());
    for (let from = 0; from < TARGETS; from += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => tracker.register({ target: `shop-${from + at}` })));
    }
    await Promise.all([1, 2, 3].map(() => tracker.register({ target: 'shop-4711' })));
    const person = await setting.person();
    const page = await person.context.newPage();
    const bodies = [];
    page.on('response', async (response) => {
      if (response.url().includes('/api/targets')) bodies.push((await response.text().catch(() => '')).length);
    });
    await page.goto(setting.url('workers'));
    const region = page.getByRole('region', { name: 'Targets' });
    await region.getByText('9,800 more. Filter to find them.').waitFor();
    assert.equal(await region.getByRole('row').count(), 201);
    assert.ok(bodies.every((bytes) => bytes < 64 * 1024), String(bodies));
    const frames = page.evaluate(() => new Promise((resolve) => {
      const longest = { ms: 0, last: performance.now() };
      const frame = (at) => {
        longest.ms = Math.max(longest.ms, at - longest.last);
        longest.last = at;
        if (window.isDone) resolve(longest.ms);
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }));
    frames.catch(() => {});
    await page.getByRole('searchbox', { name: 'Filter targets' }).fill('SHOP-4711');
    await until(async () => (await region.getByRole('row').count()) === 2);
    await region.getByRole('row').filter({ hasText: 'shop-4711' }).getByText('4', { exact: true }).waitFor();
    await region.getByRole('link', { name: 'shop-4711' }).click();
    await page.getByText('No worker for shop-4711 was seen').waitFor();
    await page.evaluate(() => { window.isDone = true; });
    console.log(`longest frame ${(await frames).toFixed(0)} ms, ${Math.max(...bodies)} bytes a poll`);
    await screen(page, 'workers-many');
    assert.deepEqual(person.complaints, []);
  }));
});

describe('commands on a guarded page', { timeout: stretched(300_000) }, () => {
  let setting;
  let tracker;
  before(async () => {
    setting = await PageSetting.open({ runner: false, guarded: true });
    tracker = new TrackerApi(setting.services.tracker.address);
    setting.services.onClose(async () => tracker.close());
  });
  after(() => setting?.close());
  const enter = async (name, path) => {
    const page = await (await setting.person()).open(path);
    await page.getByLabel('Token').fill(await setting.services.tokenOf(name));
    await page.getByRole('button', { name: 'Sign in' }).click();
    return page;
  };

  test('a viewer sees all commands but cannot change any', () => setting.services.step(async () => {
    const { command_id: id } = await tracker.register({ client_id: 'agent', target: 'nobody' });
    const viewer = await enter('viewer', `commands/${id}`);
    const detail = viewer.getByRole('region', { name: 'Command', exact: true });
    await detail.getByText('nobody', { exact: true }).waitFor();
    await viewer.locator(`a[data-id="${id}"]`).waitFor();
    assert.equal(await viewer.getByRole('button', { name: 'Cancel command' }).count(), 0);
    await viewer.goto(setting.url('overview'));
    await viewer.getByText('Submitted', { exact: true }).waitFor();
  }));

  test('a client sees only its own, and its page sends no forbidden requests', () => setting.services.step(async () => {
    const { command_id: own } = await tracker.register({ client_id: 'agent', target: 'mine' });
    const { command_id: other } = await tracker.register({ client_id: 'somebody', target: 'theirs' });
    const client = await enter('agent', 'commands');
    await client.locator(`a[data-id="${own}"]`).waitFor();
    assert.equal(await client.locator(`a[data-id="${other}"]`).count(), 0);
    const refused = [];
    client.on('response', (response) => { if (response.status() === 403) refused.push(response.url()); });
    for (const path of ['overview', 'workers', 'failed']) {
      await client.goto(setting.url(path));
      await client.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    }
    await client.goto(setting.url('workers'));
    await client.getByRole('link', { name: 'mine', exact: true }).waitFor();
    assert.equal(await client.getByRole('link', { name: 'theirs', exact: true }).count(), 0);
    assert.deepEqual(refused, []);
  }));
});
