import type {Json, JsonObject} from '../api/types.ts';
import {begin} from './text.ts';

// A JSON value as the rows of a tree; only expanded rows are created.

export interface TreeRow {
  // Position in the value, as a JSON pointer (RFC 6901); '' is the value itself.
  path: string;
  name: string;
  value: Json;
  level: number;
  // Null if there is nothing to expand.
  isOpen: boolean | null;
  position: number;
  setSize: number;
  // URL of an image to show for the value.
  picture?: string;
  // The value was parsed from a string.
  isParsed?: boolean;
  // Number of children not created yet, for which this row stands.
  left?: number;
}

// Path suffix of a row that stands for more children; no escaped name equals it.
export const morePath = '/~more';
// Children of a value created at a time.
export const childStep = 100;
// Characters of a string before the rest is folded.
export const foldedLength = 300;
// Maximum characters of a string that is parsed as JSON, or shown as an image.
const parsedLength = 1 << 20;
const pictureLength = 12 << 20;

const pictureUrl = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const pictureType = /^image\/(?:png|jpeg|gif|webp)$/;
const base64 = /^[A-Za-z0-9+/]{16,}={0,2}$/;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// The image of a value: a data: URL, or base64 next to its type, as in MCP.
export function pictureOf(value: Json, parent: Json): string | undefined {
  if (typeof value !== 'string' || value.length > pictureLength) return undefined;
  if (value.startsWith('data:image/')) return pictureUrl.test(value) ? value : undefined;
  if (!isObject(parent) || parent.data !== value) return undefined;
  const type = parent.mimeType ?? parent.mime_type;
  if (typeof type !== 'string' || !pictureType.test(type) || !base64.test(value)) return undefined;
  return `data:${type};base64,${value}`;
}

// The parsed content of a string if it is an object or an array; a number in quotes stays a string.
export function parsedString(text: string): Json | undefined {
  const first = text.trimStart()[0];
  if ((first !== '{' && first !== '[') || text.length > parsedLength) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const countOf = (value: Json): number =>
  Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;

// A short summary of a value, for its row.
export function summaryOf(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${counted(value.length, 'item')}]`;
  if (!isObject(value)) return typeof value === 'string' ? value : String(value);
  const names = Object.keys(value);
  if (names.length === 0) return '{}';
  const shown = names.slice(0, 3).join(', ');
  return `{${shown.length > 60 ? `${begin(shown, 60)}…` : shown}${names.length > 3 ? ', …' : ''}}`;
}

// Maximum depth of a value printed with indentation; a deeper one would be mostly blanks.
const prettyDepth = 40;

function isDeep(value: Json, left = prettyDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some(each => isDeep(each, left - 1));
}

export const pretty = (value: Json): string => JSON.stringify(value, null, isDeep(value) ? 0 : 2);

export const counted = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

// The expanded rows, and how many of their children are created.
export class OpenRows {
  private readonly shown = new Map<string, number>();

  isOpen(path: string): boolean { return this.shown.has(path); }
  count(path: string): number { return this.shown.get(path) ?? 0; }
  open(path: string): void { if (!this.shown.has(path)) this.shown.set(path, childStep); }
  close(path: string): void { this.shown.delete(path); }
  more(path: string): void { this.shown.set(path, this.count(path) + childStep); }
}

export function rowsOf(value: Json, open: OpenRows): TreeRow[] {
  const rows: TreeRow[] = [];
  add(value, null, {path: '', name: '', level: 1, position: 1, setSize: 1});
  return rows;

  function add(told: Json, parent: Json, at: Pick<TreeRow, 'path' | 'name' | 'level' | 'position' | 'setSize'>): void {
    const picture = pictureOf(told, parent);
    const parsed = typeof told === 'string' && !picture ? parsedString(told) : undefined;
    const shown = parsed === undefined ? told : parsed;
    const count = countOf(shown);
    const isLong = typeof shown === 'string' && !picture && shown.length > foldedLength;
    const canOpen = count > 0 || isLong;
    const isOpen = canOpen && open.isOpen(at.path);
    rows.push({...at, value: shown, isOpen: canOpen ? isOpen : null,
      ...(picture ? {picture} : {}), ...(parsed === undefined ? {} : {isParsed: true})});
    if (!isOpen || count === 0) return;
    const made = Math.min(count, open.count(at.path));
    const child = (name: string, each: Json, position: number) => add(each, shown, {
      path: `${at.path}/${escaped(name)}`, name, level: at.level + 1, position, setSize: count});
    if (Array.isArray(shown)) {
      for (let index = 0; index < made; index++) child(String(index), shown[index]!, index + 1);
    } else if (isObject(shown)) {
      Object.keys(shown).slice(0, made).forEach((name, index) => child(name, shown[name]!, index + 1));
    }
    if (made < count) {
      rows.push({path: at.path + morePath, name: '', value: null, level: at.level + 1, isOpen: null,
        position: made + 1, setSize: count, left: count - made});
    }
  }
}

// The parent of the row at `index`; -1 for the outermost row.
export function parentRow(rows: readonly TreeRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let at = index - 1; at >= 0; at--) if (rows[at]!.level < level) return at;
  return -1;
}
