import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fetchedBody } from '../../extension/src/fetched_body.js';
import { BODY_BYTES } from '../../extension/src/limits.js';

const { signal } = new AbortController();

function fetched(body, type = 'text/plain; charset=utf-8', status = 200) {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push([url, options.credentials, options.redirect]);
    return new Response(body, { status, headers: type ? { 'Content-Type': type } : {} });
  };
  return fetchedBody('http://page.test/a', { fetch, signal }).then((answer) => ({ answer, asked }));
}

describe('a body that is fetched again', () => {
  test('is requested with cookies, and returned with its content type', async () => {
    const { answer, asked } = await fetched('{"a": 1}', 'application/json', 404);
    assert.deepEqual(asked, [['http://page.test/a', 'include', 'manual']]);
    assert.deepEqual(answer, {
      status: 404, type: 'application/json', body: '{"a": 1}', truncated: false, fetched_again: true,
    });
  });

  test('is truncated at its limit', async () => {
    const { answer: whole } = await fetched('x'.repeat(BODY_BYTES));
    assert.deepEqual([whole.body.length, whole.truncated], [BODY_BYTES, false]);
    const { answer: cut } = await fetched('x'.repeat(BODY_BYTES + 1));
    assert.deepEqual([cut.body.length, cut.truncated], [BODY_BYTES, true]);
  });

  test('is omitted if it is not text', async () => {
    for (const type of ['image/png', 'application/pdf', null]) {
      const { answer } = await fetched(new Uint8Array([1, 2]), type);
      assert.deepEqual(answer, { status: 200, type: type ?? '', fetched_again: true });
    }
  });

  test('is not fetched from the target of a redirect', async () => {
    const fetch = async () => ({ type: 'opaqueredirect', status: 0, headers: new Headers() });
    assert.deepEqual(await fetchedBody('http://page.test/', { fetch, signal }),
      { fetched_again: false, reason: 'the address now leads to another one' });
  });

  test('is replaced by the reason when the request fails', async () => {
    const fetch = async () => { throw new TypeError('Failed to fetch'); };
    assert.deepEqual(await fetchedBody('http://gone.test/', { fetch, signal }),
      { fetched_again: false, reason: 'Failed to fetch' });
  });
});
