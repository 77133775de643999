import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { stillParsed } from '../../extension/src/page/still_parsed.js';
import { createPageScripts } from '../../extension/src/page_scripts.js';

const URL = 'http://page.test/';

let injections;
let answer;
let isParsed;
let patience;
let pageScripts;

beforeEach(() => {
  injections = [];
  isParsed = true;
  patience = [];
  answer = () => [{ result: { url: URL, data: 42 } }];
  const scripting = {
    async executeScript(injection) {
      if (injection.func === stillParsed) {
        patience.push(...injection.args);
        return [{ result: !isParsed }];
      }
      injections.push(injection);
      return injection.files ? [{ result: null }] : answer();
    },
  };
  pageScripts = createPageScripts({ scripting }, () => 1_000);
});

const pageFunction = () => {};

describe('page scripts', () => {
  test('run in the isolated world unless configured otherwise', async () => {
    assert.deepEqual(await pageScripts.run(7, pageFunction, [1]), { url: URL, data: 42 });
    await pageScripts.run(7, pageFunction, [], { world: 'MAIN', early: true });
    const shared = { target: { tabId: 7 }, func: pageFunction };
    assert.deepEqual(injections, [
      { ...shared, world: 'ISOLATED', injectImmediately: false, args: [1] },
      { ...shared, world: 'MAIN', injectImmediately: true, args: [] },
    ]);
  });

  test('do not wait for a document that never finishes parsing', async () => {
    isParsed = false;
    await pageScripts.run(7, pageFunction, []);
    assert.equal(injections[0].injectImmediately, true);
  });

  test('wait for at most half of the remaining time of the command', async () => {
    for (const endsAt of [undefined, 100_000, 3_000, 900]) await pageScripts.run(7, pageFunction, [], { endsAt });
    assert.deepEqual(patience, [3_000, 3_000, 1_000, 0]);
  });

  test('install their shared scripts first', async () => {
    await pageScripts.run(7, pageFunction, [], { elements: true });
    const shared = ['cut_text', 'pdf_viewer', 'secret_fields', 'selectors', 'elements'].map((name) => `src/page/${name}.js`);
    assert.deepEqual(injections.map(({ files }) => files), [shared, undefined]);
  });

  test('forward an error of the page with its address', async () => {
    const error = { code: 'element_not_found', message: 'no', mayHaveExecuted: false };
    answer = () => [{ result: { url: URL, error } }];
    const expected = { code: 'element_not_found', url: URL, mayHaveExecuted: false };
    await assert.rejects(pageScripts.run(7, pageFunction, []), expected);
  });

  const replaced = [
    ['a null result', () => [{ result: null }]],
    ['an empty list of results', () => []],
    ['a removed frame', () => { throw new Error('Frame with ID 0 was removed.'); }],
  ];
  for (const [what, respond] of replaced) {
    test(`report ${what} as a replaced page`, async () => {
      answer = respond;
      await assert.rejects(pageScripts.run(7, pageFunction, []), { code: 'page_navigated' });
    });
  }

  test('forward other errors of the browser unchanged', async () => {
    answer = () => { throw new Error('Cannot access a chrome:// URL'); };
    await assert.rejects(pageScripts.run(7, pageFunction, []), /chrome:/);
  });
});
