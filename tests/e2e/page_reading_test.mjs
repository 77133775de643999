/** Reading a conversation: by keys, by search, and as exported text. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { checkAccess, PageSetting, screen } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

describe('the conversation view', { timeout: stretched(180_000) }, () => {
  let setting;
  let sessions;
  before(async () => {
    setting = await PageSetting.open();
    sessions = new AgentSessions(setting.services, setting.runner);
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  const begin = async (name, events) => {
    const id = await sessions.begin({ name, start: false });
    for (let from = 0; from < events.length; from += 500) {
      await sessions.call('POST', `/sessions/${id}/events`, { events: events.slice(from, from + 500)
        .map(([type, data]) => ({ type, data })) });
    }
    return id;
  };
  const open = (path) => setting.visit(path);
  const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  const feedOf = (page) => page.getByRole('feed', { name: 'Conversation' });
  /**
   * The first visible row and its position, once nothing moves any more: rows are measured as they
   * appear.
   */
  const place = (page) => feedOf(page).evaluate((list) => {
    const edge = list.getBoundingClientRect().top;
    const row = [...list.querySelectorAll('article')].find((each) => each.getBoundingClientRect().bottom > edge + 1);
    return { text: row.textContent, top: row.getBoundingClientRect().top };
  });
  const atRest = async (page) => {
    let before;
    let still = 0;
    await until(async () => {
      const now = await place(page);
      still = isSame(now, before) ? still + 1 : 0;
      before = now;
      return still === 10;
    });
    return before;
  };
  /** A pixel of the screen may differ from one of the page. */
  const isSame = (one, other) => one.text === other?.text && Math.abs(one.top - other.top) <= 1;

  test('moves between items and prompts by keys, and opens and closes them', () => step(async () => {
    const turns = Array.from({ length: 30 }, (_, at) => [
      ['user_prompt', { message: `do ${at}` }],
      ['tool_call', { tool_call_id: `t${at}`, title: `call ${at}`, status: 'completed', raw_output: `came of ${at}` }],
      ['agent_message', { text: `said ${at}\n\n${'more\n\n'.repeat(4)}`, message_id: `m${at}` }]]).flat();
    const page = await open(`sessions/${await begin('By keys', turns)}`);
    await page.getByText('said 29').waitFor();
    await atRest(page);
    const press = async (key, label) => {
      await page.keyboard.press(key);
      await until(async () => (await focused(page)) === label);
      // Visible, not only in the document.
      await until(() => page.evaluate(() => {
        const part = document.activeElement.getBoundingClientRect();
        const feed = document.activeElement.closest('[role=feed]')?.getBoundingClientRect();
        return feed && part.bottom > feed.top && part.top < feed.bottom;
      }));
    };
    await press('k', 'Agent');
    await press('k', 'call 29, completed');
    assert.equal(await page.getByText('came of 29').count(), 0);
    await page.keyboard.press('e');
    await page.getByText('came of 29').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('came of 29').waitFor({ state: 'detached' });
    await press('k', 'You, prompt 30');
    await press('ArrowDown', 'call 29, completed');
    await press('ArrowUp', 'You, prompt 30');
    await press('[', 'You, prompt 29');
    for (let at = 28; at > 0; at--) await press('[', `You, prompt ${at}`);
    await press(']', 'You, prompt 2');
    await press('j', 'call 1, completed');
    await page.keyboard.press('E');
    await page.getByText('came of 1', { exact: true }).waitFor();
    await screen(page, 'reading-open');
    for (const label of ['You, prompt 2', 'You, prompt 1', 'session start']) await press('[', label);
    // Parts out of sight are open, too.
    await page.keyboard.press('G');
    await page.getByText('came of 29').waitFor();
    await page.keyboard.press('E');
    await page.getByText('came of 29').waitFor({ state: 'detached' });
    // Keys have no effect while the user types, or after they were disabled.
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    await page.keyboard.type('jkeE[]s');
    assert.equal(await box.inputValue(), 'jkeE[]s');
    assert.equal(await page.getByText('came of 29').count(), 0);
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await page.getByRole('dialog').getByText('Next or previous item').waitFor();
    await page.keyboard.press('E');
    await page.getByRole('checkbox', { name: 'single-key shortcuts' }).uncheck();
    // The focus returns when the dialog closes, and a focus that moves then stays.
    await page.evaluate(() => { window.afterwards = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('dialog')) return;
        observer.disconnect();
        const back = document.activeElement.getAttribute('aria-label');
        document.querySelector('[role=feed]').focus();
        setTimeout(() => resolve([back, document.activeElement.getAttribute('aria-label')]), 200);
      }).observe(document.body, { childList: true, subtree: true });
    }); });
    await page.keyboard.press('Escape');
    assert.deepEqual(await page.evaluate(() => window.afterwards), ['Help', 'Conversation']);
    await page.keyboard.press('E');
    await page.keyboard.press('k');
    assert.equal(await focused(page), 'Conversation');
    assert.equal(await page.getByText('came of 29').count(), 0);
  }));

  test('stops the agent on s after confirmation, and navigates on g followed by s', () => step(async () => {
    const id = await sessions.begin({ name: 'Stopped' });
    const page = await open(`sessions/${id}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.keyboard.press('s');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await sessions.say(id, [{ say: 'working' }, { sleep: 120_000 }]);
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.keyboard.press('s');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await until(() => page.url().endsWith('/ui/sessions'));
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.goBack();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.keyboard.press('s');
    await screen(page, 'reading-stop');
    await page.getByRole('button', { name: 'Stop agent' }).click();
    await sessions.ended(id, 1);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    assert.equal(events.findLast(({ type }) => type === 'turn_end').data.outcome, 'cancelled');
  }));

  test('exports the whole conversation as Markdown', () => step(async () => {
    const id = await begin('Taken along', [['user_prompt', { message: 'the first of all' }],
      ...Array.from({ length: 1_500 }, (_, at) => ['agent_message', { text: `said ${at}`, message_id: `m${at}` }]),
      ['agent_message', { text: '```\nnot ended', message_id: 'open' }],
      ['tool_call', { tool_call_id: 't', title: 'make', status: 'completed', raw_output: `${'x'.repeat(50_000)}end` }]]);
    const page = await open(`sessions/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/KB of Markdown/).waitFor();
    await screen(page, 'reading-text');
    await dialog.getByRole('button', { name: 'Copy as Markdown' }).click();
    await dialog.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^# Taken along\n/);
    for (const each of ['> the first of all', '> said 0', '> said 1499', '> ```\n> not ended', 'xend\n```']) {
      assert.ok(copied.includes(`\n${each}\n`) || copied.includes(`${each}\n`), each);
    }
    const [download] = await Promise.all([page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click()]);
    assert.equal(download.suggestedFilename(), 'Taken-along.md');
    assert.equal(await readFile(await download.path(), 'utf8'), copied);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    // Shows its progress, and can be stopped.
    let asked = 0;
    let goOn;
    const held = new Promise((resolve) => { goOn = resolve; });
    await page.route('**/events?position=*', async (route) => {
      if (++asked === 2) await held;
      await route.continue().catch(() => {});
    });
    await page.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('Loading… 1,000 of 1,504 events').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Download' }).isDisabled());
    const aborted = page.waitForEvent('requestfailed');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await aborted;
    goOn();
    await page.unroute('**/events?position=*');
    await page.route('**/events?position=*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...await response.json(), length: 1_000_000 } });
    });
    await page.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('The conversation is too long to export').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Download' }).isDisabled());
    await screen(page, 'reading-too-long');
  }));

  test('searches the whole conversation, and returns to the earlier position', () => step(async () => {
    const id = await begin('Searched', [['user_prompt', { message: 'Needle at the very beginning' }],
      ...Array.from({ length: 1_200 }, (_, at) => ['agent_message', { text: `said ${at}\n\n${at % 400 === 5 ? 'a **needle** here' : 'hay'}`, message_id: `m${at}` }]),
      ['tool_call', { tool_call_id: 't', title: 'make', status: 'completed', raw_output: `${'hay\n'.repeat(100)}NEEDLE\n` }],
      ...Array.from({ length: 40 }, (_, at) => ['agent_message', { text: `after ${at}`, message_id: `n${at}` }])]);
    const page = await open(`sessions/${id}`);
    await page.getByText('after 39').waitFor();
    await atRest(page);
    await feedOf(page).hover();
    await page.mouse.wheel(0, -300);
    await page.getByRole('button', { name: '↓ Latest' }).waitFor();
    const before = await atRest(page);
    const search = page.getByRole('search', { name: 'Conversation' });
    const box = search.getByRole('searchbox');
    const told = search.getByRole('status');
    const tells = (text) => until(async () => (await told.textContent()) === text);
    /** Waits until the current match has this text and is visible. */
    const stands = (text) => until(() => page.evaluate((wanted) => {
      const [range] = CSS.highlights.get('found-now') ?? [];
      const list = document.querySelector('[role=feed]').getBoundingClientRect();
      const at = range?.getBoundingClientRect();
      return at && String(range) === wanted && at.top >= list.top && at.bottom <= list.bottom;
    }, text));
    // The search field gets the focus immediately: the next key is a letter of the search.
    await page.evaluate(() => { window.focused = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        const found = document.querySelector('[role=search] input');
        if (!found) return;
        observer.disconnect();
        resolve(found === document.activeElement);
      }).observe(document.body, { childList: true, subtree: true });
    }); });
    await page.keyboard.press('Control+f');
    assert.equal(await page.evaluate(() => window.focused), true);
    // More matches arrive from far above during the input; nothing moves by itself.
    await box.pressSequentially('needle');
    await tells('5 found');
    const typed = await place(page);
    assert.ok(isSame(typed, before), JSON.stringify([typed, before]));
    await page.keyboard.press('Enter');
    await tells('5 of 5');
    await stands('NEEDLE');
    await screen(page, 'reading-search');
    await page.keyboard.press('Shift+Enter');
    await tells('4 of 5');
    await stands('needle');
    for (const at of [3, 2]) {
      await page.keyboard.press('Shift+Enter');
      await tells(`${at} of 5`);
    }
    await page.keyboard.press('Shift+Enter');
    await tells('1 of 5');
    await stands('Needle');
    await page.getByText('Needle at the very beginning').waitFor();
    await page.keyboard.press('Shift+Enter');
    await tells('5 of 5');
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    await until(async () => isSame(await place(page), before));
    assert.equal(await page.evaluate(() => CSS.highlights.size), 0);
    // Opened by its key, typed faster than it searches, and left at the match.
    await page.keyboard.press('f');
    await box.pressSequentially('said 405');
    await page.keyboard.press('Enter');
    await tells('1 of 1');
    await stands('said 405');
    await search.getByRole('button', { name: 'stay here' }).click();
    assert.ok(await page.getByText('said 405', { exact: true }).isVisible());
    await page.keyboard.press('f');
    await box.fill('not there at all');
    await tells('0 found');
    assert.ok(await search.getByRole('button', { name: 'Next' }).isDisabled());
    await page.keyboard.press('Escape');
    await until(() => page.getByText('said 405', { exact: true }).isVisible());
  }));

  test('is accessible in wide and narrow layouts, in light and dark', () => step(async () => {
    const check = async (page, where) => {
      await checkAccess(page, where);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(beyond, 0, where);
    };
    const id = await begin('Looked at', [['user_prompt', { message: 'find the needle' }],
      ['agent_thought', { text: 'a needle, again' }], ['agent_message', { text: 'There is no `needle`.' }]]);
    for (const options of [{ colours: 'light' }, { colours: 'dark', width: 320, height: 640 }]) {
      const person = await setting.person(options);
      const page = await person.open(`sessions/${id}`);
      const name = `${options.width ?? 'wide'}-${options.colours}`;
      await page.getByText('find the needle').waitFor();
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      const search = page.getByRole('search');
      await search.getByRole('searchbox').fill('needle');
      await search.getByText('3 found').waitFor();
      await search.getByRole('button', { name: 'Next' }).click();
      await search.getByText(/^\d of 3$/).waitFor();
      await check(page, `search ${name}`);
      await screen(page, `reading-search-${name}`);
      await page.keyboard.press('Escape');
      await search.waitFor({ state: 'detached' });
      await page.keyboard.press('k');
      await check(page, `focus ${name}`);
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByText(/KB of Markdown/).waitFor();
      await check(page, `text ${name}`);
      await person.close();
    }
  }));

  test('causes no errors in the browser console', () => {
    assert.deepEqual(setting.people.flatMap(({ complaints }) => complaints), []);
  });
});
