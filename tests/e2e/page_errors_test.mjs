/**
 * The page's messages about failures: each with the error's own text and advice, and typed text is
 * never lost.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { PageSetting, screen } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

/** All errors of docs/http.md, which has all errors of the programs: [status, code]. */
const [, table] = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8').split('\n## Errors\n');
const ERRORS = table.split('\n## ')[0].split('\n').flatMap((line) => {
  const [, status, codes] = /^\| (\d{3}) \| (.*) \|$/.exec(line) ?? [];
  return status ? [...codes.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code]) => [Number(status), code]) : [];
});

describe('errors on the page', { timeout: stretched(180_000) }, () => {
  let setting;
  let sessions;
  let person;
  before(async () => {
    // Without a runner, queued messages stay in the queue.
    setting = await PageSetting.open({ runner: false });
    sessions = new AgentSessions(setting.services, null);
    person = await setting.person();
  });
  after(() => setting?.close());
  const step = (work) => setting.services.step(work);
  const box = (page) => page.getByRole('textbox', { name: 'Message' });
  const queue = (page) => page.getByRole('button', { name: 'Queue', exact: true });
  const open = async (name) => {
    const { session_id: id } = await sessions.call('POST', '/sessions', { name, start: false });
    const page = await person.open(`sessions/${id}`);
    await box(page).waitFor();
    return { id, page };
  };

  test('each error is shown with its text and hint, and typed text stays', () => step(async () => {
    assert.ok(ERRORS.length > 50, `${ERRORS.length}`);
    const { id, page } = await open('Refused');
    await box(page).fill('typed');
    for (const [status, code] of ERRORS) {
      if (status === 401) continue;  // Tested below.
      const isBusy = status === 429 || status === 503;
      await page.route(`**/sessions/${id}/queue`, (route) => (route.request().method() === 'POST'
        ? route.fulfill({ status, headers: isBusy ? { 'Retry-After': '7' } : {},
          json: { error: code, message: `Because of ${code}.`, hint: `Do what ${code} needs.` } })
        : route.continue()));
      await queue(page).click();
      const told = page.getByRole('alert').filter({ hasText: `Because of ${code}.` });
      await told.waitFor();
      assert.match(await told.textContent(), new RegExp(`Do what ${code} needs\\.`));
      assert.equal((await told.textContent()).includes('Try again in 7 s.'), isBusy);
      assert.equal(await box(page).inputValue(), 'typed', code);
      await page.unroute(`**/sessions/${id}/queue`);
    }
    await screen(page, 'errors-refused');
    await queue(page).click();
    await page.getByRole('list', { name: 'Queue' }).getByText('typed').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  }));

  test('typed text survives a new login', () => step(async () => {
    for (const [status, code] of ERRORS.filter(([each]) => each === 401)) {
      const { id, page } = await open('Logged out');
      await box(page).fill(`typed before ${code}`);
      await page.route(`**/sessions/${id}/queue`, (route) => (route.request().method() === 'POST'
        ? route.fulfill({ status, json: { error: code, message: `Because of ${code}.`, hint: 'Log in.' } })
        : route.continue()));
      await queue(page).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      // At the first visit a missing token is not an error.
      if (code !== 'token_missing') await page.getByText(`Because of ${code}.`).waitFor();
      await page.unroute(`**/sessions/${id}/queue`);
      await page.reload();
      await box(page).waitFor();
      assert.equal(await box(page).inputValue(), `typed before ${code}`);
      await page.close();
    }
  }));

  test('an unavailable tracker is shown, and typed text is sent after its restart', () => step(async () => {
    const { page } = await open('Without a tracker');
    await box(page).fill('sent later');
    await setting.services.tracker.kill();
    await queue(page).click();
    const told = page.getByRole('alert').filter({ hasText: /tracker/i });
    await told.first().waitFor();
    await screen(page, 'errors-tracker-away');
    assert.equal(await box(page).inputValue(), 'sent later');
    await setting.services.startTracker();
    await until(async () => {
      if (await page.getByRole('list', { name: 'Queue' }).getByText('sent later').count()) return true;
      if (await queue(page).isEnabled()) await queue(page).click();
      return false;
    });
    await until(async () => (await box(page).inputValue()) === '');
    assert.equal(await page.getByRole('list', { name: 'Queue' }).getByText('sent later').count(), 1);
  }));

  test('text typed during a request stays, in each box and after navigation', () => step(async () => {
    const { id, page } = await open('Meanwhile');
    const list = page.getByRole('list', { name: 'Queue' });
    /** Holds POST requests to this path until the returned function is called. */
    const hold = async (path) => {
      let letGo;
      const held = new Promise((resolve) => { letGo = resolve; });
      await page.route(path, async (route) => {
        if (route.request().method() === 'POST') await held;
        await route.continue();
      });
      return letGo;
    };
    let letGo = await hold('**/queue');
    await box(page).fill('first');
    await page.keyboard.press('Control+Enter');
    await until(() => queue(page).isDisabled());
    await box(page).pressSequentially(', and more');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Sessions/ }).click();
    await box(page).waitFor({ state: 'detached' });
    letGo();
    await page.goBack();
    await list.getByText('first').waitFor();
    await until(async () => (await box(page).inputValue()) === ', and more');
    await page.reload();
    await box(page).waitFor();
    assert.equal(await box(page).inputValue(), ', and more');
    await box(page).fill('');

    // A message that is edited while it waits, and deleted before the edit is saved.
    await list.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edit message' }).fill('first, changed');
    await page.reload();
    await until(async () => (await page.getByRole('textbox', { name: 'Edit message' }).inputValue()) === 'first, changed');
    await sessions.call('DELETE', `/sessions/${id}/queue`);
    await page.getByRole('alert').getByText('Your edit was moved to the message box').waitFor();
    assert.equal(await box(page).inputValue(), 'first, changed');

    await page.getByRole('button', { name: 'New session' }).click();
    const message = page.getByLabel('First message');
    await page.getByLabel('Name').fill('Made meanwhile');
    await message.fill('begin');
    letGo = await hold('**/sessions');
    await page.getByRole('button', { name: 'Create' }).click();
    await until(() => page.getByRole('button', { name: 'Create' }).isDisabled());
    await message.pressSequentially(', and go on');
    letGo();
    await page.getByRole('heading', { name: 'Made meanwhile' }).waitFor();
    await list.getByText('begin', { exact: true }).waitFor();
    await until(async () => (await box(page).inputValue()) === ', and go on');
  }));

  test('a message that is too long is refused and stays in the box', () => step(async () => {
    const { page } = await open('Too long');
    const long = 'x'.repeat(300 * 1024);
    await box(page).fill(long);
    await queue(page).click();
    const told = page.getByRole('alert').filter({ hasText: /longer|long|bytes/ });
    await told.waitFor();
    assert.equal((await box(page).inputValue()).length, long.length);
  }));

  test('the page of an unknown session links back to all sessions', () => step(async () => {
    const page = await person.open('sessions/no-such-session');
    await page.getByRole('heading', { name: 'Session not found' }).waitFor();
    await screen(page, 'errors-unknown-session');
    await page.getByRole('link', { name: 'All sessions' }).click();
    await until(() => page.url().endsWith('/ui/sessions'));
  }));

  test('hostile agent text hides no messages and does not block the page', () => step(async () => {
    const { id, page } = await open('Hostile');
    const say = (text, at) => sessions.call('POST', `/sessions/${id}/events`,
      { events: [{ type: 'agent_message', data: { text, message_id: `m${at}` } }] });
    const deep = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`);
    await sessions.call('POST', `/sessions/${id}/events`, { events: [
      { type: 'agent_message', data: { text: 'said before', message_id: 'before' } },
      { type: 'tool_call', data: { tool_call_id: 't', title: 'deep', status: 'failed', raw_input: deep } }] });
    for (const [at, text] of ['>'.repeat(6_000), 'a_'.repeat(30_000), `${'- '.repeat(5_000)}a`, '*a **b '.repeat(5_000), `\`\`\`\n${'x'.repeat(60_000)}`].entries()) {
      await say(text, at);
    }
    await say('said **after**', 'after');
    for (const again of [false, true]) {
      if (again) await page.reload();
      await page.getByText('said after').waitFor();
      await page.getByRole('feed', { name: 'Conversation' }).press('Home');
      await page.getByText('said before').waitFor();
      assert.equal(await page.getByText('could not be displayed').count(), 0);
    }
  }));

  test('a part that cannot be displayed does not affect the other parts', () => step(async () => {
    const { id, page } = await open('Broken');
    await page.route(`**/sessions/${id}/queue`, (route) => (route.request().method() === 'GET'
      ? route.fulfill({ json: { messages: [null] } }) : route.continue()));
    await box(page).fill('one');
    await queue(page).click();
    await page.getByText('The queue could not be displayed.').waitFor();
    await screen(page, 'errors-part');
    await page.getByRole('feed', { name: 'Conversation' }).waitFor();
    assert.equal(await box(page).inputValue(), '');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('The queue could not be displayed.').waitFor();
    // New data are tried without a person.
    await page.unroute(`**/sessions/${id}/queue`);
    await box(page).fill('two');
    await queue(page).click();
    await page.getByRole('list', { name: 'Queue' }).getByText('two').waitFor();
    assert.equal(await page.getByText('could not be displayed').count(), 0);
  }));
});
