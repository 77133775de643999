/**
 * An agent that drives a browser can do nothing in a tab with the page, where people answer agents.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { actions } from '../../extension/src/actions/index.js';
import { stretched } from '../support/patience.js';
import { House } from './support/house.js';

let house;
before(async () => { house = await House.open(); });
after(() => house?.close());

/** The params of the actions besides their tab. */
const more = { click: { selector: 'button' }, type: { selector: 'input', text: 'x' }, press: { key: 'y' },
  execute_js: { script: '1' }, navigate: { url: 'http://127.0.0.1:9/' }, query: { selector: 'a' },
  hover: { selector: 'a' }, select: { selector: 'select', value: 'x' }, wait_for: { selector: 'a' }, scroll: { dy: 10 },
  fill: { fields: { input: 'x' } }, drag: { selector: 'a', to: 'b' }, select_text: { text: 'a' }, find: { text: 'a' },
  batch: { steps: [{ action: 'press', key: 'y' }] } };

test('every tab action on a gateway page fails with restricted_page', { timeout: stretched(300_000) }, () => house.step(async () => {
  const agent = await house.agentOverHttp();
  const url = `${house.gatewayUrl}/ui/sessions`;
  const page = await house.browser.open(url);
  const tab = await house.browser.tabIdOf(page);
  const tried = [];
  for (const [name, action] of Object.entries(actions)) {
    // Drawing and files have entry points of their own.
    if (action.tabless || action.openTab || ['draw_mode', 'upload'].includes(name)) continue;
    tried.push(name);
    const answer = await agent.collect(await agent.submit({ action: name, tab_id: tab, ...more[name] }));
    assert.equal(answer.error, 'restricted_page', `${name}: ${JSON.stringify(answer)}`);
  }
  assert.ok(tried.length > 10);
  assert.equal(page.url(), url);
}));

test('an agent cannot read a gateway page by navigation, a new tab or a link', { timeout: stretched(120_000) }, () => house.step(async () => {
  const agent = await house.agentOverHttp();
  const url = `${house.gatewayUrl}/ui/sessions`;
  const done = async (command) => agent.collect(await agent.submit(command));
  for (const action of ['navigate', 'open_tab']) {
    const { error } = await done({ action, url, view: 'page' });
    assert.equal(error, 'restricted_page', action);
  }
  const page = await house.browser.open(`${house.pages.url}/`);
  const tab = await house.browser.tabIdOf(page);
  for (const view of ['page', 'changes']) {
    await page.goto(`${house.pages.url}/`);
    await page.evaluate((to) => { document.body.innerHTML = `<a href="${to}">There</a>`; }, url);
    const id = await agent.submit({ action: 'click', selector: 'a', tab_id: tab, view });
    await agent.collect(id);
    const answer = await agent.call('observe', { what: 'command_result', correlation_id: id });
    assert.match(answer.content[0].text, new RegExp(`^clicked .*\n→ ${url}\nnothing is told of this page: it is the gateway's own$`));
  }
}));
