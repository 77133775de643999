/** People at the page, in browsers of their own, with a real tracker, gateway and runner. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { PageSetting, screen } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

const ask = (more = {}) => ({ ask: { toolCallId: 't', kind: 'execute', title: 'make clean',
  rawInput: { command: 'make clean' }, ...more } });

describe('people at a session', { timeout: stretched(300_000) }, () => {
  let setting;
  let sessions;
  before(async () => {
    setting = await PageSetting.open();
    sessions = new AgentSessions(setting.services, setting.runner);
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  const open = (path) => setting.visit(path);
  const queued = (page) => page.getByRole('list', { name: 'Queue' }).getByRole('listitem')
    .locator('.text').allTextContents();
  const shows = (page, texts) => until(async () =>
    JSON.stringify(await queued(page)) === JSON.stringify(texts) && true);

  test('one queues and reorders, another answers; both see the same despite kills', () =>
    step(async () => {
      const id = await sessions.begin({ name: 'Shared' });
      const [one, two] = [await open(`sessions/${id}`), await open(`sessions/${id}`)];
      const message = one.getByRole('textbox', { name: 'Message' });
      const send = async (text) => {
        await message.fill(text);
        await one.getByRole('button', { name: 'Queue', exact: true }).click();
        await until(async () => (await message.inputValue()) === '');
      };
      // The agent asks for permission, so that the next messages wait.
      await send(JSON.stringify([{ say: 'working' }, ask()]));
      const question = two.getByRole('group', { name: 'Permission request' });
      await question.waitFor();
      assert.match(await question.textContent(), /make clean/);
      for (const text of ['first', 'second', 'third']) await send(text);
      await shows(two, ['first', 'second', 'third']);
      await setting.services.gateway.kill();
      await one.getByText('The gateway is not responding').waitFor();
      await setting.services.startGateway();
      await until(async () => (await one.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
      // With keys: moves the third message up.
      const third = one.getByRole('list', { name: 'Queue' }).getByRole('listitem').nth(2);
      await third.focus();
      await one.keyboard.press('Alt+ArrowUp');
      // The next one is addressed by its position.
      for (const page of [one, two]) await shows(page, ['first', 'third', 'second']);
      await one.getByRole('list', { name: 'Queue' }).getByRole('listitem').nth(1)
        .getByRole('button', { name: 'Move up' }).click();
      for (const page of [one, two]) await shows(page, ['third', 'first', 'second']);
      await setting.services.tracker.kill();
      await setting.services.startTracker();
      await setting.services.gateway.kill();
      await setting.services.startGateway();
      await until(async () => (await sessions.call('GET', `/sessions/${id}/permissions`)
        .catch(() => ({ permissions: [] }))).permissions.length === 1);
      await until(async () => (await two.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
      await question.getByRole('button', { name: 'Yes' }).click();
      await one.getByRole('group', { name: 'Permission request' }).waitFor({ state: 'detached' });
      await sessions.ended(id, 4);
      const order = ['third', 'first', 'second'];
      const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
      assert.deepEqual(events.filter(({ type }) => type === 'user_prompt').slice(1)
        .map(({ data }) => data.message), order);
      for (const page of [one, two]) {
        const prompts = page.getByRole('feed', { name: 'Conversation' }).locator('article.prompt');
        await until(async () => JSON.stringify((await prompts.locator('.markdown').allTextContents()).slice(-3))
          === JSON.stringify(order));
        const seqs = await page.locator('article[data-seq]').evaluateAll((all) =>
          all.map((each) => Number(each.dataset.seq)));
        assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));
      }
    }));

  test('the queue can be paused and edited, and pauses after failed turns', () => step(async () => {
    const id = await sessions.begin({ name: 'Queue' });
    const [page, other] = [await open(`sessions/${id}`), await open(`sessions/${id}`)];
    await page.getByRole('button', { name: 'Pause' }).click();
    await other.getByRole('button', { name: 'Resume' }).waitFor();
    // A key does the same, unless the user is typing.
    await other.keyboard.press('p');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await other.getByRole('button', { name: 'Pause' }).waitFor();
    await other.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    for (const text of ['a', 'b']) await sessions.say(id, text);
    await shows(page, ['a', 'b']);
    const first = page.getByRole('list', { name: 'Queue' }).getByRole('listitem').first();
    await first.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edit message' }).fill('changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await shows(other, ['changed', 'b']);
    const last = page.getByRole('list', { name: 'Queue' }).getByRole('listitem').last();
    await last.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('b', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await shows(other, ['changed', 'b']);
    await last.focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete message' }).click();
    await shows(other, ['changed']);
    await page.getByRole('button', { name: 'Resume' }).click();
    await sessions.ended(id, 1);
    assert.equal(await sessions.answer(id), 'changed');
    // A failed turn pauses the queue, with its reason.
    await sessions.say(id, [{ exit: 3 }]);
    const why = page.getByText('Paused: agent crashed', { exact: true });
    await why.waitFor();
    await page.getByRole('button', { name: 'Skip' }).click();
    await why.waitFor({ state: 'detached' });
  }));

  test('older events can be read after a restart of the gateway', () => step(async () => {
    const id = await sessions.begin({ name: 'Long', start: false });
    const said = (at) => ({ type: 'agent_message', data: { text: `event ${at}`, message_id: `m${at}` } });
    await sessions.call('POST', `/sessions/${id}/events`, { events: Array.from({ length: 450 }, (_, at) => said(at)) });
    const page = await open(`sessions/${id}`);
    await page.getByText('event 449', { exact: true }).waitFor();
    await setting.services.gateway.kill();
    await page.getByText('The gateway is not responding').waitFor();
    await setting.services.startGateway();
    await until(async () => (await page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
    const feed = page.getByRole('feed', { name: 'Conversation' });
    await until(async () => {
      await feed.press('Home');
      return (await page.getByText('event 0', { exact: true }).count()) === 1;
    });
  }));

  test('a tool call that fails while it is displayed expands', () => step(async () => {
    const id = await sessions.begin({ name: 'Calls', start: false });
    const tell = (type, data) => sessions.call('POST', `/sessions/${id}/events`, { events: [{ type, data: { tool_call_id: 'c', ...data } }] });
    await tell('tool_call', { title: 'make', status: 'in_progress' });
    const page = await open(`sessions/${id}`);
    const part = page.locator('[data-tool-call-id="c"]');
    await part.and(page.locator('[data-status="running"]')).waitFor();
    assert.equal(await page.getByText('no rule to make it').count(), 0);
    await tell('tool_call_update', { status: 'failed', raw_output: 'no rule to make it' });
    await page.getByText('no rule to make it').waitFor();
    await part.locator('summary').press('Enter');
    await page.getByText('no rule to make it').waitFor({ state: 'detached' });
  }));

  /** Waits until a question can be answered. */
  const ready = (where) => where.locator('button[aria-disabled="false"]').first().waitFor();

  test('a question is answered only after a delay, and permanently only by its button', () => step(async () => {
    const id = await sessions.begin({ name: 'Read first', start: false });
    const ask = (title, details = {}) => sessions.call('POST', `/sessions/${id}/permissions`, { title, wait_ms: 0, permission_id: title, details,
      options: [{ option_id: 'ever', name: 'Always', kind: 'allow_always' }, { option_id: 'yes', name: 'Yes', kind: 'allow_once' },
        { option_id: 'no', name: 'No', kind: 'reject_once' }] });
    const left = async () => (await sessions.call('GET', `/sessions/${id}/permissions`)).permissions.map(({ title }) => title);
    const page = await open(`sessions/${id}`);
    const answers = [];
    page.on('request', (request) => { if (request.method() === 'POST') answers.push(new URL(request.url()).pathname.split('/').at(-1)); });
    for (const title of ['one', 'two', 'three']) await ask(title);
    // A question in the place of another one has not been read, nor has one that was shown for too
    // short a time. Later questions would restart the first one's delay, so all are there first.
    await page.locator('summary', { hasText: '2 more requests' }).waitFor();
    await ready(page);
    const quick = page.evaluate(() => new Promise((resolve) => {
      const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      new MutationObserver((_, observer) => {
        if (document.querySelector('.question').dataset.permissionId === 'one') return;
        observer.disconnect();
        press('y');
        const yes = [...document.querySelectorAll('.question button')].find((each) => each.textContent.startsWith('Yes'));
        yes.click();
        resolve(yes.getAttribute('aria-disabled'));
      }).observe(document.body, { childList: true, subtree: true });
    }));
    await page.keyboard.press('a');
    await page.keyboard.press('y');
    assert.equal(await quick, 'true');
    await page.getByRole('heading', { name: 'two' }).waitFor();
    await screen(page, 'question-waits');
    await ready(page);
    assert.deepEqual(answers, ['one']);
    assert.deepEqual(await left(), ['two', 'three']);
    // The delay also restarts for a question that moves up into the place.
    await page.locator('summary', { hasText: '1 more request' }).click();
    await ready(page.getByRole('group', { name: 'Permission request' }).nth(1));
    await page.getByRole('group', { name: 'Permission request' }).nth(1).getByRole('button', { name: 'No' }).click();
    await page.getByRole('heading', { name: 'three' }).waitFor({ state: 'detached' });
    // A removed question moves the others: a key pressed in that moment is ignored.
    const always = page.getByRole('group', { name: 'Permission request' }).getByRole('button', { name: 'Always' });
    await until(async () => {
      if (answers.length === 3) return true;
      if (await always.getAttribute('aria-disabled') === 'true') return false;
      await always.focus();
      await page.keyboard.press('Enter');
      return false;
    });
    await page.getByRole('group', { name: 'Permission request' }).waitFor({ state: 'detached' });
    assert.deepEqual(answers, ['one', 'three', 'two']);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=100`);
    assert.deepEqual(events.filter(({ type }) => type === 'permission').map(({ data }) => [data.title, data.selected_option]),
      [['one', 'yes'], ['three', 'no'], ['two', 'ever']]);
  }));

  test('a question shows all of its details', () => step(async () => {
    const id = await sessions.begin({ name: 'All of it', start: false });
    await sessions.call('POST', `/sessions/${id}/permissions`, { title: 'Edit \u202egpj.exe', wait_ms: 0,
      options: [{ option_id: 'yes', name: 'Y\u200bes', kind: 'allow_once' }, { option_id: 'no', name: 'No', kind: 'reject_once' },
        { option_id: 'ever', name: 'Reject', kind: 'allow_always' }],
      details: { rawInput: { command: `cp \u05d0 1 \u05d1 2; ls\u2028${'\n'.repeat(100)}rm -rf /` }, reason: 'because',
        content: [{ type: 'diff', path: '/a', oldText: 'before\n', newText: `after ${'x'.repeat(300)} hidden\n` },
          { type: 'content', content: { type: 'text', text: 'said [a]: /b' } },
          { type: 'diff', path: '/gone', oldText: 'kept', newText: null, _meta: { why: 'unused' } }], locations: [{ path: '/a', line: 7 }, '/beside'] } });
    const page = await open(`sessions/${id}`);
    const question = page.getByRole('group', { name: 'Permission request' });
    await question.waitFor();
    const text = await question.innerText();
    for (const part of ['Edit \\u{202E}gpj.exe', 'ls\\u{2028}', 'rm -rf /', 'before', 'hidden', 'said [a]: /b', '"reason": "because"', '/a:7', 'Y\\u{200B}es (allow once)',
      '"/gone"', '"unused"', '"/beside"', 'Reject (allow always)']) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    // Right-to-left text moves no other text.
    const places = await question.locator('code', { hasText: 'cp' }).evaluate((code) => {
      const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      const left = {};
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const { 0: found, index } of node.data.matchAll(/[\u05d0\u05d1]|\b[12]\b/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + 1);
          left[found] ??= range.getBoundingClientRect().left;
        }
      }
      return ['\u05d0', '1', '\u05d1', '2'].map((each) => left[each]);
    });
    assert.ok(places.every((left, at) => at === 0 || left > places[at - 1]), places.join(' '));
    await question.getByText(/↓ \d+ more lines to read/).waitFor();
    // The end of a line, and the buttons, are visible.
    const beyond = await question.locator('.asked').evaluate((box) => box.scrollWidth - box.clientWidth);
    assert.equal(beyond, 0);
    await ready(page);
    await screen(page, 'question-long');
    await question.getByRole('region', { name: 'Request details' }).evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await question.getByText('End of request').waitFor();
    await question.getByRole('button', { name: 'No' }).click();
    await question.waitFor({ state: 'detached' });
  }));

  test('no key answers questions behind a dialog or two questions at once', () => step(async () => {
    const id = await sessions.begin({ name: 'Two questions', start: false });
    for (const title of ['first', 'second']) {
      await sessions.call('POST', `/sessions/${id}/permissions`, { title, wait_ms: 0,
        options: [{ option_id: 'o', name: 'Yes', kind: 'allow_once' }] });
    }
    const left = async () => (await sessions.call('GET', `/sessions/${id}/permissions`)).permissions.map(({ title }) => title);
    const page = await open(`sessions/${id}`);
    const question = page.getByRole('heading', { name: 'first' });
    await question.waitFor();
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).focus();
    const answers = [];
    page.on('request', (request) => { if (request.method() === 'POST') answers.push(request.url()); });
    await page.keyboard.press('y');
    await page.keyboard.press('p');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(answers, []);
    await ready(page);
    await page.keyboard.down('y');
    await page.getByRole('heading', { name: 'second' }).waitFor();
    await question.waitFor({ state: 'detached' });
    // Repeated keydown events, as of a held key.
    await page.keyboard.down('y');
    await page.keyboard.up('y');
    assert.equal(answers.length, 1);
    assert.deepEqual(await left(), ['second']);
  }));

  test('a draft survives a reload, and a retried message is sent once', () => step(async () => {
    const id = await sessions.begin({ name: 'Draft' });
    const page = await open(`sessions/${id}`);
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('half a thought');
    await page.reload();
    await until(async () => (await message.inputValue()) === 'half a thought');
    // The answer is lost: pressing again sends the message again.
    let lost = false;
    await page.route('**/queue', async (route) => {
      if (lost || route.request().method() !== 'POST') return route.continue();
      lost = true;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await page.getByText('The gateway cannot be reached').waitFor();
    assert.equal(await message.inputValue(), 'half a thought');
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await until(async () => (await message.inputValue()) === '');
    await sessions.ended(id, 1);
    const { events } = await sessions.call('GET', `/sessions/${id}/events?limit=1000`);
    assert.equal(events.filter(({ type }) => type === 'user_prompt').length, 1);
  }));

  test('a session that needs attention is shown in the list and in the page title', () => step(async () => {
    const page = await open('sessions');
    const id = await sessions.begin({ name: 'Asks' });
    await sessions.say(id, [ask()]);
    const row = page.getByRole('list', { name: 'Needs attention' }).locator(`[data-session-id="${id}"]`);
    await row.waitFor();
    await until(async () => /^\(\d+\)/.test(await page.title()));
    await row.click();
    await ready(page);
    await page.keyboard.press('n');
    await sessions.ended(id, 1);
    assert.match(await sessions.answer(id), /"optionId":"no"/);
  }));

  test('a session can be created, played back and deleted', () => step(async () => {
    const page = await open('sessions');
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByLabel('Name').fill('By hand');
    await page.getByLabel('First message').fill('hello there');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'By hand' }).waitFor();
    const said = page.getByRole('feed', { name: 'Conversation' }).getByText('hello', { exact: false });
    await said.first().waitFor();
    const [id] = [new URL(page.url()).pathname.split('/').at(-1)];
    await sessions.ended(id, 1);
    await page.getByRole('button', { name: 'Play back' }).click();
    const position = page.getByRole('slider', { name: 'Position' });
    await position.waitFor();
    assert.equal(await position.inputValue(), '0');
    await page.getByRole('button', { name: 'Next event' }).click();
    await until(async () => (await page.locator('article').count()) === 1);
    await position.fill(await position.getAttribute('max'));
    await page.locator('.rule').getByText('Turn completed').waitFor();
    await page.getByRole('button', { name: 'Close playback' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete session' }).click();
    await until(() => page.url().endsWith('/ui/sessions'));
    await assert.rejects(sessions.call('GET', `/sessions/${id}`), /unknown_session/);
  }));

  test('no page logs errors in its console', () => {
    assert.deepEqual(setting.complaints(), []);
  });
});
