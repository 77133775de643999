import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parse, sessionPath} from '../src/router.ts';

test('a path is parsed into page, id and query, or is unknown', () => {
  assert.equal(parse('/ui/', '').page, '');
  assert.equal(parse('/ui/sessions', '?q=x').query.get('q'), 'x');
  assert.deepEqual([parse('/ui/sessions/a', '').page, parse('/ui/sessions/a', '').id], ['sessions', 'a']);
  assert.equal(parse('/ui/nowhere', '').page, 'nowhere');
  assert.equal(parse('/ui/sessions/a/b', '').page, 'unknown');
  assert.equal(parse('/ui/sessions/%', '').page, 'unknown');
});
test('any id can be read back from its session path', () => {
  for (const id of ['s-1', 'a/b', 'ü?#&', '..']) {
    assert.equal(parse(sessionPath(id), '').id, id);
  }
});
