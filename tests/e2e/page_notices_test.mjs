/**
 * Notifications of the page, for users who enabled them and are not looking; and a gateway that is
 * down.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { PageSetting, screen } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';

/**
 * A double of the browser's notifications and of the page's visibility: `window.notices`,
 * `window.look`.
 */
function record({ permission = 'granted', isBroken = false } = {}) {
  window.notices = [];
  let visible = true;
  window.look = (isLooking) => {
    visible = isLooking;
    document.dispatchEvent(new Event('visibilitychange'));
  };
  Object.defineProperty(document, 'visibilityState', { get: () => (visible ? 'visible' : 'hidden') });
  window.Notification = class {
    static permission = 'default';
    static async requestPermission() {
      this.permission = permission;
      return permission;
    }
    constructor(title, options) {
      if (isBroken) throw new TypeError('Illegal constructor.');
      window.notices.push(Object.assign(this, { title, options, close: () => { this.isClosed = true; } }));
    }
  };
  // The permission is kept for pages opened later, as in a browser.
  if (localStorage.getItem('callslip-notifications')) window.Notification.permission = permission;
}

describe('a user of the page', { timeout: stretched(180_000) }, () => {
  let setting;
  let sessions;
  before(async () => {
    setting = await PageSetting.open();
    sessions = new AgentSessions(setting.services, setting.runner);
  });
  after(() => setting?.close());

  const step = (work) => setting.services.step(work);
  const person = async (options) => {
    const one = await setting.person();
    if (options) await one.context.addInitScript(record, options);
    return one;
  };
  const help = async (page) => {
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    return page.getByRole('dialog').getByRole('checkbox', { name: 'Notify me' });
  };
  const told = (page) => page.evaluate(() => window.notices.map(({ title, options }) => `${title}: ${options.body}`));
  /** The number of notices that a visible tab, or another tab of the same browser, has claimed. */
  const taken = (page) => page.evaluate(async () => (await navigator.locks.query()).held
    .filter(({ name }) => name.startsWith('callslip-notice-')).length);
  const ask = (id, title) => sessions.call('POST', `/sessions/${id}/permissions`, { title, wait_ms: 0,
    options: [{ option_id: 'o', name: 'Yes', kind: 'allow_once' }] });
  const live = (page) => until(async () => (await page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));

  test('gets one notification per permission or turn end, which opens the session', () => step(async () => {
    const one = await person({});
    const [page, second] = [await one.open('sessions'), await one.open('sessions')];
    const id = await sessions.begin({ name: 'Elsewhere' });
    const row = (at) => at.locator(`[data-session-id="${id}"]`);
    const hide = () => Promise.all([page, second].map((each) => each.evaluate(() => window.look(false))));
    await row(page).waitFor();
    await row(second).waitFor();
    // Notifications are not enabled yet.
    await hide();
    await sessions.say(id, 'first');
    await sessions.ended(id, 1);
    await row(page).getByText('working').waitFor({ state: 'detached' });
    await page.evaluate(() => window.look(true));
    const box = await help(page);
    assert.equal(await box.isChecked(), false);
    await box.check();
    await screen(page, 'notices-switch');
    await page.keyboard.press('Escape');
    await second.evaluate(() => { Notification.permission = 'granted'; });
    // One of the two tabs is visible.
    await sessions.say(id, 'second');
    await sessions.ended(id, 2);
    await until(async () => (await taken(page)) === 1);
    await hide();
    await sessions.say(id, [{ say: 'working' }, { ask: { toolCallId: 't', kind: 'execute', title: 'make clean', rawInput: { command: 'make clean' } } }]);
    const both = async () => [...await told(page), ...await told(second)];
    await until(async () => JSON.stringify(await both()) === JSON.stringify(['Elsewhere: Permission request: make clean']));
    // Shown by whichever of the two tabs was first.
    const teller = (await told(page)).length ? page : second;
    assert.ok(await teller.evaluate(() => window.notices[0].options.tag));
    await teller.evaluate(() => { window.look(true); window.notices[0].onclick(); });
    await until(() => teller.url().endsWith(`/ui/sessions/${id}`));
    assert.equal(await teller.evaluate(() => window.notices[0].isClosed), true);
    // An answer requires a visible tab.
    await teller.locator('.question button[aria-disabled="false"]').first().waitFor();
    await teller.evaluate(() => {
      document.querySelector('.question .actions button').click();
      window.look(false);
    });
    await sessions.ended(id, 3);
    await until(async () => (await both()).length === 2);
    assert.equal((await both()).filter((each) => each === 'Elsewhere: Turn completed').length, 1);
    // Notices from the time without a connection are shown, too.
    const before = await both();
    await one.context.setOffline(true);
    await Promise.all([page, second].map((each) => each.getByText('The gateway is not responding').waitFor({ timeout: stretched(60_000) })));
    await ask(id, 'a question');
    await one.context.setOffline(false);
    await until(async () => (await both()).length === before.length + 1);
    assert.ok((await both()).includes('Elsewhere: Permission request'));
    // Disabled again, for both tabs.
    await teller.evaluate(() => window.look(true));
    await (await help(teller)).uncheck();
    await teller.keyboard.press('Escape');
    await hide();
    await ask(id, 'one more');
    await until(async () => (await sessions.call('GET', `/sessions/${id}/permissions`)).permissions.length === 2);
    await row(page).getByText('2 permission requests').first().waitFor();
    await (await help(teller)).check();
    await teller.keyboard.press('Escape');
    await hide();
    await ask(id, 'after all');
    await until(async () => (await both()).includes('Elsewhere: Permission request: after all'));
    assert.ok(!(await both()).includes('Elsewhere: Permission request: one more'));
    await one.close();
  }));

  test('sees why notifications are not available', () => step(async () => {
    const denied = await (await person({ permission: 'denied' })).open('sessions');
    const refusedBox = await help(denied);
    await refusedBox.click();
    await denied.getByText('The browser blocks notifications').waitFor();
    assert.equal(await refusedBox.isChecked(), false);
    await screen(denied, 'notices-refused');
    const broken = await (await person({ isBroken: true })).open('sessions');
    await (await help(broken)).check();
    await broken.keyboard.press('Escape');
    await live(broken);
    const id = await sessions.begin({ name: 'Broken', start: false });
    await broken.locator(`[data-session-id="${id}"]`).waitFor();
    await broken.evaluate(() => window.look(false));
    await ask(id, 'a question');
    await until(async () => (await taken(broken)) === 1);
    await broken.evaluate(() => window.look(true));
    const failedBox = await help(broken);
    await broken.getByText('This browser does not support notifications').waitFor();
    assert.equal(await failedBox.isChecked(), false);
    const one = await person();
    await one.context.addInitScript(() => { delete window.Notification; });
    const missing = await one.open('sessions');
    assert.ok(await (await help(missing)).isDisabled());
    await missing.getByText('Notifications are not available here').waitFor();
    // With this browser's own notifications.
    const real = await person();
    await real.context.grantPermissions(['notifications']);
    const page = await real.open('sessions');
    const box = await help(page);
    await box.check();
    // The setting is stored once the browser has granted permission.
    await until(() => page.evaluate(() => localStorage.getItem('callslip-notifications') === 'on'));
    await page.reload();
    assert.equal(await (await help(page)).isChecked(), true);
  }));

  test('can keep writing while the gateway is down, but can send nothing', () => step(async () => {
    const one = await person();
    const page = await one.open('sessions');
    const id = await sessions.begin({ name: 'Away' });
    await sessions.say(id, [{ say: 'working' }, { ask: { toolCallId: 't', kind: 'execute', title: 'make clean', rawInput: { command: 'make clean' } } }]);
    for (const text of ['a', 'b']) await sessions.say(id, text);
    await page.goto(setting.url(`sessions/${id}`));
    const message = page.getByRole('textbox', { name: 'Message' });
    const question = page.getByRole('group', { name: 'Permission request', exact: true });
    await question.waitFor();
    const queue = page.getByRole('list', { name: 'Queue' }).getByRole('listitem');
    await until(async () => (await queue.count()) === 2);
    await message.fill('half a');
    const asked = [];
    page.on('request', (request) => { if (request.method() !== 'GET') asked.push(`${request.method()} ${request.url()}`); });
    const controls = page.locator('button, input[type="file"]');
    const enabled = () => controls.evaluateAll((all) => all.filter((each) => !each.matches(':disabled'))
      .map((each) => each.getAttribute('aria-label') ?? each.textContent));
    await setting.services.gateway.kill();
    await page.getByText('The gateway is not responding').waitFor();
    await page.getByText('Your draft is kept').waitFor();
    await screen(page, 'away');
    // The remaining controls send nothing to the gateway.
    for (const each of await enabled()) assert.match(each, /^(Theme: .*|Help|Search)$/);
    await message.pressSequentially(' thought');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Control+Shift+Enter');
    await message.blur();
    for (const key of ['y', 'n', 'p', 's']) await page.keyboard.press(key);
    await queue.nth(1).focus();
    for (const key of ['Delete', 'Alt+ArrowUp']) await page.keyboard.press(key);
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.deepEqual(asked, []);
    await setting.services.startGateway();
    await live(page);
    assert.equal(await message.inputValue(), 'half a thought');
    await page.getByRole('button', { name: 'Queue', exact: true }).click();
    await until(async () => (await message.inputValue()) === '');
    assert.deepEqual(asked.map((each) => each.replace(/.*\/api/, '')), [`/sessions/${id}/queue`]);
    await question.getByRole('button', { name: 'Yes' }).click();
    await sessions.ended(id, 4);
  }));

  test('causes no errors in the browser console', () => {
    assert.deepEqual(setting.complaints(), []);
  });
});
