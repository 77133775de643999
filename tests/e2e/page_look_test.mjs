/** The page's appearance, for eyes and for screen readers; and no text in it has an effect. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { checkAccess, PageSetting, screen } from './support/page.js';
import { AgentSessions, until } from './support/runner.js';


/** A morning's work, as an agent's runner records it. */
const WORK = [
  ['user_prompt', { message: 'Users are signed out whenever the server restarts. Please fix that.' }],
  ['agent_thought', { text: 'The login forgets its token. I look at the code first.\nThen I fix it.' }],
  ['plan', { entries: [
    { content: 'Read the code', status: 'completed', priority: 'high' },
    { content: 'Store the token', status: 'in_progress', priority: 'high' },
    { content: 'Run the tests', status: 'pending', priority: 'low' }] }],
  ['agent_message', { text: '## What I found\n\nThe login keeps its **token** in memory alone, in `server.ts`:\n\n'
    + '```ts\nconst token = read();\nif (!token) return Retry(now);\n```\n\n'
    + '| file | lines |\n|---|---:|\n| auth.ts | 12 |\n| server.ts | 310 |\n' }],
  ['tool_call', { tool_call_id: 'r', title: 'Read src/auth.ts', kind: 'read', status: 'completed',
    locations: [{ path: '/src/auth.ts', line: 12 }] }],
  ['tool_call', { tool_call_id: 'e', title: 'Edit src/auth.ts', kind: 'edit', status: 'failed',
    content: [{ type: 'diff', path: '/src/auth.ts',
      oldText: 'function auth(ok) {\n  if (!ok) return;\n  go();\n}\n',
      newText: 'function auth(ok, now) {\n  if (!ok) return Retry(now);\n  go();\n}\n' }] }],
  ['tool_call', { tool_call_id: 't', title: 'npm test', kind: 'execute', status: 'failed',
    raw_output: { exit: 1, failed: ['login survives a restart'] } }],
  ['agent_message', { text: 'One test still fails because of an old build. May I remove the build?' }],
].map(([type, data]) => ({ type, data }));

/** Texts with an effect in a page that makes HTML of a text, or follows any link. */
const HOSTILE = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '<svg onload=alert(1)>',
  '"><img src=x onerror=alert(1)>', "'-alert(1)-'", '[x](javascript:alert(1))', '![x](javascript:alert(1))',
  '<a href="javascript:alert(1)">x</a>', '[x](data:text/html,<script>alert(1)</script>)', '<iframe srcdoc="<script>alert(1)</script>">',
  '`<img src=x onerror=alert(1)>`', '```html\n<script>alert(1)</script>\n```', '| <img src=x onerror=alert(1)> |\n|---|\n| <b onclick=alert(1)>x</b> |',
  '&lt;img src=x onerror=alert(1)&gt;', '<style>body{display:none}</style>', '<base href="//evil.example/">',
  '[x]: javascript:alert(1)\n\n[x]', '<math><mi//xlink:href="data:x,<script>alert(1)</script>">', '\u202e<b>txt</b>', '{{constructor.constructor("alert(1)")()}}'];

describe('the page', { timeout: stretched(300_000) }, () => {
  let setting;
  let sessions;
  let full;
  before(async () => {
    setting = await PageSetting.open({ workspace: { permissions: { default: 'ask' } } });
    sessions = new AgentSessions(setting.services, setting.runner);
  });
  after(() => setting?.close());
  const step = (work) => setting.services.step(work);


  const views = [
    ['wide', { width: 1280, height: 800 }], ['narrow', { width: 320, height: 640 }],
  ].flatMap(([size, area]) => ['light', 'dark'].map((colours) => [`${size}-${colours}`, { ...area, colours }]));

  test('shows notices for no sessions, unknown pages and unknown sessions', () => step(async () => {
    const page = await (await setting.person({})).open('sessions');
    await page.getByText('No sessions yet').waitFor();
    await checkAccess(page, 'empty');
    await screen(page, 'sessions-empty-wide-light');
    await page.goto(setting.url('nowhere'));
    await page.getByText('Page not found').waitFor();
    await page.goto(setting.url('sessions/s-unknown'));
    await page.getByText('Session not found').waitFor();
    await checkAccess(page, 'an unknown session');
  }));

  test('is accessible in wide and narrow views, in light and dark colours', () => step(async () => {
    const make = async (name, acp_server, working_dir) => (await sessions.call('POST', '/sessions',
      { name, acp_server, working_dir, start: false })).session_id;
    full = await make('Fix the login', 'claude-code', '/src/web');
    await sessions.call('POST', `/sessions/${full}/events`, { events: WORK });
    for (const text of ['Also update the docs', 'Run all tests once more, please']) await sessions.say(full, text);
    await sessions.call('POST', `/sessions/${full}/permissions`, { title: 'Remove the build and test again', wait_ms: 0,
      kind: 'execute', details: { rawInput: { command: 'rm -rf build && npm test' } }, options: [
        { option_id: 'yes', name: 'Allow', kind: 'allow_once' },
        { option_id: 'always', name: 'Always allow', kind: 'allow_always' },
        { option_id: 'no', name: 'Reject', kind: 'reject_once' }] });
    const other = await make('Write the docs', 'opencode', '/src/docs');
    await sessions.append(other, 'The first chapter is done.');
    const busy = await sessions.begin({ name: 'Try the scripted agent' });
    await sessions.say(busy, [{ say: 'working' }, { sleep: 120_000 }]);
    await until(async () => (await sessions.answer(busy)) === 'working');
    for (const [name, options] of views) {
      const page = await (await setting.person(options)).open(`sessions/${full}`);
      await page.getByRole('group', { name: 'Permission request' }).waitFor();
      await page.locator('article').first().waitFor();
      const feed = page.getByRole('feed', { name: 'Conversation' });
      // The feed scrolls, so that only its visible part is drawn, and begins at its end.
      assert.ok(await feed.evaluate((node) => node.clientHeight) < options.height, `all of ${name} is drawn`);
      await until(() => feed.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 40));
      await checkAccess(page, `session ${name}`);
      await screen(page, `session-${name}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= options.width, `${name} is ${width} px wide`);
      await page.goto(setting.url('sessions'));
      await page.locator(`[data-session-id="${other}"]`).waitFor();
      await checkAccess(page, `sessions ${name}`);
      await screen(page, `sessions-${name}`);
    }
  }));

  test('shows accessible dialogs, playback and a lost connection', () => step(async () => {
    for (const colours of ['light', 'dark']) {
      const one = await setting.person({ colours });
      const page = await one.open(`sessions/${full}`);
      await page.locator('article').first().waitFor();
      for (const [button, name] of [['New session', 'new-session'], ['Agent', 'agent'], ['Help', 'help']]) {
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.getByRole('dialog').waitFor();
        await checkAccess(page, name);
        await screen(page, `${name}-${colours}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await page.getByRole('button', { name: 'Play back' }).click();
      await page.getByRole('slider', { name: 'Position' }).fill('4');
      await page.locator('article').first().waitFor();
      await checkAccess(page, 'playback');
      await screen(page, `playback-${colours}`);
      await one.context.setOffline(true);
      await page.getByText('The gateway is not responding').waitFor({ timeout: stretched(60_000) });
      await checkAccess(page, 'lost');
      await screen(page, `lost-${colours}`);
      await one.close();
    }
  }));

  test('executes none of the text that it shows', () => step(async () => {
    const nasty = HOSTILE.join('\n\n');
    const id = await sessions.begin({ name: HOSTILE[0], start: false });
    const events = HOSTILE.flatMap((text) => [
      { type: 'agent_message', data: { text } }, { type: 'agent_thought', data: { text } },
      { type: 'user_prompt', data: { message: text } },
      { type: 'tool_call', data: { tool_call_id: text.slice(0, 60), title: text, status: 'failed', kind: text,
        raw_input: { [text]: text }, raw_output: text, content: [{ type: 'diff', path: text, oldText: text, newText: `${text}\n` }],
        locations: [{ path: text }] } },
      { type: 'plan', data: { entries: [{ content: text, status: text, priority: text }] } },
      { type: 'permission', data: { title: text, selected_option: text, outcome: text } },
      { type: 'file_write', data: { path: text, size: 1 } }, { type: 'error', data: { message: text, code: text } },
      { type: text.replaceAll(/[^a-z]/g, '') || 'x', data: { [text]: [text] } }]);
    await sessions.call('POST', `/sessions/${id}/events`, { events });
    await sessions.call('POST', `/sessions/${id}/events`, { events: [{ type: 'agent_message', data: { text: nasty } }] });
    await sessions.call('POST', `/sessions/${id}/queue-control`, { action: 'pause', reason: 'x', message: nasty });
    await sessions.call('POST', `/sessions/${id}/queue`, { message: nasty });
    await sessions.call('POST', `/sessions/${id}/permissions`, { title: nasty, wait_ms: 0,
      details: { rawInput: { command: nasty } }, options: [{ option_id: 'o', name: HOSTILE[0], kind: 'allow_once' }] });
    const one = await setting.person({});
    const page = await one.open(`sessions/${id}`);
    const alerts = [];
    page.on('dialog', (dialog) => { alerts.push(dialog.message()); void dialog.dismiss(); });
    await page.getByRole('group', { name: 'Permission request' }).waitFor();
    const feed = page.getByRole('feed', { name: 'Conversation' });
    await feed.focus();
    // Scrolls through the whole feed.
    for (let at = 0; at < 60; ++at) {
      await page.keyboard.press('PageUp');
      await page.waitForTimeout(20);
    }
    const links = await page.locator('a').evaluateAll((all) => all.map((each) => each.protocol));
    assert.deepEqual([...new Set(links)].filter((each) => !/^(https?|mailto):$/.test(each)), []);
    assert.deepEqual(alerts, []);
    assert.equal(await page.locator('#app img:not([src="/ui/icon.svg"]), #app iframe, #app script, #app style').count(), 0);
  }));

  test('causes no errors in the consoles of its users', () => {
    assert.deepEqual(setting.complaints(/net::ERR|WebSocket connection|status of 404/), []);
  });
});
