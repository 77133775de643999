/** Access to the page, and the traces of a token afterwards. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { stretched } from '../support/patience.js';
import { PageSetting } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

const run = promisify(execFile);

describe('logging in to the page', { timeout: stretched(300_000) }, () => {
  let setting;
  let sessions;
  let id;
  before(async () => {
    setting = await PageSetting.open({ guarded: true, runner: false });
    sessions = new AgentSessions(setting.services, null);
    sessions.token = await setting.services.tokenOf('agent');
    id = (await sessions.call('POST', '/sessions', { name: 'Of the agent' })).session_id;
    await sessions.append(id, 'what it has said');
  });
  after(() => setting?.close());

  const logIn = async (page, name) => {
    await page.getByLabel('Token').fill(await setting.services.tokenOf(name));
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  test('a wrong token is reported, and a valid one opens the linked page', async () => {
    const person = await setting.person();
    const page = await person.open(`sessions/${id}`);
    await page.getByLabel('Token').fill('x'.repeat(40));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The gateway does not know this token').waitFor();
    await logIn(page, 'admin');
    await page.getByText('what it has said').waitFor();
    await page.getByText('admin', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('what it has said').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await person.close();
  });

  test('a viewer sees the sessions of others and can change nothing', async () => {
    const person = await setting.person();
    const page = await person.open('sessions');
    await logIn(page, 'viewer');
    await page.locator(`[data-session-id="${id}"]`).click();
    await page.getByText('what it has said').waitFor();
    for (const name of ['New session', 'Queue', 'Send now', 'Pause', 'Delete', 'End', 'Agent']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    }
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).count(), 0);
    await sessions.call('POST', `/sessions/${id}/permissions`, { title: 'May I?', wait_ms: 0,
      options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }] });
    await page.getByRole('group', { name: 'Permission request' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Yes' }).count(), 0);
    await page.keyboard.press('y');
    assert.equal((await sessions.call('GET', `/sessions/${id}/permissions`)).permissions.length, 1);
    await person.close();
  });

  test('neither half of a login is valid alone, and the token is stored nowhere', async () => {
    const token = await setting.services.tokenOf('admin');
    const profile = await mkdtemp(join(tmpdir(), 'callslip-page-'));
    try {
      const context = await chromium.launchPersistentContext(profile, {
        executablePath: process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium', headless: true,
        args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'] });
      const page = await context.newPage();
      const urls = [];
      page.on('request', (request) => urls.push(request.url()));
      await page.goto(setting.url('sessions'));
      await logIn(page, 'admin');
      await page.locator(`[data-session-id="${id}"]`).waitFor();
      const key = await page.evaluate(() => JSON.parse(localStorage.getItem('callslip-login')).key);
      const [cookie] = await context.cookies(`${setting.services.gatewayUrl}/api/`);
      assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict' && cookie.path === '/api');
      const ask = async (headers) => (await fetch(`${setting.services.gatewayUrl}/api/me`, { headers })).status;
      const half = `${cookie.name}=${cookie.value}`;
      assert.deepEqual([await ask({ Cookie: half }), await ask({ 'X-Callslip-Key': key }),
        await ask({ Cookie: half, 'X-Callslip-Key': key })], [401, 401, 200]);
      const held = await page.evaluate(() => `${document.documentElement.outerHTML}${JSON.stringify({ ...localStorage })}`
        + JSON.stringify({ ...sessionStorage }) + document.cookie + location.href);
      assert.ok(!held.includes(token));
      assert.ok(urls.every((url) => !url.includes(token)));
      await context.close();
      const { stdout } = await run('grep', ['-rlaF', '--', token, profile]).catch(({ stdout: found }) => ({ stdout: found }));
      assert.equal(stdout, '', 'the profile has the token');
      assert.ok(!setting.services.gateway.log.includes(token) && !setting.services.tracker.log.includes(token));
    } finally {
      await rm(profile, { recursive: true, force: true });
    }
  });

  test('a logout applies to all tabs, and leaves nothing for the next user', async () => {
    await appendFile(setting.services.tokenFile, `client bob ${'b'.repeat(64)}\n`);
    await until(async () => (await fetch(`${setting.services.gatewayUrl}/api/me`, { headers: { Authorization: `Bearer ${'b'.repeat(64)}` } })).ok);
    const person = await setting.person();
    const page = await person.open(`sessions/${id}`);
    await logIn(page, 'admin');
    await page.getByText('what it has said').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('of the admin');
    const other = await person.open(`sessions/${id}`);
    await other.getByText('what it has said').waitFor();
    const third = await person.open('commands');
    await third.getByText('No commands yet.').waitFor();
    // A background tab is drawn once a second.
    await page.bringToFront();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other, third]) await tab.getByLabel('Token').waitFor();
    // A login in one tab is a login in all of them, and shows only the new user's data.
    await page.getByLabel('Token').fill('b'.repeat(64));
    await page.getByRole('button', { name: 'Sign in' }).click();
    for (const tab of [page, other]) await tab.getByRole('heading', { name: 'Session not found' }).waitFor();
    await third.getByText('bob · client').waitFor();
    for (const tab of [page, other, third]) assert.ok(!(await tab.evaluate(() => document.body.innerText)).includes('Of the agent'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await logIn(page, 'agent');
    await page.getByText('what it has said').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await logIn(page, 'admin');
    await until(async () => (await page.getByRole('textbox', { name: 'Message' }).inputValue()) === 'of the admin');
    // The other tabs reload; closing a tab during its reload may hang.
    await other.getByText('what it has said').waitFor();
    await third.getByText('admin', { exact: true }).waitFor();
    await person.close();
  });

  test('a link from another site opens the page but cannot call the API', async () => {
    // Not with fetch(), which sets these headers itself.
    const ask = async (path, headers) => {
      const [response] = await once(get(`${setting.services.gatewayUrl}${path}`, { headers }), 'response');
      response.resume();
      return response.statusCode;
    };
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    assert.equal(await ask('/ui/sessions', link), 200);
    assert.equal(await ask('/api/me', { ...link, Authorization: `Bearer ${sessions.token}` }), 403);
  });

  test('a logged-in user sees live updates, even after a restart of the gateway', async () => {
    const person = await setting.person();
    const page = await person.open('sessions');
    await logIn(page, 'agent');
    await page.locator(`[data-session-id="${id}"]`).waitFor();
    await setting.services.gateway.kill();
    await setting.services.startGateway();
    await until(async () => (await page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
    const { session_id: other } = await sessions.call('POST', '/sessions', { name: 'Later' });
    await page.locator(`[data-session-id="${other}"]`).waitFor();
    await person.close();
  });
});
