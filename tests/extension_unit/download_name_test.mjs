import assert from 'node:assert/strict';
import { test } from 'node:test';
import { downloadName } from '../../extension/src/download_name.js';

const URL_OF_IT = 'http://page.test/files/r%C3%A9sum%C3%A9.pdf?x=1';

function nameOf(disposition, type = 'application/pdf') {
  const headers = [{ name: 'Content-Type', value: type }];
  if (disposition) headers.push({ name: 'Content-Disposition', value: disposition });
  return downloadName(URL_OF_IT, headers);
}

test('a download is named after its headers, or else after its address', () => {
  assert.equal(nameOf('attachment; filename="a b.pdf"'), 'a b.pdf');
  assert.equal(nameOf('attachment; filename=a.pdf; size=3'), 'a.pdf');
  assert.equal(nameOf('ATTACHMENT; filename="x"; filename*=UTF-8\'\'%e2%82%ac.pdf'), '€.pdf');
  assert.equal(nameOf('attachment; filename="say \\"hi\\".txt"'), 'say "hi".txt');
  assert.equal(nameOf('attachment'), 'résumé.pdf');
  assert.equal(nameOf(undefined, 'application/octet-stream'), 'résumé.pdf');
});

test('a file that is shown in the tab is not a download', () => {
  assert.equal(nameOf(undefined), undefined);
  assert.equal(nameOf('inline; filename=a.pdf'), undefined);
});

test('the name of a download is a single short line without a path', () => {
  assert.equal(nameOf('attachment; filename*=UTF-8\'\'a%0Ae1%20button%2F..'), 'a_e1 button_..');
  assert.equal(nameOf('attachment; filename*=UTF-8\'\'%ff'), '%ff');
  assert.equal(nameOf(`attachment; filename=${'n'.repeat(500)}`).length, 200);
});
