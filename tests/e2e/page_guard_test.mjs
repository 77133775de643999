/** An agent that drives a browser does nothing in a tab where people answer agents. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { actions } from '../../extension/src/actions/index.js';
import { House } from './support/house.js';

let house;
before(async () => { house = await House.open(); });
after(() => house?.close());

/** What the actions need besides their tab. */
const more = { click: { selector: 'button' }, type: { selector: 'input', text: 'x' }, press: { key: 'y' },
  execute_js: { script: '1' }, navigate: { url: 'http://127.0.0.1:9/' }, query: { selector: 'a' },
  hover: { selector: 'a' }, select: { selector: 'select', value: 'x' }, wait_for: { selector: 'a' }, scroll: { dy: 10 } };

test('every action of a tab ends with restricted_page there', { timeout: 300_000 }, () => house.step(async () => {
  const agent = await house.agentOverHttp();
  const url = `${house.gatewayUrl}/ui/`;
  const page = await house.browser.open(url);
  const tab = await house.browser.tabIdOf(page);
  const tried = [];
  for (const [name, action] of Object.entries(actions)) {
    // Drawing has a way in of its own.
    if (action.tabless || action.openTab || name === 'draw_mode') continue;
    tried.push(name);
    const answer = await agent.collect(await agent.submit({ action: name, tab_id: tab, ...more[name] }));
    assert.equal(answer.error, 'restricted_page', `${name}: ${JSON.stringify(answer)}`);
  }
  assert.ok(tried.length > 10);
  assert.equal(page.url(), url);
}));
