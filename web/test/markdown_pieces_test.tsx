import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Lexer, type Token} from 'marked';
import {cuts, isCostly, type Piece, piecesOf} from '../src/ui/markdown_pieces.ts';

const fill = (length: number, piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
// Texts whose cost grows faster than their length.
const hostile: Record<string, (length: number) => string> = {
  'quotes': length => fill(length, '>'), 'spaced quotes': length => fill(length, '> '),
  'nested lists in a line': length => `${fill(length, '- ')}a`, 'nested numbered lists in a line': length => `${fill(length, '1. ')}a`,
  'lists in lists': length => {
    let text = '';
    for (let at = 0; text.length < length; at++) text += `${' '.repeat(2 * at)}- a\n`;
    return text;
  },
  'unclosed links': length => fill(length, '['), 'images': length => fill(length, '![['), 'link destinations': length => fill(length, '[]('),
  'unclosed emphasis': length => fill(length, '*a '), 'unclosed strong emphasis': length => fill(length, '**a *'),
  'nested emphasis': length => fill(length, '***a**b* '),
  'closed emphasis': length => fill(length / 2, '*a **b ') + fill(length / 2, 'c** d* '), 'a run of asterisks': length => fill(length, '*'),
  'email addresses': length => fill(length, 'a_'), 'email addresses with plus signs': length => fill(length, 'a+a'),
  'email addresses in words': length => fill(length, `${fill(990, 'a_')} `),
  'URLs': length => fill(length, 'http://a('), 'URLs in words': length => fill(length, `${fill(990, 'http://a(')} `),
  'backticks': length => Array.from({length: Math.sqrt(2 * length)}, (_, at) => '`'.repeat(at + 1) + 'a').join(''),
  'backticks in words': length => Array.from({length: Math.sqrt(2 * length)}, (_, at) => '`'.repeat(at + 1)).join(' '),
  'tags': length => fill(length, '<a '), 'comments': length => fill(length, '<!--'), 'strikethrough': length => fill(length, '~a '),
  'table columns': length => `${fill(length / 4, '|a')}|\n${fill(length / 4, '|-')}|\n${fill(length / 2, '|a')}|\n`,
  'table rows': length => `${fill(128, '|a')}|\n${fill(128, '|-')}|\n${fill(length, 'a\n')}`,
  'tables': length => fill(length, `${'|a'.repeat(60)}|\n${'|-'.repeat(60)}|\n${'a\n'.repeat(70)}\n`),
  'definitions': length => fill(length, '[a]: b\n'), 'link destinations in words': length => fill(length, '[a](<b '), 'link titles': length => fill(length, '[a](b "'),
  'underlined headings': length => `${fill(length, 'a\n')}===`, 'empty lists': length => fill(length, '-\n\n'), 'entities': length => fill(length, '&'),
  'nested quotes in lines': length => fill(length, `${'> '.repeat(12)}a\n`), 'deeply indented lists': length => fill(length, `${' '.repeat(48)}- a\n`),
  'list items': length => fill(length, '- *a* [b](c) `d`\n'), 'a long word': length => fill(length, 'a'), 'spaces': length => `a${fill(length, ' ')}b`,
  'fences in tags': length => `<div>\n\`\`\`\n\n${fill(length, '>')}\n\`\`\`\n`, 'fences in fences': length => `~~~\n\`\`\`\n~~~\n${fill(length, '>')}`,
  'indented fences': length => `   \`\`\`\n\`\`\`\n${fill(length, '>')}`,
};

// The texts that reach the lexer.
function read(text: string): string[] {
  const seen: string[] = [];
  const before = Lexer.prototype.blockTokens;
  Lexer.prototype.blockTokens = function (this: Lexer, source: string, ...more: unknown[]) {
    seen.push(source);
    return (before as (...all: unknown[]) => Token[]).call(this, source, ...more);
  } as typeof before;
  try {
    piecesOf(text);
  } finally {
    Lexer.prototype.blockTokens = before;
  }
  return seen;
}

for (const [name, make] of Object.entries(hostile)) {
  test(`hostile Markdown is parsed at a bounded cost: ${name}`, {timeout: 60_000}, () => {
    // A text above the length limit is not lexed.
    assert.deepEqual(cuts(make(4 << 20)).map(({type}) => type), ['plain']);
    for (const length of [1_000, 64 << 10]) {
      const text = make(length);
      const started = performance.now();
      const pieces = piecesOf(text);
      if (process.env.MEASURE) console.log(name, text.length, Math.round(performance.now() - started), 'ms');
      assert.equal(pieces.map(({raw}) => raw).join('').replace(/\s/g, ''), text.replace(/\s/g, ''));
      // No costly block reaches the lexer, and the number of tokens is bounded by the length.
      for (const each of read(text).filter(source => text.includes(source))) {
        for (const block of each.split(/\n[ \t]*\n/)) assert.equal(isCostly(block), false, JSON.stringify(block.slice(0, 80)));
      }
      assert.ok(count(pieces) <= 2 * text.length + 10);
    }
  });
}

const count = (tokens: readonly (Piece | Token)[]): number => {
  let sum = 0;
  const left: unknown[] = [...tokens];
  while (left.length > 0) {
    const each = left.pop() as {tokens?: Token[]; items?: Token[]; rows?: {tokens: Token[]}[][]; header?: {tokens: Token[]}[]};
    sum++;
    left.push(...(each.tokens ?? []), ...(each.items ?? []), ...(Array.isArray(each.header) ? each.header : []));
    for (const row of each.rows ?? []) left.push(...row);
  }
  return sum;
};

test('ordinary Markdown gives the same tokens as the lexer alone', () => {
  const text = ['# Title', 'A [link][a] and *more* text.\nIt goes on.', '- one\n- two\n\n  with a paragraph\n\n- three', '1. a\n   ```sh\n   ls\n   ```\n2. b',
    '> quoted\n> - in a list', '| a | b |\n|---|---|\n| 1 | 2 |', '```js\nlet x = `a`;\n\n y\n```', '~~~\nopen `\n```\n~~~', '    indented\n    code',
    '[a]: https://example.org', '***', '<b>tag</b>', '```', 'never ended'].join('\n\n');
  const plain = (tokens: Token[]) => JSON.parse(JSON.stringify(tokens.filter(({type}) => type !== 'space'), (name, value: unknown) =>
    (name === 'raw' || name === 'lang' && value === '' ? undefined : value))) as unknown;
  assert.deepEqual(plain(piecesOf(text) as Token[]), plain(new Lexer({gfm: true}).lex(text)));
  assert.equal(piecesOf(text).some(({type}) => type === 'plain'), false);
});

test('the text around a costly block is parsed', () => {
  const types = piecesOf(`# Title\n\nfine\n\n${'>'.repeat(6_000)}\n\n- also\n\n\`\`\`\n${'x'.repeat(100_000)}\n\`\`\`\nend`)
    .filter(({type}) => type !== 'space').map(({type}) => type);
  assert.deepEqual(types, ['heading', 'paragraph', 'plain', 'list', 'code', 'paragraph']);
  assert.deepEqual(cuts('x'.repeat(300 << 10)).map(({type}) => type), ['plain']);
  assert.equal(isCostly(`${'word '.repeat(2_000)}`), false);
});
