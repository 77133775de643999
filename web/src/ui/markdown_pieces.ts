import {Lexer, type Token, type Tokens} from 'marked';

// Markdown is parsed with patterns, some of which take quadratic time or recurse as deep as the text nests. The text
// comes from an agent: text that costs too much is shown literally and never parsed.

// Limits of a text with markdown in it: characters, and lines other than code.
const maxLength = 256 << 10;
const maxLines = 8_000;
// Limits of a block, which ends at an empty line: characters, characters of a word, and marks of emphasis, links and
// the like.
const blockLength = 16 << 10;
const wordLength = 1_000;
const blockMarks = 1_200;
// Limits of a line: quotes and lists that begin in it, and columns of indentation.
const lineDepth = 12;
const lineIndent = 48;

// Shown literally.
export interface Plain {
  type: 'plain';
  raw: string;
}
export type Piece = Token | Plain;

const fence = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const marker = /^(?: *(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))[ \t]?)/;
const isMark = new Set([...'*_~[]`<&!\\$'].map(each => each.charCodeAt(0)));
const [tab, space, pipe] = ['\t', ' ', '|'].map(each => each.charCodeAt(0));

function isNested(line: string): boolean {
  if (/^\s*/.exec(line)![0].replaceAll('\t', '    ').length > lineIndent) return true;
  let rest = line;
  for (let depth = 0; depth <= lineDepth; depth++) {
    const found = marker.exec(rest);
    if (!found) return false;
    rest = rest.slice(found[0].length);
  }
  return true;
}

// Whether parsing a block would cost more than its length suggests.
export function isCostly(block: string): boolean {
  if (block.length > blockLength) return true;
  let [word, marks, pipes, maxPipes, lines] = [0, 0, 0, 0, 1];
  for (let at = 0; at < block.length; at++) {
    const code = block.charCodeAt(at);
    word = code === space || code === tab || code === 10 ? 0 : word + 1;
    if (isMark.has(code)) marks++;
    if (code === pipe) maxPipes = Math.max(maxPipes, ++pipes);
    if (code === 10) {
      lines++;
      pipes = 0;
    }
    if (word > wordLength || marks > blockMarks) return true;
  }
  // Each row of a table is as wide as its header.
  return maxPipes * lines > Math.max(200, block.length) || block.split('\n').some(isNested);
}

interface Cut {
  type: 'markdown' | 'plain' | 'code';
  start: number;
  end: number;
}

// Splits a text into pieces; fenced code is one piece, because nothing in it is markdown.
export function cuts(text: string): Cut[] {
  if (text.length > maxLength) return [{type: 'plain', start: 0, end: text.length}];
  const found: Cut[] = [];
  const put = (type: Cut['type'], start: number, end: number) => {
    const last = found.at(-1);
    if (start === end) return;
    if (last?.type === type && type !== 'code') last.end = end;
    else found.push({type, start, end});
  };
  let [at, block, lines] = [0, 0, 0];
  const endOf = (from: number) => {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end + 1;
  };
  const endBlock = (end: number) => {
    put(lines > maxLines || isCostly(text.slice(block, end)) ? 'plain' : 'markdown', block, end);
    block = end;
  };
  while (at < text.length) {
    const end = endOf(at);
    const line = text.slice(at, end).trimEnd();
    const open = fence.exec(line);
    if (open) {
      endBlock(at);
      const close = new RegExp(`^ {0,3}${open[1]![0]}{${open[1]!.length},}$`);
      let to = end;
      while (to < text.length) {
        const next = endOf(to);
        const isEnd = close.test(text.slice(to, next).trimEnd());
        to = next;
        if (isEnd) break;
      }
      put('code', at, to);
      at = block = to;
      continue;
    }
    lines++;
    at = end;
    if (!line) endBlock(at);
  }
  endBlock(text.length);
  return found;
}

function codeOf(raw: string): Tokens.Code {
  const lines = raw.split('\n');
  if (raw.endsWith('\n')) lines.pop();
  const [, marks = '', lang = ''] = fence.exec(lines[0]!.trimEnd()) ?? [];
  const isClosed = lines.length > 1 && lines.at(-1)!.trim().replaceAll(marks[0]!, '') === '' && lines.at(-1)!.trim().length >= marks.length;
  return {type: 'code', raw, lang: lang.trim(), text: lines.slice(1, isClosed ? -1 : undefined).join('\n')};
}

export function piecesOf(whole: string): Piece[] {
  const text = whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole;
  // One lexer for the whole text: a link's definition may follow further down.
  const lexer = new Lexer({gfm: true});
  const found = cuts(text).flatMap(({type, start, end}): Piece[] => {
    const raw = text.slice(start, end);
    if (type === 'code') return [codeOf(raw)];
    return type === 'plain' ? [{type, raw}] : lexer.blockTokens(raw, []);
  });
  for (const {src, tokens} of lexer.inlineQueue) lexer.inlineTokens(src, tokens);
  return found;
}
