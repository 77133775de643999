/** Texts are cut between characters, and posted texts have no half characters. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { oneLine } from '../../extension/src/event_lines.js';
import { cutText, jsonText } from '../../extension/src/text.js';
import { toldAddress, toldTitle } from '../../extension/src/told_page.js';
import { downloadName } from '../../extension/src/download_name.js';

const SMILE = '\u{1f642}';

describe('a truncated text', () => {
  test('keeps as many whole characters as fit', () => {
    const text = `a${SMILE}b${SMILE}${SMILE}`;
    const cuts = Array.from({ length: 11 }, (_, chars) => cutText(text, chars));
    assert.deepEqual(cuts, [
      '', 'a', 'a', `a${SMILE}`, `a${SMILE}b`, `a${SMILE}b`, `a${SMILE}b${SMILE}`, `a${SMILE}b${SMILE}`,
      text, text, text,
    ]);
  });

  test('keeps lone surrogates of the page', () => {
    assert.equal(cutText('\ud83d\ud83dx', 2), '\ud83d\ud83d');
    assert.equal(cutText('x\ude42\ude42', 2), 'x\ude42');
  });

  const places = {
    'a title': (text) => toldTitle(text),
    'an address': (text) => toldAddress(`http://page.test/${text}`),
    'a line': (text) => oneLine(text, 300),
    'the name of a file': (text) => downloadName('http://page.test/', [
      { name: 'Content-Disposition', value: `attachment; filename*=UTF-8''${encodeURIComponent(text)}` },
    ]),
  };
  for (const [what, cut] of Object.entries(places)) {
    test(`ends between two characters in ${what}`, () => {
      for (const before of ['', 'x']) {
        const told = cut(before + SMILE.repeat(2_000));
        assert.ok(told.length < 2_001 && told.isWellFormed(), told.slice(-5));
      }
    });
  }
});

describe('posted JSON', () => {
  const written = (value) => JSON.parse(jsonText(value));

  test('replaces lone surrogates in texts and names with U+FFFD', () => {
    const value = { '\ud83d': ['a\ud83d', { b: '\ude42c', d: SMILE }], n: null, t: true, x: 1.5 };
    const mended = { '\ufffd': ['a\ufffd', { b: '\ufffdc', d: SMILE }], n: null, t: true, x: 1.5 };
    assert.deepEqual(written(value), mended);
    assert.equal(/\\ud[89a-f]/.test(jsonText(value)), false);
    assert.equal(written('\ud83d'), '\ufffd');
  });

  test('keeps a text that only mentions the escape of a surrogate', () => {
    const text = String.raw`JSON writes it as \ud83d`;
    assert.equal(written([text, '\ud83d'])[0], text);
    assert.equal(jsonText({ a: SMILE }), JSON.stringify({ a: SMILE }));
  });

  test('loses no member to the replacement', () => {
    const halves = JSON.parse(String.raw`{"\ud83d": 1, "\ud83e": 2, "\ufffd": 3, "__proto__": 4, "z": "\ud83d"}`);
    const json = jsonText(halves);
    assert.deepEqual(json.match(/:[1-4]/g), [':1', ':2', ':3', ':4']);
    assert.equal(new Set(json.match(/"[^"]+":/g)).size, 5);
  });

  test('can be deeply nested', () => {
    const depth = 1_500;
    const deep = JSON.parse(`${'['.repeat(depth)}"\\ud83d"${']'.repeat(depth)}`);
    assert.equal(jsonText(deep), `${'['.repeat(depth)}"\ufffd"${']'.repeat(depth)}`);
  });
});

test('no source file truncates a text with slice where it could split a character', async () => {
  const root = new URL('../../extension/', import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.js'));
  const cutting = /\b(text|message|title|url|href|value|name|note|label|line|data)\)?\.(slice|substring|substr)\(0, (?!all\[0\])/i;
  for (const file of files) {
    const lines = (await readFile(new URL(file, root), 'utf8')).split('\n');
    const found = lines.filter((line) => cutting.test(line) && !line.includes('codePointAt'));
    // These lines search the words of a name, and report no part of it.
    const told = found.filter((line) => !line.includes('name.slice(0, 1_000)') && !line.includes('isWithin'));
    assert.deepEqual(told, [], file);
  }
});
