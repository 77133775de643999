import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { excerpt } from '../../extension/src/actions/find.js';
import { costOf, fit } from '../../extension/src/outline_budget.js';

const line = (depth, text, more = {}) => ({ depth, text, refs: [], kind: 'text', where: 1, ...more });
const acted = (number, more = {}) =>
  line(1, `e${number} button Number ${number}`, { refs: [`e${number}`], kind: 'ref', ...more });
const texts = (lines) => lines.map(({ text }) => text);

describe('the budget of an outline', () => {
  test('counts characters, and non-Latin characters by their bytes', () => {
    assert.equal(costOf(line(2, 'abc')), 6);
    assert.equal(costOf(line(0, 'Жук')), 7);
    assert.equal(costOf(line(0, '漢字')), 7);
  });

  test('omits nothing if everything fits', () => {
    const lines = [line(0, 'main', { kind: 'main' }), acted(1), acted(2)];
    assert.deepEqual(fit(lines, 1_000), lines);
  });

  test('omits the ends of long lists first and shows how to continue', () => {
    const items = [...Array(80).keys()].map((item) => acted(item + 1, { list: 1, item }));
    const shown = texts(fit([...items, line(0, 'Text below that is not left out')], 1_700));
    assert.match(shown.at(-2), /^… \d+ items more: page \{after: e\d+\}$/);
    const [, after] = /after: e(\d+)/.exec(shown.at(-2));
    assert.ok(Number(after) >= 50);
    assert.equal(shown.at(-3), `e${after} button Number ${after}`);
    assert.equal(shown.at(-1), 'Text below that is not left out');
  });

  test('collapses a landmark outside the window to one line', () => {
    const lines = [
      line(0, 'main', { kind: 'main', where: 0 }), ...[1, 2, 3].map((number) => acted(number, { where: 0 })),
      line(0, 'footer', { kind: 'landmark' }), ...[4, 5, 6, 7].map((number) => acted(number)),
    ];
    assert.deepEqual(texts(fit(lines, 150)).slice(-2), ['e3 button Number 3', 'footer … 4 refs: page {after: e3}']);
  });

  test('keeps interactive elements in the window', () => {
    const before = [...Array(40).keys()].map((at) => line(1, `Text ${at}`, { where: -1 }));
    const within = [90, 91, 92].map((number) => acted(number, { where: 0 }));
    const behind = [...Array(40).keys()].map((at) => acted(at + 100));
    const shown = texts(fit([...before, ...within, ...behind], 300));
    for (const { text } of within) assert.ok(shown.includes(text));
    assert.match(shown.at(-1), /^… \d+ lines more: page \{after: e\d+\}$/);
  });

  test('omits only the end if it keeps the order', () => {
    const lines = [...Array(100).keys()].map((at) => acted(at + 1, { where: at > 90 ? 0 : -1 }));
    const shown = texts(fit(lines, 500, { inOrder: true }));
    assert.equal(shown[0], 'e1 button Number 1');
    const left = 100 - (shown.length - 1);
    assert.equal(shown.at(-1), `… ${left} lines more: page {after: e${shown.length - 1}}`);
  });
});

describe('an excerpt', () => {
  const words = (count) => [...Array(count).keys()].map((at) => `word${at}`).join(' ');

  test('is the whole line if the line is short', () => {
    assert.equal(excerpt('A short line', 'line'), 'A short line');
  });

  test('keeps whole words and whole brackets around the match', () => {
    const long = `${words(100)} [e12 link The needle in here] ${words(100)}`;
    const found = excerpt(long, 'Needle');
    assert.match(found, /^… word\d+ .*\[e12 link The needle in here\].* word\d+ …$/);
    assert.ok(found.length < 520);
    const early = excerpt(`[e1 link Needle] ${words(100)} [e2 link ${words(20)}] ${words(100)}`, 'needle');
    assert.match(early, /^\[e1 link Needle\] word0/);
    assert.equal((early.match(/\[/g) ?? []).length, (early.match(/\]/g) ?? []).length);
  });
});
