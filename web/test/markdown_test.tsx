import assert from 'node:assert/strict';
import {test} from 'node:test';
import {safeHref} from '../src/ui/links.ts';
import {BlockList, unescape} from '../src/ui/markdown.tsx';

test('settled blocks stay the same while the text grows', () => {
  const list = new BlockList();
  const whole = '# Title\n\nfirst\n\n- a\n- b\n\n```js\nlet x;\n```\n\nlast **words**\n';
  let settled = new Map<number, unknown>();
  for (let end = 1; end <= whole.length; end++) {
    const blocks = list.read(whole.slice(0, end));
    for (const {token, start} of blocks.slice(0, -3)) {
      if (settled.has(start)) assert.equal(settled.get(start), token);
    }
    settled = new Map(blocks.map(({token, start}) => [start, token]));
  }
  assert.deepEqual(list.blocks, new BlockList().read(whole));
  assert.deepEqual(list.blocks.map(({token}) => token.type),
    ['heading', 'paragraph', 'list', 'code', 'paragraph']);
});

test('a different text is parsed from the start', () => {
  const list = new BlockList();
  list.read('one\n\ntwo\n\nthree');
  assert.equal(list.read('other')[0]?.token.raw, 'other');
});

test('normalized tabs and line endings lose no text', () => {
  const list = new BlockList();
  let text = '';
  for (const piece of ['a\r\n\r\n', '\tb\r\n\r\n', 'c\r\n', '\r\nd\r\n\r\n', 'e']) list.read(text += piece);
  assert.deepEqual(list.blocks.map(({token}) => token.raw.trim()),
    new BlockList().read(text).map(({token}) => token.raw.trim()));
});

test('only http, https and mailto links are allowed', () => {
  for (const href of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'vbscript:x',
    'file:///etc/passwd', '//evil.example', '/api/sessions', '\u0001javascript:x', 'blob:x']) {
    assert.equal(safeHref(href), null, href);
  }
  assert.equal(safeHref('https://example.org/a'), 'https://example.org/a');
  assert.equal(safeHref('mailto:a@example.org'), 'mailto:a@example.org');
});

test('HTML entities are decoded to characters', () => assert.equal(unescape('&lt;b&gt; &amp; &#228; &nope;'), '<b> & ä &nope;'));
