import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readNetwork } from '../../extension/src/actions/network.js';

const OFF = 'http://127.0.0.1:7890/ui/';
const ENTRY = { id: 'a', method: 'GET', type: 'xmlhttprequest', status: 200 };

/** The details of one request, and the addresses that were fetched again. */
async function whole(url, fields = {}) {
  const asked = [];
  const fetch = async (place) => {
    asked.push(place);
    return new Response('{}', { headers: { 'Content-Type': 'application/json' } });
  };
  const network = { entry: () => ({ entry: { ...ENTRY, ...fields }, url }) };
  const tools = { network, fetch, isOff: async (place) => place === OFF };
  const { signal } = new AbortController();
  const { data } = await readNetwork.run({ tab: { id: 7, url: '' }, params: { text: 'a' }, tools, signal });
  return { asked, response: data.response };
}

describe('the current response of a request', () => {
  test('is fetched again for data and files of the page', async () => {
    for (const type of ['xmlhttprequest', 'script', 'stylesheet']) {
      const { asked, response } = await whole('http://page.test/api?q=delight', { type });
      assert.deepEqual([asked.length, response.body], [1, '{}']);
    }
  });

  test('is not fetched if the request could have side effects', async () => {
    for (const path of ['logout', 'a?action=delete', 'signOut', 'sign-out?x', 'users/7/confirm', 'api/unsubscribe?u=1',
      'cart/remove/3', 'a?do=Approve', 'verifyEmail', 'a?token=x', 'cb?code=x', 'deleteAll', 'log%6fut']) {
      const { asked, response } = await whole(`http://page.test/${path}`);
      assert.deepEqual(asked, [], path);
      assert.equal(response.fetched_again, false);
      assert.match(response.reason, /may do something/);
    }
    for (const fields of [{ type: 'main_frame' }, { type: 'sub_frame' }, { type: 'image' }, { type: 'ping' },
      { status: 302 }, { status: 500 }, { status: undefined }]) {
      const { asked, response } = await whole('http://page.test/a', fields);
      assert.deepEqual([asked, response.fetched_again], [[], false]);
    }
  });

  test('is omitted for other methods and restricted addresses', async () => {
    for (const [url, method] of [['http://page.test/a', 'POST'], ['data:,a', 'GET'], [OFF, 'GET']]) {
      assert.deepEqual(await whole(url, { method }), { asked: [], response: undefined });
    }
  });

  test('makes the action no longer read-only', () => {
    assert.deepEqual([{}, { text: 'a' }].map((params) => readNetwork.readsOnly(params)), [true, false]);
  });
});
