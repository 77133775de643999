import {diffWordsWithSpace} from 'diff';
import type {DiffLine} from './lines.ts';

export interface Words {
  text: string;
  isChanged: boolean;
}

// Lines that follow one another, and characters of a line, that are compared word by word at most.
const mostLines = 20;
const mostLength = 300;
// Characters of a line that both have, at least: else all of it is another line.
const leastShared = 0.4;

// What changed within the lines that were replaced one by one, as long as both are much the same.
export function changedWords(lines: readonly DiffLine[]): Map<DiffLine, Words[]> {
  const found = new Map<DiffLine, Words[]>();
  let at = 0;
  while (at < lines.length) {
    const start = at;
    while (lines[at]?.kind === 'removed') at++;
    const middle = at;
    while (lines[at]?.kind === 'added') at++;
    const count = middle - start;
    if (count > 0 && count === at - middle && count <= mostLines) {
      for (let each = 0; each < count; each++) compare(lines[start + each]!, lines[middle + each]!);
    }
    if (at === start) at++;
  }
  return found;

  function compare(removed: DiffLine, added: DiffLine): void {
    if (removed.text.length > mostLength || added.text.length > mostLength) return;
    const changes = diffWordsWithSpace(removed.text, added.text);
    const shared = changes.reduce((sum, {value, added: a, removed: r}) => sum + (a || r ? 0 : value.trim().length), 0);
    if (shared < leastShared * Math.max(removed.text.trim().length, added.text.trim().length)) return;
    found.set(removed, changes.filter(each => !each.added).map(each => ({text: each.value, isChanged: each.removed})));
    found.set(added, changes.filter(each => !each.removed).map(each => ({text: each.value, isChanged: each.added})));
  }
}
