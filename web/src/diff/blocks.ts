import {parsePatch} from 'diff';
import {diffLines, linesOf, type DiffLine} from './lines.ts';
import type {DiffSource} from './source.ts';

// The displayed blocks of a diff: lines, and folded runs of unchanged lines between them. A patch does not contain its
// folded lines: their `lines` are empty.
export type DiffBlock =
  | {kind: 'lines'; lines: DiffLine[]}
  | {kind: 'fold'; count: number; lines: DiffLine[]};

export interface FileDiff {
  path: string;
  added: number;
  removed: number;
  blocks: DiffBlock[];
}

// Unchanged lines shown on either side of a change.
const context = 3;
// Minimum length of a folded run beyond its context.
const leastFold = 4;

export function foldSame(lines: readonly DiffLine[]): DiffBlock[] {
  const blocks: DiffBlock[] = [];
  const show = (from: number, to: number) => {
    if (from >= to) return;
    let last = blocks.at(-1);
    if (last?.kind !== 'lines') blocks.push(last = {kind: 'lines', lines: []});
    for (let each = from; each < to; each++) last.lines.push(lines[each]!);
  };
  let at = 0;
  while (at < lines.length) {
    let end = at;
    while (end < lines.length && lines[end]!.kind === 'same') end++;
    if (end > at) {
      const from = at === 0 ? 0 : at + context;
      const to = end === lines.length ? end : end - context;
      if (to - from < leastFold) show(at, end);
      else {
        show(at, from);
        blocks.push({kind: 'fold', count: to - from, lines: lines.slice(from, to)});
        show(to, end);
      }
      at = end;
    }
    while (end < lines.length && lines[end]!.kind !== 'same') end++;
    show(at, end);
    at = end;
  }
  return blocks;
}

const count = (lines: readonly DiffLine[], kind: DiffLine['kind']): number =>
  lines.reduce((sum, line) => sum + (line.kind === kind ? 1 : 0), 0);

// The files of a patch; null if it cannot be parsed.
export function ofPatch(patch: string, path = ''): FileDiff[] | null {
  let files;
  try {
    files = parsePatch(patch);
  } catch {
    return null;
  }
  const known = files.filter(({hunks}) => hunks.length > 0);
  return known.length === 0 ? null : known.map(({oldFileName, newFileName, hunks}) => {
    const blocks: DiffBlock[] = [];
    let reached = 1;
    let added = 0;
    let removed = 0;
    for (const hunk of hunks) {
      if (hunk.oldStart > reached) blocks.push({kind: 'fold', count: hunk.oldStart - reached, lines: []});
      reached = hunk.oldStart + hunk.oldLines;
      let before = hunk.oldStart;
      let after = hunk.newStart;
      const lines: DiffLine[] = [];
      for (const line of hunk.lines) {
        const text = line.slice(1);
        if (line[0] === '+') lines.push({kind: 'added', before: 0, after: after++, text});
        else if (line[0] === '-') lines.push({kind: 'removed', before: before++, after: 0, text});
        else if (line[0] !== '\\') lines.push({kind: 'same', before: before++, after: after++, text});
      }
      added += count(lines, 'added');
      removed += count(lines, 'removed');
      blocks.push({kind: 'lines', lines});
    }
    return {path: nameOf(newFileName) || nameOf(oldFileName) || path, added, removed, blocks};
  });
}

const nameOf = (told: string | undefined): string =>
  !told || told === '/dev/null' ? '' : told.replace(/^[ab]\//, '');

// The files that a source changes, in steps like diffLines; null if it cannot be parsed.
export function* fileDiffs(source: DiffSource): Generator<void, FileDiff[] | null> {
  if (source.kind === 'patch') return ofPatch(source.patch, source.path);
  const lines = yield* diffLines(linesOf(source.before), linesOf(source.after));
  return [{path: source.path, added: count(lines, 'added'), removed: count(lines, 'removed'),
    blocks: foldSame(lines)}];
}
