import {diffWordsWithSpace} from 'diff';
import type {DiffLine} from './lines.ts';

export interface Words {
  text: string;
  isChanged: boolean;
}

// Limits of word-by-word comparison: consecutive lines, and characters per line.
const maxLines = 20;
const maxLength = 300;
// Minimum share of common characters: below it, the lines are different.
const leastShared = 0.4;

// The changed words in lines replaced one by one, if both versions are similar.
export function changedWords(lines: readonly DiffLine[]): Map<DiffLine, Words[]> {
  const found = new Map<DiffLine, Words[]>();
  let at = 0;
  while (at < lines.length) {
    const start = at;
    while (lines[at]?.kind === 'removed') at++;
    const middle = at;
    while (lines[at]?.kind === 'added') at++;
    const count = middle - start;
    if (count > 0 && count === at - middle && count <= maxLines) {
      for (let each = 0; each < count; each++) compare(lines[start + each]!, lines[middle + each]!);
    }
    if (at === start) at++;
  }
  return found;

  function compare(removed: DiffLine, added: DiffLine): void {
    if (removed.text.length > maxLength || added.text.length > maxLength) return;
    const changes = diffWordsWithSpace(removed.text, added.text);
    const shared = changes.reduce((sum, {value, added: a, removed: r}) => sum + (a || r ? 0 : value.trim().length), 0);
    if (shared < leastShared * Math.max(removed.text.trim().length, added.text.trim().length)) return;
    found.set(removed, changes.filter(each => !each.added).map(each => ({text: each.value, isChanged: each.removed})));
    found.set(added, changes.filter(each => !each.removed).map(each => ({text: each.value, isChanged: each.added})));
  }
}
