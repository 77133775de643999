/** The result of a script is that of JSON.stringify, without a call of it. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { evaluateScript } from '../../extension/src/page/evaluate_script.js';

before(() => Object.assign(globalThis, { location: { href: 'http://page.test/' }, document: {}, window: {} }));

const SCRIPTS = [
  '"a\\"\\\\ \\n\\u0000\\u001f\\u007f\\u2028 é😀"', '-0', '1e21', '1 / 0', 'NaN', 'null', 'true', '[]', '{}',
  '[undefined, () => 1, Symbol("a"), , null]', '({ a: undefined, b() {}, 2: 1, 1: 2, "": { "__proto__": 3 }, [Symbol("s")]: 4 })',
  'new Date(0)', 'new Date(NaN)', 'new Date(-1e14)', 'new URL("http://page.test/a?b")', 'new Map([[1, 2]])', 'new Uint8Array(2)',
  '[new String("é😀"), new Number(2), new Boolean(false)]', 'Object.create({ a: 1 }, { b: { value: 2 }, c: { value: 3, enumerable: true } })',
  '({ toJSON: (key) => ({ key }) })', '({ inner: { toJSON: (key) => key } })', '({ toJSON: () => undefined, a: 1 })',
  '(() => { const twice = { a: [1] }; return [twice, twice]; })()', '({ get a() { return [1]; } })',
  '(() => { class Own { toJSON() { return [new Date(0)]; } } return { own: new Own() }; })()', '(function () { return arguments; })(1, 2)',
  'Object.assign([1], { a: 2 })', 'new Proxy([1], {})', 'new Proxy({ a: 1 }, {})', 'Object.create(null)', 'new Error("a")', '/a/g',
];

describe('the result of a script', () => {
  for (const script of SCRIPTS) {
    test(`matches JSON.stringify for ${script}`, async () => {
      const expected = JSON.stringify((0, eval)(`(${script})`));
      const { data, error } = await evaluateScript(script, 1_000);
      assert.equal(data && JSON.stringify(JSON.parse(data)), expected, error?.message);
    });
  }

  test('is rejected above its size limit', async () => {
    for (const script of ['"x".repeat(1001)', 'Array(1001).fill([])', '({ ["x".repeat(1001)]: 1 })']) {
      assert.equal((await evaluateScript(script, 1_000)).error.code, 'result_too_large');
    }
  });

  test('is rejected if it is cyclic or too deeply nested', async () => {
    const deep = 'let it = []; for (let n = 0; n < 1e6; n += 1) it = [it]; return it';
    for (const script of ['const a = {}; a.a = [a]; a', deep]) {
      assert.equal((await evaluateScript(script, 1e9)).error.code, 'result_not_serializable');
    }
  });
});
