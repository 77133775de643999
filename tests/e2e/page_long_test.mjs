/** A session of ten thousand events, of which only the visible ones are in the document. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { recordLong } from './support/long_session.js';
import { PageSetting } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

const EVENTS = 10_000;
const MOST_NODES = 4_000;
/** The limit of bytes, of 20 MB, until the newest page is shown. */
const MOST_BYTES = 600 * 1024;

describe('a long session', { timeout: stretched(300_000) }, () => {
  let setting;
  let sessions;
  let id;
  let page;
  let received = 0;
  before(async () => {
    setting = await PageSetting.open({ runner: false });
    sessions = new AgentSessions(setting.services, null);
    id = await recordLong(sessions, EVENTS);
    const person = await setting.person();
    page = await person.context.newPage();
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => { received += payload.length; }));
    await page.goto(setting.url(`sessions/${id}`));
  });
  after(() => setting?.close());

  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  const feed = () => page.getByRole('feed', { name: 'Conversation' });
  const last = () => page.locator(`article[data-seq="${EVENTS + 1}"]`);

  test('shows its newest events without loading the rest', async () => {
    await last().waitFor();
    assert.ok(received < MOST_BYTES, `${received} bytes`);
    assert.ok(await nodes() < MOST_NODES);
    const isAtEnd = await feed().evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight < 50);
    assert.ok(isAtEnd);
  });

  test('stays scrolled to its end while it grows', async () => {
    await sessions.append(id, ...Array.from({ length: 20 }, (_, i) => `new ${i}`));
    await page.getByText('new 19').waitFor();
    assert.equal(await page.getByRole('button', { name: /new$|Latest/ }).count(), 0);
  });

  test('keeps its scroll position while events arrive, and counts the new ones', async () => {
    await feed().hover();
    for (let at = 0; at < 10; ++at) await page.mouse.wheel(0, -400);
    await page.getByRole('button', { name: '↓ Latest' }).waitFor();
    await page.waitForFunction(() => {
      const { scrollTop } = document.querySelector('[role=feed]');
      const before = window.before;
      window.before = scrollTop;
      return before === scrollTop;
    }, null, { polling: 200 });
    const top = () => feed().evaluate((list) => {
      const edge = list.getBoundingClientRect().top;
      const row = [...list.querySelectorAll('article')].find((each) => each.getBoundingClientRect().bottom > edge + 1);
      return [row.dataset.seq, Math.round(row.getBoundingClientRect().top)];
    });
    const before = await top();
    for (let at = 0; at < 10; ++at) {
      await sessions.call('POST', `/sessions/${id}/events`, { events: Array.from({ length: 10 }, (_, i) =>
        ({ type: 'tool_call', data: { tool_call_id: `n${at}-${i}`, title: 'x', status: 'completed' } })) });
    }
    await page.getByRole('button', { name: '↓ 100 new' }).waitFor();
    assert.deepEqual(await top(), before);
    await page.getByRole('button', { name: '↓ 100 new' }).click();
    await page.locator('article[data-tool-call-id="n9-9"]').waitFor();
  });

  test('scrolls back with only the visible part in the document', async () => {
    const oldest = () => page.locator('article[data-seq]').first().getAttribute('data-seq').then(Number);
    const before = await oldest();
    await until(async () => {
      await feed().evaluate((list) => { list.scrollTop = 0; });
      await page.waitForTimeout(30);
      assert.ok(await nodes() < MOST_NODES);
      return await oldest() < before - 1_000;
    }, 120_000);
  });

  test('jumps directly to its beginning and to its end', async () => {
    await feed().press('Home');
    const first = page.locator('article[data-seq="1"]');
    await first.waitFor();
    assert.ok(await nodes() < MOST_NODES);
    // The events in between are loaded afterwards, and move nothing.
    const top = () => first.evaluate((each) => each.getBoundingClientRect().top
      - each.closest('[role=feed]').getBoundingClientRect().top);
    const before = await top();
    assert.ok(before >= 0 && before < 100, `${before}`);
    await until(async () => Number(await first.getAttribute('aria-setsize')) > EVENTS);
    await page.getByText('Loading events in between').waitFor({ state: 'detached' });
    assert.equal(await top(), before);
    await feed().press('Shift+G');
    await page.locator('article[data-tool-call-id="n9-9"]').waitFor();
  });

  test('reaches its exact beginning and end by key, however rows are measured', async () => {
    /** The list's position once it no longer moves. */
    const rests = async (key) => {
      await feed().press(key);
      return feed().evaluate(atRest);
    };
    const atRest = (list) => new Promise((resolve) => {
      let before = '';
      let still = 0;
      const look = () => {
        const now = `${list.scrollTop} ${list.scrollHeight}`;
        still = now === before ? still + 1 : 0;
        before = now;
        if (still < 30) requestAnimationFrame(look);
        else resolve({ above: list.scrollTop, below: list.scrollHeight - list.scrollTop - list.clientHeight });
      };
      look();
    });
    for (let at = 0; at < 3; at++) {
      assert.equal((await rests('Home')).above, 0);
      assert.ok(await page.locator('article[data-seq="1"]').isVisible());
      const { below } = await rests('End');
      assert.ok(below <= 1, `${below}`);
      assert.ok(await page.locator('article[data-tool-call-id="n9-9"]').isVisible());
    }
  });
});
