import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {CommandDetail} from '../src/commands/model.ts';
import type {Worker} from '../src/commands/targets.ts';
import {agentGuides} from '../src/start/agents.ts';
import {browsersOf, tabsOf, titleOf} from '../src/start/progress.ts';

const here = 'http://127.0.0.1:7890';
const browser = (more: Partial<Worker>): Worker =>
  ({worker: 'w', target: 'browser', connected: true, last_seen_ms_ago: 0, tabs: [], ...more});
const tab = (id: number, url: string, more = {}) => ({tab_id: id, title: `tab ${id}`, url, ...more});

test('each agent guide has the address, and a token where one is required', () => {
  assert.equal(new Set(agentGuides.map(({id}) => id)).size, agentGuides.length);
  for (const {id, text} of agentGuides) {
    const open = text({origin: here, tokens: false});
    const guarded = text({origin: here, tokens: true});
    assert.match(open, /http:\/\/127\.0\.0\.1:7890(\/mcp|")/, id);
    assert.doesNotMatch(open, /token/i, id);
    assert.match(guarded, /TOKEN|token-file/, id);
    if (open.startsWith('{')) assert.deepEqual([JSON.parse(open), JSON.parse(guarded)].map(each => typeof each), ['object', 'object']);
  }
});

test('a connected worker with tabs is a browser, and only its web tabs can be used', () => {
  const workers = [
    browser({tabs: [tab(1, 'https://a.example/'), tab(2, 'chrome://extensions/'), tab(3, `${here}/ui/start`, {active: true}),
      tab(4, 'http://127.0.0.1:78901/'), tab(5, 'https://b.example/', {active: true}), tab(6, ''), {title: 'without an id', url: 'https://c.example/'}]}),
    browser({worker: 'away', connected: false, tabs: [tab(7, 'https://d.example/')]}),
    browser({worker: 'paused', paused: true, tabs: [tab(8, 'https://e.example/')]}),
    {worker: 'shell', target: 'session', connected: true, last_seen_ms_ago: 0},
  ];
  assert.deepEqual(browsersOf(workers).map(({worker}) => worker), ['w', 'paused']);
  assert.deepEqual(tabsOf(workers, here).map(({id}) => id), [5, 1, 4]);
  assert.deepEqual(tabsOf([browser({tabs: [tab(1, 'https://a.example/', {title: ''})]})], here),
    [{target: 'browser', id: 1, title: 'https://a.example/', url: 'https://a.example/'}]);
});

test('the page title is available once the command completes', () => {
  const title = (status: string, result?: unknown) => titleOf({status, result} as unknown as CommandDetail);
  assert.equal(title('complete', {title: 'Shop', text: 'Milk'}), 'Shop');
  assert.equal(title('complete', {success: true, data: {title: 'Shop'}}), 'Shop');
  for (const status of ['queued', 'pending', 'error', 'cancelled']) assert.equal(title(status, {title: 'Shop'}), null);
  for (const result of [undefined, null, 'text', ['Shop'], {}, {title: ''}, {title: 5}, {data: null}, {data: 'Shop'}]) assert.equal(title('complete', result), '');
});
