import type {Token, Tokens} from 'marked';
import {Component, Fragment, type ComponentChildren} from 'preact';
import {Boundary} from './failure.tsx';
import {safeHref} from './links.ts';
import {type Piece, piecesOf} from './markdown_pieces.ts';
import {visible} from './visible.ts';

// Markdown as elements. Text never becomes HTML: tags in it are shown literally.

export interface Block {
  token: Piece;
  // Offset in the text.
  start: number;
}

// The blocks of a text that grows at its end. Blocks before the last two are settled: they keep their identity, and
// only the text after them is parsed again.
export class BlockList {
  private text = '';
  blocks: Block[] = [];

  read(text: string): Block[] {
    if (text === this.text) return this.blocks;
    let kept: Block[] = [];
    if (this.text && text.startsWith(this.text)) kept = this.blocks.slice(0, -2);
    const last = kept.at(-1);
    let at = last ? last.start + last.token.raw.length : 0;
    const rest: Block[] = [];
    for (const token of piecesOf(text.slice(at))) {
      if (token.type !== 'space') rest.push({token, start: at});
      at += token.raw.length;
    }
    // The parser may have rewritten line ends and tabs, so that offsets are wrong.
    const fits = rest.every(({token, start}) => text.startsWith(token.raw, start));
    this.text = fits ? text : '';
    this.blocks = [...kept, ...rest];
    return this.blocks;
  }
}

const named: Record<string, string> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0'};
export const unescape = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,8}));/gi, (whole, dec, hex, name) => {
    if (name) return named[String(name).toLowerCase()] ?? whole;
    const code = dec ? Number(dec) : parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

// Maximum nesting depth; deeper content is shown literally.
const maxLevels = 40;

const inline = (tokens: Token[] | undefined, level = 0): ComponentChildren =>
  tokens?.map((token, at) => (level > maxLevels ? token.raw : inlineOf(token, at, level + 1))) ?? null;

function inlineOf(token: Token, at: number, level: number): ComponentChildren {
  switch (token.type) {
    case 'text': case 'escape':
      return 'tokens' in token && token.tokens ? <Fragment key={at}>{inline(token.tokens, level)}</Fragment>
        : unescape((token as Tokens.Text).text);
    case 'strong': return <strong key={at}>{inline(token.tokens, level)}</strong>;
    case 'em': return <em key={at}>{inline(token.tokens, level)}</em>;
    case 'del': return <del key={at}>{inline(token.tokens, level)}</del>;
    case 'codespan': return <code key={at}>{(token as Tokens.Codespan).text}</code>;
    case 'br': return <br key={at} />;
    case 'link': return linkOf(token as Tokens.Link, inline(token.tokens, level), at);
    case 'image': return linkOf(token as Tokens.Image, `Image: ${token.text || token.href}`, at);
    default: return token.raw;
  }
}

function linkOf(token: {href: string}, children: ComponentChildren, at: number): ComponentChildren {
  const href = safeHref(token.href);
  if (!href) return <Fragment key={at}>{children}</Fragment>;
  return <a key={at} href={href} target="_blank" rel="noopener noreferrer">{children}</a>;
}

function blockOf(token: Piece, level = 0): ComponentChildren {
  if (level > maxLevels) return token.raw;
  switch (token.type) {
    case 'plain': return <PlainText text={token.raw} />;
    case 'heading': {
      // Below the headings of the page.
      const level = Math.min(6, (token as Tokens.Heading).depth + 2);
      const Heading = `h${level}` as 'h3';
      return <Heading>{inline(token.tokens)}</Heading>;
    }
    case 'paragraph': return <p>{inline(token.tokens)}</p>;
    case 'text': return <Fragment>{token.tokens ? inline(token.tokens) : unescape(token.text)}</Fragment>;
    case 'code': return <Code text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang} />;
    case 'blockquote': return <blockquote>{blocksOf(token.tokens, level + 1)}</blockquote>;
    case 'hr': return <hr />;
    case 'list': return listOf(token as Tokens.List, level + 1);
    case 'table': return tableOf(token as Tokens.Table);
    case 'space': case 'def': return null;
    default: return <p>{token.raw}</p>;
  }
}

const blocksOf = (tokens: Token[] | undefined, level: number): ComponentChildren =>
  tokens?.map((token, at) => <Fragment key={at}>{blockOf(token, level)}</Fragment>) ?? null;

function listOf(list: Tokens.List, level: number): ComponentChildren {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : undefined}>
      {item.task && <span aria-label={item.checked ? 'done' : 'to do'} role="img">{item.checked ? '☑ ' : '☐ '}</span>}
      {blocksOf(item.tokens.filter(({type}) => type !== 'checkbox'), level)}
    </li>));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function tableOf(table: Tokens.Table): ComponentChildren {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map((cell, at) => <Cell key={at} class={cell.align ? `align-${cell.align}` : undefined}>{inline(cell.tokens)}</Cell>);
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead><tr>{cells(table.header, 'th')}</tr></thead>
        <tbody>{table.rows.map((row, at) => <tr key={at}>{cells(row, 'td')}</tr>)}</tbody>
      </table>
    </div>);
}

const PlainText = ({text}: {text: string}) => <p class="plain">{text}</p>;

export function Code({text, language, show = visible}:
{text: string; language?: string | undefined; show?: (text: string) => ComponentChildren}) {
  return (
    <div class="code">
      {language && <span class="code-language">{language}</span>}
      <pre tabIndex={0} role="region" aria-label={language ? `Code, ${language}` : 'Code'}><code>{show(text)}</code></pre>
    </div>);
}

class BlockView extends Component<{raw: string; token: Piece}> {
  override shouldComponentUpdate(next: {raw: string}) { return next.raw !== this.props.raw; }
  override render() { return blockOf(this.props.token); }
}

export class Markdown extends Component<{text: string}> {
  private readonly list = new BlockList();
  override shouldComponentUpdate(next: {text: string}) { return next.text !== this.props.text; }
  override render() {
    return (
      <div class="markdown">
        {this.list.read(this.props.text).map(({token, start}) => (
          <Boundary key={start} of={token.raw} plain={() => token.raw}><BlockView raw={token.raw} token={token} /></Boundary>))}
      </div>);
  }
}
