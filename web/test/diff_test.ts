import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fileDiffs, foldSame, ofPatch} from '../src/diff/blocks.ts';
import {diffLines, linesOf, type DiffLine} from '../src/diff/lines.ts';
import {inSlices} from '../src/diff/slices.ts';
import {changedWords} from '../src/diff/words.ts';
import {diffsOf, isLarge, largeLength, largeLines} from '../src/diff/source.ts';

function run<T>(work: Generator<void, T>): {result: T; steps: number} {
  for (let steps = 0; ; steps++) {
    const {done, value} = work.next();
    if (done) return {result: value as T, steps};
  }
}
const lines = (before: string[], after: string[]) => run(diffLines(before, after)).result;
const put = (all: string[], place: number, text: string) => all.map((each, at) => (at === place ? text : each));
const brief = (all: DiffLine[]) => all.map(({kind, text}) => `${{same: ' ', removed: '-', added: '+'}[kind]}${text}`);

// Every diff has both texts, in order, with their line numbers.
function check(before: string[], after: string[]) {
  const all = lines(before, after);
  const side = (name: 'before' | 'after') => all.filter(line => line[name] > 0);
  assert.deepEqual(side('before').map(({text}) => text), before);
  assert.deepEqual(side('after').map(({text}) => text), after);
  for (const name of ['before', 'after'] as const) side(name).forEach((line, at) => assert.equal(line[name], at + 1));
  return all;
}

test('a changed line is a removal and an addition between unchanged lines', () => {
  assert.deepEqual(brief(lines(['a', 'b', 'c'], ['a', 'x', 'c'])), [' a', '-b', '+x', ' c']);
  assert.deepEqual(brief(lines([], ['a'])), ['+a']);
  assert.deepEqual(brief(lines(['a'], [])), ['-a']);
  assert.deepEqual(lines([], []), []);
});

test('both texts can be rebuilt from any diff', () => {
  let seed = 1;
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const words = 2 + next(12);
    const before = Array.from({length: next(40)}, () => `w${next(words)}`);
    const after = before.flatMap(line => (next(4) ? [line] : next(2) ? [] : [line, `w${next(words)}`]));
    check(before, after);
  }
});

test('unique lines anchor the unchanged lines of a diff', () => {
  const all = check(['start', 'one', 'two', 'end'], ['zero', 'one', 'two', 'three']);
  assert.deepEqual(all.filter(({kind}) => kind === 'same').map(({text}) => text), ['one', 'two']);
});

test('a diff of 10,000 lines completes when all lines or every tenth line differ', () => {
  const many = Array.from({length: 10_000}, (_, at) => `line ${at}`);
  assert.equal(check(many, many.map(line => `${line}!`)).length, 20_000);
  const some = many.map((line, at) => (at % 10 ? line : `${line}!`));
  const {result, steps} = run(diffLines(many, some));
  assert.equal(result.filter(({kind}) => kind === 'added').length, 1000);
  assert.ok(steps > 900, `${steps} steps`);
  // No line is unique: the diff gives up on one stretch with everything.
  const same = Array.from({length: 5000}, (_, at) => `w${at % 7}`);
  const other = Array.from({length: 5000}, (_, at) => `w${(at * 3) % 11}`);
  check(same, other);
});

test('a text is split into lines, and a final line break adds none', () => {
  assert.deepEqual(linesOf(''), []);
  assert.deepEqual(linesOf('a\nb\n'), ['a', 'b']);
  assert.deepEqual(linesOf('a\n\n'), ['a', '']);
});

test('unchanged runs are folded except for three lines next to a change', () => {
  const before = Array.from({length: 40}, (_, at) => `l${at}`);
  const after = put(before, 20, 'x');
  const blocks = foldSame(lines(before, after));
  assert.deepEqual(blocks.map(block => (block.kind === 'fold' ? block.count : brief(block.lines))), [
    17, [' l17', ' l18', ' l19', '-l20', '+x', ' l21', ' l22', ' l23'], 16]);
  // An unchanged run that is hardly longer than its context is not folded.
  const near = foldSame(lines(before.slice(0, 12), put(put(before.slice(0, 12), 0, 'x'), 10, 'y')));
  assert.deepEqual(near.map(({kind}) => kind), ['lines']);
});

test('a unified patch is parsed into blocks, and an invalid one is rejected', () => {
  const files = ofPatch('--- a/x.cc\n+++ b/x.cc\n@@ -10,3 +10,4 @@ f()\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n');
  assert.equal(files?.length, 1);
  const [file] = files!;
  assert.deepEqual([file!.path, file!.added, file!.removed], ['x.cc', 2, 1]);
  assert.deepEqual(file!.blocks[0], {kind: 'fold', count: 9, lines: []});
  const [, shown] = file!.blocks;
  assert.deepEqual(shown!.kind === 'lines' && shown!.lines.map(({before, after}) => [before, after]),
    [[10, 10], [11, 0], [0, 11], [0, 12], [12, 13]]);
  assert.equal(ofPatch('nothing of the kind'), null);
  assert.equal(ofPatch('--- a\n+++ b\n@@ -1,9 +1,9 @@\n x\n'), null);
});

test('a patch that adds a file has the path of the file and no fold', () => {
  const [file] = ofPatch('--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n')!;
  assert.equal(file!.path, 'new.txt');
  assert.deepEqual(file!.blocks.map(({kind}) => kind), ['lines']);
});

test('diffs are found in the content, input and output of a tool call', () => {
  const acp = {content: [{type: 'diff', path: '/a', oldText: null, newText: 'x'}, {type: 'content'}]};
  assert.deepEqual(diffsOf(acp), [{kind: 'texts', path: '/a', before: '', after: 'x'}]);
  const edit = {content: [], rawInput: {file_path: '/b', old_string: 'a', new_string: 'b'}};
  assert.deepEqual(diffsOf(edit), [{kind: 'texts', path: '/b', before: 'a', after: 'b'}]);
  const edits = {content: [], rawInput: {file_path: '/c', edits: [
    {old_string: '1', new_string: '2'}, {old_string: '3', new_string: '4'}]}};
  assert.deepEqual(diffsOf(edits).map(({path}) => path), ['/c', '/c']);
  const patch = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
  assert.deepEqual(diffsOf({content: [], rawInput: {patch}}), [{kind: 'patch', path: '', patch}]);
  assert.deepEqual(diffsOf({content: [], rawOutput: patch}), [{kind: 'patch', path: '', patch}]);
  assert.deepEqual(diffsOf({content: [], rawInput: {command: 'ls'}, rawOutput: 'a @@ b'}), []);
});

test('the same tool call gives the same diff sources', () => {
  const call = {content: [{type: 'diff', path: '/a', oldText: 'x', newText: 'y'}]};
  assert.equal(diffsOf(call)[0], diffsOf(call)[0]);
  assert.notEqual(diffsOf({...call})[0], diffsOf(call)[0]);
});

test('changed words are marked in lines that are mostly the same', () => {
  const changed = (before: string[], after: string[]) => {
    const all = lines(before, after);
    const words = changedWords(all);
    return all.map(line => words.get(line)?.filter(({isChanged}) => isChanged).map(({text}) => text));
  };
  assert.deepEqual(changed(['if (!ok) return one;'], ['if (!ok) return two;']), [['one'], ['two']]);
  assert.deepEqual(changed(['alpha'], ['entirely other words']), [undefined, undefined]);
  assert.deepEqual(changed(['a b c', 'same'], ['a x c', 'more', 'same']), [undefined, undefined, undefined, undefined]);
  const all = lines(['let a = 1;'], ['let a = 2;']);
  for (const [line, words] of changedWords(all)) assert.equal(words.map(({text}) => text).join(''), line.text);
});

test('a diff above the line or length limit counts as large', () => {
  const of = (after: string) => isLarge({kind: 'texts', path: '', before: '', after});
  assert.equal(of('x\n'.repeat(largeLines - 1)), false);
  assert.equal(of('x\n'.repeat(largeLines + 1)), true);
  assert.equal(of('x'.repeat(largeLength)), false);
  assert.equal(of('x'.repeat(largeLength + 1)), true);
});

test('a slice ends when its time is used up, and an abandoned diff reports nothing', () => {
  let now = 0;
  const waiting: (() => void)[] = [];
  const pace = {now: () => now, later: (next: () => void) => { waiting.push(next); }};
  function* work() { for (let at = 0; at < 6; at++) { now += 5; yield; } return 'done'; }
  const told: string[] = [];
  inSlices(work(), each => told.push(each), undefined, pace);
  let slices = 1;
  while (waiting.length > 0) { slices++; waiting.shift()!(); }
  assert.deepEqual([told, slices], [['done'], 3]);

  const abort = new AbortController();
  inSlices(work(), each => told.push(each), abort.signal, pace);
  abort.abort();
  while (waiting.length > 0) waiting.shift()!();
  assert.deepEqual(told, ['done']);
});

test('a diff source gives its path and the counts of added and removed lines', () => {
  const {result} = run(fileDiffs({kind: 'texts', path: 'f', before: 'a\nb\n', after: 'a\nc\nd\n'}));
  assert.deepEqual(result?.map(({path, added, removed}) => [path, added, removed]), [['f', 2, 1]]);
});
