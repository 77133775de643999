import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fill } from '../../extension/src/actions/fill.js';
import { CommandError } from '../../extension/src/errors.js';
import { FILLED_FIELDS, MESSAGE_CHARS } from '../../extension/src/limits.js';

const ALL = Array.from({ length: FILLED_FIELDS }, (_, at) => `#field-${at}`);
const message = (what) => `${what} ${'x'.repeat(100)}`;

/** Fills in all fields; a field for which `fails` returns a code fails with it. */
function run(fails) {
  const act = async (tab, selector, path) => {
    const code = path === 'fields.write' && fails(selector);
    if (code) throw new CommandError({ code, message: message('No.') });
    return { url: 'http://page.test/', data: { said: `textbox ${selector} ${'y'.repeat(100)}` } };
  };
  return fill.run({
    tab: { id: 1 },
    params: { fields: Object.fromEntries(ALL.map((selector) => [selector, 'a'])) },
    tools: { targets: { act, find: async ({ selector }) => selector }, now: () => 0 },
    signal: new AbortController().signal,
    endsAt: 1_000,
  }).catch((error) => error);
}

test('a fill reports filled fields first, however many others were refused', async () => {
  const error = await run((selector) => selector !== '#field-1' && 'value_refused');
  assert.equal(error.code, 'value_refused');
  assert.match(error.message, /^Filled in: textbox #field-1 y+\. #field-0: No\. x+ #field-2: /);
});

test('a fill with many filled fields leaves room to report the refused one', async () => {
  const error = await run((selector) => selector === ALL.at(-1) && 'value_refused');
  const told = error.message.slice(0, MESSAGE_CHARS);
  assert.match(told, /^Filled in: textbox #field-0 .*…\. #field-99: No\. /);
});

test('a fill that ends early reports the reason, then filled, then refused fields', async () => {
  const error = await run((selector) => {
    if (selector === '#field-1') return undefined;
    return selector === ALL.at(-1) ? 'element_disabled' : 'value_refused';
  });
  assert.equal(error.code, 'element_disabled');
  assert.match(error.message, /^#field-\d+: No\. x+ Filled in before that: textbox #field-1 y+\. #field-0: No\. /);
});
