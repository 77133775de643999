/**
 * The recording of a session, in a real browser: its playback, its changes to files, its values.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { PageSetting } from './support/page.js';
import { until } from './support/runner.js';
import { Sessions } from './support/watcher.js';

const EVENTS = 10_000;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describe('the recording of a session', { timeout: stretched(300_000) }, () => {
  let setting;
  let sessions;
  before(async () => {
    setting = await PageSetting.open({ runner: false });
    sessions = new Sessions(setting.services);
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  const begin = async (events) => {
    const { session_id: id } = await sessions.call('POST', '/sessions',
      { name: 'Left behind', acp_server: 'none', working_dir: '/src' });
    for (let at = 0; at < events.length; at += 1_000) {
      await sessions.call('POST', `/sessions/${id}/events`, { events: events.slice(at, at + 1_000) });
    }
    return id;
  };
  const open = (path, options) => setting.visit(path, options);
  const call = (more) => ({ type: 'tool_call', data: { tool_call_id: 't', title: 'Edit', status: 'completed', ...more } });
  /** The page of a session with one tool call, expanded. */
  const openCall = async (more) => {
    const page = await open(`sessions/${await begin([call(more)])}`);
    const part = page.getByRole('article').filter({ hasText: 'Edit' });
    await part.locator('summary').first().click();
    return { page, part };
  };

  test('can be moved to any of 10,000 events by mouse and by keyboard', () => step(async () => {
    const id = await begin(Array.from({ length: EVENTS - 1 }, (_, at) =>
      ({ type: 'agent_message', data: { text: `said ${at + 2}.`, message_id: `m${at}` } })));
    const page = await open(`sessions/${id}?play=0`);
    const slider = page.getByRole('slider', { name: 'Position' });
    await slider.waitFor();
    // The first event is the session's creation.
    assert.equal(await slider.getAttribute('max'), String(EVENTS));
    const feed = page.getByRole('feed', { name: 'Conversation' });
    const isAt = async (position) => {
      await until(async () => (await slider.inputValue()) === String(position));
      await until(async () => (await feed.getByText(`said ${position}.`, { exact: true }).count()) === 1);
      await until(async () => (await feed.getByText(`said ${position + 1}.`, { exact: true }).count()) === 0);
    };
    for (const position of [9_000, 12, 10_000, 5_432]) {
      await slider.fill(String(position));
      await isAt(position);
    }
    await page.getByRole('button', { name: 'Next event' }).click();
    await isAt(5_433);
    await page.getByRole('button', { name: 'Previous event' }).click();
    await isAt(5_432);
    await slider.focus();
    await page.keyboard.press('Shift+ArrowRight');
    await isAt(5_442);
    await page.keyboard.press('ArrowLeft');
    await isAt(5_441);
    // The address contains the position.
    await until(() => new URL(page.url()).searchParams.get('play') === '5441');
    await page.reload();
    await isAt(5_441);
    // Thousands of events a second were recorded: their playback is short.
    const play = page.getByRole('button', { name: 'Play', exact: true });
    await play.click();
    await until(async () => (await play.getAttribute('aria-pressed')) === 'false');
    await isAt(EVENTS);
    assert.ok(await page.locator('*').count() < 4_000);
  }));

  test('shows the changes in a file of 10,000 lines, and expands unchanged lines', () => step(async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`);
    const changed = lines.map((line, at) => (at === 5_000 ? `${line} and more ${HOSTILE}` : line));
    const { page, part } = await openCall({ content: [{ type: 'diff', path: '/src/long.txt',
      oldText: lines.join('\n'), newText: changed.join('\n') }] });
    // The first load is truncated: a part of two texts is not a diff.
    await part.getByText('The diff of /src/long.txt is not fully loaded.').waitFor();
    assert.equal(await part.getByRole('figure').count(), 0);
    await part.getByRole('button', { name: /^Show full output/ }).click();
    const change = part.getByRole('figure');
    await change.getByText('+1').waitFor();
    assert.match(await change.locator('figcaption').textContent(), /long\.txt.*\+1.*−1/);
    assert.deepEqual(await change.locator('.is-removed .diff-text, .is-added .diff-text').allTextContents(),
      ['line 5000', `line 5000 and more ${HOSTILE}`]);
    assert.equal(await change.locator('.diff-line').count(), 8);
    await change.getByRole('button', { name: '4,997 unchanged lines' }).click();
    // Rendered in steps, not all at once.
    assert.ok(await change.locator('.diff-line').count() < 1_000);
    assert.ok(await page.locator('*').count() < 4_000);
  }));

  test('shows a very long change on request', () => step(async () => {
    const { part } = await openCall({ raw_input: { file_path: '/src/huge.txt', old_string: '', new_string: 'x\n'.repeat(20_001) } });
    await part.getByRole('button', { name: /^Show full output/ }).click();
    await part.getByText('The diff of /src/huge.txt is large.').waitFor();
    assert.equal(await part.getByRole('figure').count(), 0);
    await part.getByRole('button', { name: 'Show diff' }).click();
    await part.getByRole('figure').getByText('+20,001').waitFor();
  }));

  test('shows the lines of a patch with their numbers', () => step(async () => {
    const patch = '--- a/x.cc\n+++ b/x.cc\n@@ -10,2 +10,2 @@\n same\n-old\n+new\n';
    const { part } = await openCall({ raw_input: { patch } });
    const change = part.getByRole('figure');
    await change.getByText('9 unchanged lines').waitFor();
    assert.deepEqual(await change.locator('.diff-line').allTextContents(), ['1010 same', '11−old', '11+new']);
  }));

  test('shows a value as a tree, which can be expanded by keyboard', () => step(async () => {
    const { page, part } = await openCall({ raw_input: { command: HOSTILE, list: Array.from({ length: 250 }, (_, at) => at) } });
    const tree = part.getByRole('tree', { name: 'Input' });
    const items = tree.getByRole('treeitem');
    assert.equal(await items.count(), 3);
    assert.match(await items.nth(1).textContent(), /<script>/);
    await items.first().focus();
    for (const key of ['End', 'ArrowRight', 'End']) await page.keyboard.press(key);
    assert.equal(await items.count(), 104);
    await page.keyboard.press('Enter');
    await until(async () => (await items.count()) === 204);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await items.count()) === 1);
  }));

  test('executes no markup of its events, and logs no errors', async () => {
    for (const { context } of setting.people) {
      for (const page of context.pages()) assert.match(await page.title(), /Callslip/);
    }
    assert.deepEqual(setting.complaints(/WebSocket connection/), []);
  });
});
