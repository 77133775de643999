import type {Json} from '../api/types.ts';
import type {Part} from './log.ts';

// Searches the parts of a conversation, in everything that is displayed there.

// A matching part. Its identity is stable when parts are inserted before it or text is added to it.
export type Found = Pick<Part, 'key' | 'seq' | 'lastSeq'>;

// Parts searched in one step.
const stepParts = 50;

// Matches the words literally, ignoring case.
export const pattern = (words: string): RegExp => new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');

function isIn(value: unknown, words: RegExp): boolean {
  const left = [value];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each === 'object' && each !== null) {
      for (const inner of Object.values(each)) left.push(inner);
    } else if (each !== null && each !== undefined) {
      words.lastIndex = 0;
      if (words.test(String(each))) return true;
    }
  }
  return false;
}

function shown(part: Part): Json | undefined {
  switch (part.kind) {
    case 'prompt': return [part.text, ...part.images.map(({name}) => name)];
    case 'message': case 'thought': return part.text;
    case 'gap': return '';
    case 'plan': return part.entries.map(({content}) => content);
    case 'tool': return [part.title, part.rawInput ?? null, part.rawOutput ?? null, part.content, part.locations];
    default: return part.data;
  }
}

// Finds the parts that contain the words, in steps. Excludes text that is not recorded yet.
export function* find(parts: readonly Part[], words: string): Generator<void, Found[]> {
  const wanted = pattern(words);
  const found: Found[] = [];
  let looked = 0;
  for (const part of parts) {
    if (part.seq > 0 && isIn(shown(part), wanted)) found.push({key: part.key, seq: part.seq, lastSeq: part.lastSeq});
    if (++looked % stepParts === 0) yield;
  }
  return found;
}

export const indexIn = (found: readonly Found[], one: Found | null): number =>
  (one ? found.findIndex(({key, lastSeq}) => key === one.key || lastSeq === one.lastSeq) : -1);

// The match after, or before, the current one; at first the one at or after `seq`, or else the one before it. Wraps
// around.
export function step(found: readonly Found[], one: Found | null, by: 1 | -1, seq: number): Found | null {
  if (found.length === 0) return null;
  const at = indexIn(found, one);
  if (at >= 0) return found[(at + by + found.length) % found.length]!;
  const from = one?.seq ?? seq;
  if (by < 0) return found.findLast(each => each.seq < from) ?? found.at(-1)!;
  return found.find(each => each.seq >= from) ?? found.at(one ? 0 : -1)!;
}
