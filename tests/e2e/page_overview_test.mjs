/**
 * The overview of the page: the last 15 minutes as charts, for eyes, keyboards and screen readers.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { checkAccess, PageSetting, screen } from './support/page.js';
import { until } from './support/runner.js';
import { TrackerApi } from './support/tracker_api.js';

const NOON = Date.parse('2026-02-01T12:00:00Z');
const CHARTS = ['Commands per second', 'Time to delivery', 'Time to completion', 'Failures by cause, per 30 s', 'Queued commands', 'Sessions'];

/**
 * 15 minutes with everything that the charts can show: a minute in which the tracker was stopped,
 * and a time without commands.
 */
function history() {
  const samples = [];
  for (let i = 0; i < 90; i += 1) {
    if (i > 40 && i < 46) continue;
    const wave = 1 + Math.sin(i / 9);
    const isIdle = i > 60 && i < 68;
    const arrivals = isIdle ? 0 : Math.round(20 + 15 * wave + (i % 7));
    samples.push({ time: new Date(NOON - (89 - i) * 10_000).toISOString(), length_ms: i === 46 ? 60_000 : 10_000,
      registered: arrivals, completed: isIdle ? 0 : Math.max(0, arrivals - 4 + (i % 5)),
      failed: {
        ...(i > 20 && i < 32 ? { never_delivered: 3 + (i % 4), extension_no_response: i % 3 } : {}),
        ...(i % 8 === 0 ? { other: 2 } : {}), ...(i % 30 === 5 ? { worker_lost: 1 } : {}), ...(i === 75 ? { execution_timeout: 2 } : {}) },
      ...(isIdle ? {} : { delivery_p50_ms: 3 + 2 * wave, delivery_p95_ms: 12 + 9 * wave + (i % 4),
        completion_p50_ms: 240 + 60 * wave, completion_p95_ms: 900 + 700 * wave }),
      queued: i > 20 && i < 36 ? (36 - i) * 3 : i % 3, sessions: 4 + Math.floor(i / 25), sessions_in_turn: i % 4 });
  }
  return { time: new Date(NOON).toISOString(), samples };
}

describe('the overview', { timeout: stretched(300_000) }, () => {
  let setting;
  let tracker;
  before(async () => {
    setting = await PageSetting.open({ runner: false });
    tracker = new TrackerApi(setting.services.tracker.address);
    setting.services.onClose(async () => tracker.close());
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  /** Opens the overview with the real history, or with the given one. */
  const open = async (options = {}, told = null) => {
    const person = await setting.person(options);
    if (told) await person.context.route('**/api/stats/history', (route) => route.fulfill({ json: told }));
    return person.open('overview');
  };
  const chart = (page, name) => page.getByRole('slider', { name, exact: true });
  const told = (page, name) => chart(page, name).getAttribute('aria-valuetext');
  const samplesNow = async () => {
    const response = await fetch(`${setting.services.gatewayUrl}/api/stats/history`);
    assert.equal(response.status, 200);
    return (await response.json()).samples;
  };

  test('shows the counts of the tracker, which survive a restart of the gateway', () => step(async () => {
    const page = await open();
    await page.getByRole('heading', { name: 'Last 15 minutes' }).waitFor();
    for (let i = 0; i < 3; i += 1) await tracker.register({ target: 'charts' });
    const leases = await tracker.lease('charts', 'w', { max_commands: 2 });
    await tracker.acknowledge(leases[0]);
    await tracker.complete(leases[0], { result: Buffer.from('1') });
    await tracker.complete(leases[1], { error: { code: 'element_not_found', message: 'It is not there.' } });
    const counted = (samples, of) => samples.reduce((sum, each) => sum + of(each), 0);
    let samples = [];
    await until(async () => {
      samples = await samplesNow();
      return counted(samples, ({ registered }) => registered) === 3;
    });
    assert.equal(counted(samples, ({ completed }) => completed), 1);
    assert.equal(counted(samples, ({ failed }) => failed.other ?? 0), 1);
    assert.ok(samples.some((each) => each.delivery_p95_ms >= each.delivery_p50_ms && each.completion_p50_ms > 0), JSON.stringify(samples));
    await until(async () => /reported by workers 1$/.test(await told(page, 'Failures by cause, per 30 s').catch(() => '')));
    assert.match(await told(page, 'Queued commands'), /waiting for a worker 1$/);
    await checkAccess(page, 'the first minutes');
    await screen(page, 'overview-first-minutes');

    await setting.services.gateway.kill();
    await setting.services.startGateway();
    assert.deepEqual((await samplesNow()).slice(0, samples.length), samples);
  }));

  test('shows no failure rate while the history is unknown', () => step(async () => {
    const failed = async (told) => {
      const page = await open({}, told);
      const tile = page.locator('.tile', { has: page.getByRole('link', { name: 'Failed', exact: true }) });
      await tile.waitFor();
      return tile;
    };
    const unknown = await failed({ time: new Date(NOON).toISOString(), samples: [] });
    await unknown.getByText('–', { exact: true }).waitFor();
    await unknown.getByText('no data yet').waitFor();
    const known = await failed(history());
    await known.getByText('of commands ended in the last 15 minutes').waitFor();
  }));

  test('shows the values at the time that the pointer or the keys select', () => step(async () => {
    const page = await open({ height: 1400 }, history());
    const first = chart(page, CHARTS[0]);
    await first.waitFor();
    for (const name of CHARTS) await chart(page, name).waitFor();
    const newest = await told(page, CHARTS[0]);
    assert.match(newest, /: submitted [\d.]+\/s, completed [\d.]+\/s$/);

    await first.focus();
    await page.keyboard.press('ArrowLeft');
    const before = await told(page, CHARTS[0]);
    assert.notEqual(before, newest);
    // All charts show the same time.
    const [time] = before.split(': ');
    for (const name of CHARTS.filter((each) => !each.startsWith('Failures'))) assert.ok((await told(page, name)).startsWith(`${time}: `), name);
    assert.equal(await page.locator('.cursor').count(), CHARTS.length);
    await page.keyboard.press('ArrowRight');
    assert.equal(await told(page, CHARTS[0]), newest);
    await page.keyboard.press('Home');
    assert.equal(await first.getAttribute('aria-valuenow'), '0');
    await page.keyboard.press('End');
    assert.equal(await told(page, CHARTS[0]), newest);
    await page.keyboard.press('Escape');
    await until(async () => (await page.locator('.cursor').count()) === 0);

    // Without deliveries there is no delivery time, and while the tracker was stopped there is no
    // sample.
    const figure = page.locator('figure').filter({ hasText: 'Time to delivery' });
    const { x, y, width, height } = await chart(page, 'Time to delivery').boundingBox();
    const pointAt = (secondsAgo) => page.mouse.move(x + width * (1 - secondsAgo / 900), y + height / 2);
    await pointAt(255);
    await until(async () => (await figure.locator('.legend').textContent()).replaceAll(/\s+/g, ' ').trim() === 'p50 – p95 –');
    assert.match(await figure.locator('.times').textContent(), /15 min ago\d+:55:50.*now/);
    await screen(page, 'overview-chart-pointed');
    await pointAt(100);
    await until(async () => /p50 \d+ ms p95 0\.\d+ s/.test((await figure.locator('.legend').textContent()).replaceAll(/\s+/g, ' ')));
    await page.mouse.move(1, 1);
    await until(async () => (await page.locator('.cursor').count()) === 0);
    const lines = await figure.locator('.line path:first-child').evaluateAll((paths) => paths.map((path) => path.getAttribute('d')));
    assert.equal(lines.filter((d) => (d.match(/M/g) ?? []).length === 3).length, 2, String(lines));
  }));

  test('can be shown as a table', () => step(async () => {
    const page = await open({}, history());
    await page.getByText('Show as a table').click();
    const table = page.getByRole('table', { name: /Activity in each 10-second interval/ });
    await table.waitFor();
    assert.equal(await table.getByRole('row').count(), history().samples.length + 1);
    assert.equal(await table.getByRole('columnheader').count(), 11);
    await table.getByRole('row').filter({ hasText: 'worker lost 1' }).first().waitFor();
    await checkAccess(page, 'the table');
    await page.getByRole('region', { name: 'Last 15 minutes as a table' }).scrollIntoViewIfNeeded();
    await screen(page, 'overview-table');
  }));

  test('is accessible and fits all widths, light and dark', () => step(async () => {
    for (const [width, height] of [[1280, 1000], [640, 1500], [320, 2400]]) {
      for (const colours of ['light', 'dark']) {
        const page = await open({ width, height, colours }, history());
        await chart(page, 'Sessions').waitFor();
        const where = `overview-charts-${width}-${colours}`;
        await chart(page, 'Time to completion').focus();
        await page.keyboard.press('ArrowLeft');
        await checkAccess(page, where);
        await screen(page, where);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${where} is ${wide} px wide`);
        await page.close();
      }
    }
  }));

  test('no browser logs an error', () => {
    assert.deepEqual(setting.complaints(), []);
  });
});
