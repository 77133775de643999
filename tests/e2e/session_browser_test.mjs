/** Sessions from a page of the gateway's own origin, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { House } from './support/house.js';
import { Sessions, range } from './support/watcher.js';

describe('a browser page', { timeout: stretched(120_000) }, () => {
  let house;
  let sessions;
  let page;
  before(async () => {
    house = await House.open();
    sessions = new Sessions(house);
    // Any answer of the gateway is a page of its origin.
    page = await house.browser.open(`${house.gatewayUrl}/healthz`);
  });
  after(() => house?.close());

  test('watches a session over a WebSocket and answers a permission', () => house.step(async () => {
    const id = await sessions.create();
    await page.evaluate((path) => new Promise((resolve, reject) => {
      window.told = [];
      window.socket = new WebSocket(`ws://${location.host}${path}`);
      window.socket.onerror = () => reject(new Error('refused'));
      window.socket.onmessage = ({ data }) => {
        window.told.push(JSON.parse(data));
        resolve();
      };
    }), `/api/sessions/${id}/ws`);
    const { last_seq: last } = await sessions.append(id, 'one', 'zwei ä', 'three');
    await page.waitForFunction((seq) => window.told.at(-1).seq === seq, last);
    const [connected, ...events] = await page.evaluate(() => window.told);
    assert.equal(connected.type, 'connected');
    assert.deepEqual(events.map(({ data }) => data.text), ['one', 'zwei ä', 'three']);

    const asking = sessions.call('POST', `/sessions/${id}/permissions`, {
      title: 'May I?',
      options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }],
    });
    await page.waitForFunction(() => window.told.at(-1).type === 'permission_asked');
    await page.evaluate(() => {
      const { permission_id: asked } = window.told.at(-1).data;
      const data = { permission_id: asked, option_id: 'yes' };
      window.socket.send(JSON.stringify({ type: 'permission_answer', data }));
    });
    assert.equal((await asking).selected_option, 'yes');
  }));

  test('resumes the event stream by itself after a gateway crash', () => house.step(async () => {
    const id = await sessions.create();
    await page.evaluate((path) => {
      window.seqs = [];
      // The browser reconnects with the Last-Event-ID of the latest event.
      window.source = new EventSource(path);
      window.source.onmessage = ({ lastEventId }) => window.seqs.push(Number(lastEventId));
      return new Promise((resolve) => { window.source.onopen = resolve; });
    }, `/api/sessions/${id}/events`);
    const reaches = (seq) => page.waitForFunction((last) => window.seqs.at(-1) === last, seq);
    let { last_seq: last } = await sessions.append(id, 'one', 'two');
    await reaches(last);
    await house.gateway.kill();
    await house.startGateway();
    ({ last_seq: last } = await sessions.append(id, ...Array(20).fill('missed or live')));
    await reaches(last);
    assert.deepEqual(await page.evaluate(() => window.seqs), range(2, last));
    await page.evaluate(() => window.source.close());
  }));

  test('is refused if it has another origin than the gateway', () => house.step(async () => {
    const id = await sessions.create();
    const foreign = await house.browser.open(`${house.pages.url}/`);
    const url = sessions.socketUrl(id);
    const outcome = await foreign.evaluate((address) => new Promise((resolve) => {
      const socket = new WebSocket(address);
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('refused');
    }), url);
    assert.equal(outcome, 'refused');
    const streamed = await foreign.evaluate((address) => new Promise((resolve) => {
      const source = new EventSource(address);
      source.onmessage = () => resolve('told');
      source.onerror = () => { source.close(); resolve('refused'); };
    }), `${house.gatewayUrl}/api/sessions/${id}/events?after_seq=0`);
    assert.equal(streamed, 'refused');
  }));
});
