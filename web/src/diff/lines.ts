import {diffArrays} from 'diff';

// A line of a file before and after; `before` and `after` are its line numbers from 1, 0 if absent there.
export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  before: number;
  after: number;
  text: string;
}

// The lines of a text. A line end at the end of the text starts no further line.
export function linesOf(told: string): string[] {
  if (told === '') return [];
  const lines = told.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

// Limit of edits between two anchors: the cost grows with the square.
const maxEdits = 250;

// The lines of both texts with removals and additions, in steps: the caller can pause between two steps, so that a long
// file does not block the page. Lines that occur once in both texts divide them first; a section that differs in more
// than `maxEdits` lines is shown as completely replaced.
export function* diffLines(before: readonly string[], after: readonly string[]): Generator<void, DiffLine[]> {
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  const same = () => { out.push({kind: 'same', before: ++i, after: ++j, text: after[j - 1]!}); };
  const removed = () => { out.push({kind: 'removed', before: ++i, after: 0, text: before[i - 1]!}); };
  const added = () => { out.push({kind: 'added', before: 0, after: ++j, text: after[j - 1]!}); };

  let endI = before.length;
  let endJ = after.length;
  while (i < endI && j < endJ && before[i] === after[j]) same();
  let tail = 0;
  while (i < endI && j < endJ && before[endI - 1] === after[endJ - 1]) { endI--; endJ--; tail++; }
  yield;
  const anchors = anchorsOf(before, after, i, endI, j, endJ);
  yield;
  for (const [nextI, nextJ] of [...anchors, [endI, endJ] as const]) {
    while (i < nextI && j < nextJ && before[i] === after[j]) same();
    if (i === nextI) {
      while (j < nextJ) added();
    } else if (j === nextJ) {
      while (i < nextI) removed();
    } else {
      const changes = diffArrays(before.slice(i, nextI), after.slice(j, nextJ), {maxEditLength: maxEdits});
      for (const change of changes ?? [{count: nextI - i, removed: true}, {count: nextJ - j, added: true}]) {
        const step = change.removed ? removed : change.added ? added : same;
        for (let left = change.count; left > 0; left--) step();
      }
      yield;
    }
  }
  for (; tail > 0; tail--) same();
  return out;
}

// Positions of lines that occur exactly once in both sections, in an order common to both: their longest increasing
// subsequence (patience diff).
function anchorsOf(
  before: readonly string[], after: readonly string[], i: number, endI: number, j: number, endJ: number,
): [number, number][] {
  const once = (lines: readonly string[], from: number, to: number) => {
    const places = new Map<string, number>();
    for (let at = from; at < to; at++) places.set(lines[at]!, places.has(lines[at]!) ? -1 : at);
    return places;
  };
  const places = once(after, j, endJ);
  const pairs: [number, number][] = [];
  for (const [line, at] of once(before, i, endI)) {
    const other = places.get(line) ?? -1;
    if (at >= 0 && other >= 0) pairs.push([at, other]);
  }
  // `ends[k]` is the pair that ends the subsequence of length k + 1 with the smallest position in `after`.
  const ends: number[] = [];
  const comesAfter = new Array<number>(pairs.length).fill(-1);
  pairs.forEach(([, place], at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < place) low = middle + 1;
      else high = middle;
    }
    if (low > 0) comesAfter[at] = ends[low - 1]!;
    ends[low] = at;
  });
  const run: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = comesAfter[at]!) run.push(pairs[at]!);
  return run.reverse();
}
