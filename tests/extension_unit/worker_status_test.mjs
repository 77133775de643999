import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { browserVersion, createWorkerStatus } from '../../extension/src/worker_status.js';
import { settled } from './support/settled.mjs';

let posts;
let open;
let status;
let stop;
let answer;
let logged;

const TAB = { id: 7, windowId: 1, active: true, title: 'Page', url: 'http://page.test/' };

async function elapse(ms) {
  mock.timers.tick(ms);
  await settled();
}

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  posts = [];
  logged = [];
  open = [TAB];
  answer = async () => ({ status: 'ok' });
  stop = new AbortController();
  const gateway = {
    postStatus(body) {
      posts.push(body);
      return answer();
    },
  };
  const browser = { tabs: { query: async () => open } };
  const description = { name: 'Desk', version: '0.1.0', browser: 'Chrome/131.0', paused: false };
  status = createWorkerStatus({ gateway, browser, description, log: (text) => logged.push(text) });
  status.run(stop.signal);
  await settled();
});

afterEach(() => stop.abort());

describe('worker status', () => {
  test('is reported at the start', () => {
    assert.deepEqual(posts, [
      {
        name: 'Desk',
        version: '0.1.0',
        browser: 'Chrome/131.0',
        paused: false,
        tabs: [
          { tab_id: 7, window_id: 1, active: true, title: 'Page', url: 'http://page.test/' },
        ],
      },
    ]);
  });

  test('is reported once for changes within 500 ms', async () => {
    status.touch();
    await elapse(0);
    status.touch();
    await elapse(499);
    assert.equal(posts.length, 1);
    open = [];
    await elapse(1);
    assert.equal(posts.length, 2);
    assert.deepEqual(posts[1].tabs, []);
  });

  test('is reported again after a change during a report', async () => {
    let taken;
    answer = () => new Promise((resolve) => { taken = resolve; });
    status.touch();
    await elapse(0);
    await elapse(500);
    status.touch();
    taken();
    await settled();
    await elapse(500);
    assert.equal(posts.length, 3);
  });

  test('is repeated within 60 s, even after a refusal', async () => {
    answer = () => Promise.reject(new Error('404'));
    await elapse(45_000);
    await elapse(45_000);
    assert.equal(posts.length, 3);
    assert.deepEqual(logged, ['The status was not taken: 404']);
  });

  test('lists at most 200 tabs', async () => {
    open = Array.from({ length: 300 }, (_, id) => ({ ...TAB, id }));
    await elapse(45_000);
    assert.equal(posts[1].tabs.length, 200);
  });

  test('is no longer reported after an abort', async () => {
    stop.abort();
    await elapse(120_000);
    assert.equal(posts.length, 1);
  });
});

describe('browser version', () => {
  const agents = [
    ['Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36', 'Chrome/131.0'],
    ['Mozilla/5.0 (X11) HeadlessChrome/156.0.0.0 Safari/537.36', 'Chrome/156.0'],
    ['Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.51', 'Edg/131.0'],
    ['something else', 'unknown'],
  ];
  for (const [agent, version] of agents) {
    test(`is ${version}`, () => assert.equal(browserVersion(agent), version));
  }
});
