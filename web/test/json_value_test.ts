import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Json} from '../src/api/types.ts';
import {childStep, OpenRows, parentRow, parsedString, pictureOf, rowsOf, summaryOf} from '../src/ui/json_value.ts';

const paths = (value: Json, ...opened: string[]) => {
  const open = new OpenRows();
  for (const each of opened) open.open(each);
  return rowsOf(value, open).map(({path}) => path);
};

test('rows are created only for open nodes', () => {
  const value = {a: {b: [1, 2]}, c: 'x'};
  assert.deepEqual(paths(value), ['']);
  assert.deepEqual(paths(value, ''), ['', '/a', '/c']);
  assert.deepEqual(paths(value, '', '/a', '/a/b'), ['', '/a', '/a/b', '/a/b/0', '/a/b/1', '/c']);
  // The values of a closed node are not made, even those that were open before.
  assert.deepEqual(paths(value, '', '/a/b'), ['', '/a', '/c']);
});

test('paths of names with slashes and tildes do not collide', () => {
  assert.deepEqual(paths({'a/b': 1, a: {b: 2}, 'a~1b': 3}, '', '/a'), ['', '/a~1b', '/a', '/a/b', '/a~01b']);
});

test('the rows of a long array are created in steps', () => {
  const open = new OpenRows();
  const value = Array.from({length: 2 * childStep + 5}, (_, at) => at);
  open.open('');
  const first = rowsOf(value, open);
  assert.equal(first.length, 1 + childStep + 1);
  assert.equal(first.at(-1)?.left, childStep + 5);
  open.more('');
  open.more('');
  const all = rowsOf(value, open);
  assert.equal(all.length, 1 + value.length);
  assert.equal(all.at(-1)?.left, undefined);
  assert.deepEqual([all[7]?.position, all[7]?.setSize], [7, value.length]);
});

test('long strings are folded, and short ones cannot be opened', () => {
  const rows = rowsOf('x'.repeat(400), new OpenRows());
  assert.equal(rows[0]?.isOpen, false);
  assert.equal(rowsOf('short', new OpenRows())[0]?.isOpen, null);
  assert.equal(rowsOf({}, new OpenRows())[0]?.isOpen, null);
});

test('a string that holds JSON is shown as JSON', () => {
  const open = new OpenRows();
  open.open('');
  const rows = rowsOf('{"a": [1]}', open);
  assert.deepEqual(rows.map(({path}) => path), ['', '/a']);
  assert.equal(rows[0]?.isParsed, true);
  assert.equal(parsedString('{"a": '), undefined);
  assert.equal(parsedString('12'), undefined);
  assert.equal(parsedString('"x"'), undefined);
});

test('only valid data: URLs and MCP images count as images', () => {
  const data = 'iVBORw0KGgoAAAANSUhEUg==';
  assert.equal(pictureOf(`data:image/png;base64,${data}`, null), `data:image/png;base64,${data}`);
  const image = {type: 'image', mimeType: 'image/png', data};
  assert.equal(pictureOf(data, image), `data:image/png;base64,${data}`);
  assert.equal(pictureOf('image/png', image), undefined);
  assert.equal(pictureOf(data, {mimeType: 'text/html', data}), undefined);
  assert.equal(pictureOf('data:image/svg+xml;base64,PHN2Zz4=', null), undefined);
  assert.equal(pictureOf('data:image/png;base64,"><script>', null), undefined);
});

test('a value is summarized in a few words', () => {
  assert.equal(summaryOf([]), '[]');
  assert.equal(summaryOf([1]), '[1 item]');
  assert.equal(summaryOf({a: 1, b: 2, c: 3, d: 4}), '{a, b, c, …}');
  assert.equal(summaryOf(null), 'null');
  assert.equal(summaryOf(false), 'false');
});

test('the parent of a row is the row that encloses it', () => {
  const open = new OpenRows();
  for (const path of ['', '/a']) open.open(path);
  const rows = rowsOf({a: {b: 1}, c: 2}, open);
  assert.equal(parentRow(rows, 0), -1);
  assert.equal(parentRow(rows, 2), 1);
  assert.equal(parentRow(rows, 3), 0);
});
