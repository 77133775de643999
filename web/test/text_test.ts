import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileName} from '../src/conversation/transcript.ts';
import {summaryOf} from '../src/ui/json_value.ts';
import {begin} from '../src/ui/text.ts';

test('a text is truncated between characters', () => {
  const text = 'a🙂b🙂🙂';
  assert.deepEqual(Array.from({length: 9}, (_, length) => begin(text, length)),
    ['', 'a', 'a', 'a🙂', 'a🙂b', 'a🙂b', 'a🙂b🙂', 'a🙂b🙂', text]);
  assert.equal(begin(text, 20), text);
});

test('truncated summaries and file names contain no half characters', () => {
  for (const before of ['', 'x']) {
    const long = before + '𝐚'.repeat(500);
    for (const cut of [summaryOf({[long]: 1}), fileName({name: long, session_id: 's'})]) {
      assert.ok(cut.length < 100 && !/\p{Cs}/u.test(cut), cut);
    }
  }
});

test('no source file truncates text by slice where that could split a character', () => {
  const lists = 'needs|samples|causes|names|entries|spans|blocks|list|files|lines|commands|clients|browsers|ready|keys\\(\\w+\\)|sort\\(\\)';
  const cutting = new RegExp(`(?<!\\b(?:${lists}))\\.slice\\((?:0, |-)|\\.(?:substring|substr)\\(`);
  // These cut at a found position, or cut ASCII text.
  const known = ['text.slice(0, at)', 'row.path.slice(0, -morePath.length)', 'time.slice(0, 19)', 'id.slice(-8)'];
  const files = readdirSync('src', {recursive: true, encoding: 'utf8'}).filter(file => /\.tsx?$/.test(file) && file !== join('ui', 'text.ts'));
  assert.ok(files.length > 50);
  for (const file of files) {
    const told = readFileSync(join('src', file), 'utf8').split('\n').filter(line => cutting.test(line) && !known.some(each => line.includes(each)));
    assert.deepEqual(told, [], file);
  }
});
