import type {Json, Session} from '../api/types.ts';
import {fileDiffs, type FileDiff} from '../diff/blocks.ts';
import {diffsOf, isLarge, type DiffSource} from '../diff/source.ts';
import {isObject} from '../ui/json_value.ts';
import {begin} from '../ui/text.ts';
import {nameOf, words} from '../session_list/groups.ts';
import type {OtherPart, Part, ToolPart} from './log.ts';

// Exports a conversation as markdown. Messages are quoted and actions are fenced, so that their text is never taken for
// a heading or another speaker.

// Limit of a transcript in characters.
export const maxLength = 32 << 20;

export class TooLong extends Error {
  constructor() {
    super(`The conversation is too long to export: more than ${maxLength >> 20} MiB or 50,000 events.`);
  }
}

const lineEnd = /\r\n|\r|\n/;
const quote = (text: string): string =>
  text.trim().split(lineEnd).map(line => (line ? `> ${line}` : '>')).join('\n');

const maxRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((most, {length}) => Math.max(most, length), 0);

// Longer than any run of backticks in the text, so that nothing in the text ends the fence.
function fence(text: string, language = ''): string {
  const marks = '`'.repeat(Math.max(3, maxRun(text) + 1));
  return `${marks}${language}\n${text.replace(/[\r\n]+$/, '')}\n${marks}`;
}

// Inline code, so that nothing in the text is markdown.
function inline(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const marks = '`'.repeat(maxRun(line) + 1);
  return line ? `${marks} ${line} ${marks}` : '';
}
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().replace(/[\\`*_[\]<>&~#|]/g, '\\$&');

const when = (time: string): string => (time ? ` · ${plain(time.slice(0, 19).replace('T', ' '))}` : '');
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function value(name: string, told: Json | undefined): string[] {
  if (told === undefined || told === null || told === '') return [];
  return typeof told === 'string' ? [`${name}:`, fence(told)] : [`${name}:`, fence(JSON.stringify(told, null, 2), 'json')];
}

const signs = {same: ' ', removed: '-', added: '+'};

function linesOf(file: FileDiff): string {
  return file.blocks.flatMap(block => (block.kind === 'fold' ? [`@@ ${block.count} unchanged lines @@`]
    : block.lines.map(line => signs[line.kind] + line.text))).join('\n');
}

function* change(source: DiffSource): Generator<void, string[]> {
  const title = `Change to ${inline(source.path) || 'a file'}:`;
  const whole = source.kind === 'patch' ? fence(source.patch, 'diff') : fence(source.after);
  if (isLarge(source)) return [title, whole];
  const files = yield* fileDiffs(source);
  return [title, ...(files?.map(each => fence(linesOf(each), 'diff')) ?? [whole])];
}

function* tool(part: ToolPart): Generator<void, string[]> {
  const out = [`### ${inline(part.title || part.id)}: ${part.status}${when(part.time)}`];
  const diffs = diffsOf(part);
  for (const each of diffs) out.push(...yield* change(each));
  if (diffs.length === 0 || part.content.length > 0) out.push(...value('Input', part.rawInput));
  for (const each of part.content) {
    if (each.type === 'diff') continue;
    const inner = isObject(each.content) && each.content.type === 'text' ? each.content.text : each;
    out.push(...value('Content', inner));
  }
  out.push(...value('Output', part.rawOutput));
  for (const each of part.decisions) out.push(decision(each));
  return out;
}

const decision = (data: {[name: string]: Json}): string =>
  `Permission: ${plain(text(data.title) || words(text(data.outcome)))}, ${plain(text(data.selected_option) || 'none')}, by ${plain(text(data.decided_by) || 'a user')}`;

function other(part: OtherPart): string[] {
  const {data} = part;
  const reason = data.reason ? `: ${plain(words(text(data.reason)))}` : '';
  switch (part.kind) {
    case 'turn_end': return ['---', `Turn ${plain(text(data.outcome))}${reason}${when(part.time)}`];
    case 'session_start': return [`Session started${when(part.time)}`];
    case 'session_end': return ['---', `Session ended${reason}${when(part.time)}`];
    case 'file': return [`${part.type === 'file_write' ? 'Wrote' : 'Read'} ${inline(text(data.path))}`];
    case 'error': return ['### Error', quote(text(data.message))];
    case 'permission': return [decision(data)];
    default: return [`### ${plain(words(part.type))}${when(part.time)}`, fence(JSON.stringify(data, null, 2), 'json')];
  }
}

function* partOf(part: Part): Generator<void, string[]> {
  switch (part.kind) {
    case 'prompt':
      return [`## You${when(part.time)}`, quote(part.text), ...part.images.map(({id, name}) => `Image: ${inline(name || id)}`)];
    case 'message': return [`## Agent${when(part.time)}`, quote(part.text)];
    case 'thought': return [`### Thought${when(part.time)}`, quote(part.text)];
    case 'plan': return ['### Plan', part.entries.map(({content, status}) =>
      `- [${status === 'completed' ? 'x' : ' '}] ${plain(content)}${status === 'in_progress' ? ' (in progress)' : ''}`).join('\n')];
    case 'tool': return yield* tool(part);
    case 'gap': return ['…'];
    default: return other(part);
  }
}

// Works in steps, like the comparison of files. Throws TooLong.
export function* transcript(session: Pick<Session, 'name' | 'session_id' | 'acp_server' | 'working_dir'>,
  parts: readonly Part[], most = maxLength): Generator<void, string> {
  const about = [session.session_id, session.acp_server, session.working_dir].filter(Boolean).map(inline);
  const out = [`# ${plain(nameOf(session))}`, about.join(' · ')];
  let length = 0;
  for (const part of parts) {
    const pieces = yield* partOf(part);
    if (part.omitted) pieces.push(`(${part.omitted.toLocaleString('en')} bytes omitted)`);
    for (const each of pieces) length += each.length + 2;
    if (length > most) throw new TooLong();
    out.push(...pieces);
    yield;
  }
  return `${out.join('\n\n')}\n`;
}

export const fileName = (session: Pick<Session, 'name' | 'session_id'>): string =>
  `${begin(nameOf(session).normalize('NFC').replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+|[.-]+$/g, ''), 60) || 'session'}.md`;
