/** Addresses in answers: the parts that an agent needs, without the secrets in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalidParams } from '../../extension/src/errors.js';
import { waitFor } from '../../extension/src/actions/wait_for.js';
import { requirePageUrl } from '../../extension/src/params.js';
import { describeTab } from '../../extension/src/tabs.js';
import { toldAddress, toldTitle } from '../../extension/src/told_page.js';

const SECRET = 'https://ada:pass@page.test/reset?page=2&token=hush7731&q=red%20shoes#access_token=hush7731&state=x';
const TOLD = 'https://page.test/reset?page=2&token=(value omitted)&q=red%20shoes#access_token=(value omitted)&state=x';

test('a reported address omits only its secrets', () => {
  assert.equal(toldAddress(SECRET), TOLD);
  for (const url of ['http://page.test/a?b=c#d', 'about:blank', 'http://page.test/?order=12&view=all', '']) {
    assert.equal(toldAddress(url), url);
  }
  assert.ok(toldAddress(`http://page.test/?a=${'b'.repeat(5_000)}&token=hush`).length <= 2_000);
});

test('a reported title omits the secrets of an address in it', () => {
  assert.equal(toldTitle('page.test/?token=hush7731'), 'page.test/?token=(value omitted)');
  // The browser shows parts of an address decoded, or truncates it.
  assert.equal(toldTitle('page.test/my file?q=red shoes&token=hush 7731#x'), 'page.test/my file?q=red shoes&token=(value omitted)#x');
  assert.equal(toldTitle('Sign in: /a?code=hush'), 'Sign in: /a?code=(value omitted)');
  for (const title of ['Token=rings', 'Q&A', 'What is a token?', '']) assert.equal(toldTitle(title), title);
});

test('the description of an open tab omits the secrets of its address', () => {
  const { url, title } = describeTab({ id: 7, windowId: 1, active: true, title: 'Reset', url: SECRET });
  assert.deepEqual([url, title], [TOLD, 'Reset']);
});

const JWT = `eyJ${'a'.repeat(20)}.b.c`;

test('an address with an omitted secret is rejected as a page to open', () => {
  for (const address of ['https://page.test/?token=hush7731', 'https://page.test/#access_token=a&b=c', `https://page.test/in/${JWT}`,
    `https://page.test/in/${JWT}/now?a=b`]) {
    const told = toldAddress(address);
    for (const url of [told, new URL(told).href]) {
      assert.throws(() => requirePageUrl({ url }, 'url'), invalidParams('url', 'has an omitted secret; use the tab or the link that has all of it'));
    }
  }
});

test('an address with an omitted secret is rejected by wait_for', () => {
  for (const url of [toldAddress('https://page.test/?token=hush7731'), '**?token=(value%20omitted)*', '/in/(value omitted)', 'token=(value omitted)']) {
    assert.throws(() => waitFor.check({ url }), invalidParams('url', 'has an omitted secret; wait for a part without it'));
  }
});

test('an address can contain the words "value omitted" itself', () => {
  for (const url of ['https://page.test/?token=abc', 'https://page.test/wiki/Verbs_(value omitted)', 'https://page.test/?q=words (value omitted) here',
    'https://page.test/?q=notes%20(value%20omitted)', 'https://page.test/(value omitted) in the rain']) {
    requirePageUrl({ url }, 'url');
    waitFor.check({ url });
  }
});
