import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useReducer, useState} from 'preact/hooks';
import type {DiffBlock, FileDiff} from './blocks.ts';
import {fileDiffs} from './blocks.ts';
import type {DiffLine} from './lines.ts';
import {changedWords} from './words.ts';
import {inSlices} from './slices.ts';
import {isLarge, type DiffSource} from './source.ts';
import {visible} from '../ui/visible.ts';

// Lines rendered at a time.
const lineStep = 400;

// Sources of up to this many characters are compared at once, without a progress note.
const shortLength = 32 << 10;
// Results, cached while the source exists: a row that scrolls back into view is unchanged.
const made = new WeakMap<DiffSource, FileDiff[] | null>();

function madeOf(source: DiffSource, atOnce: boolean): FileDiff[] | null | 'working' {
  const found = made.get(source);
  if (found !== undefined) return found;
  const length = source.kind === 'patch' ? source.patch.length : source.before.length + source.after.length;
  if (!atOnce && length > shortLength) return 'working';
  const work = fileDiffs(source);
  let step = work.next();
  while (!step.done) step = work.next();
  made.set(source, step.value);
  return step.value;
}

type Show = (text: string) => ComponentChildren;

// The changes of a tool call to a file, by line, computed in slices so that a long file does not block the page.
// `whole`: all changed lines at once, however many.
export function DiffView({source, show = visible, whole = false}: {source: DiffSource; show?: Show; whole?: boolean}) {
  const [, again] = useReducer((count: number) => count + 1, 0);
  const [isWanted, setWanted] = useState(() => whole || made.has(source) || !isLarge(source));
  useEffect(() => {
    if (!isWanted || whole || made.has(source)) return;
    const abort = new AbortController();
    inSlices(fileDiffs(source), files => {
      made.set(source, files);
      again(0);
    }, abort.signal);
    return () => abort.abort();
  }, [source, isWanted, whole]);

  if (!isWanted) {
    return (
      <div class="diff-ask">
        <span>The diff of <code>{show(source.path || 'a file')}</code> is large.</span>
        <button type="button" onClick={() => setWanted(true)}>Show diff</button>
      </div>);
  }
  const files = madeOf(source, whole);
  if (files === 'working') return <p class="diff-note">Comparing…</p>;
  if (files === null) return <pre class="diff-raw" tabIndex={0}>{show(source.kind === 'patch' ? source.patch : source.after)}</pre>;
  return <>{files.map((file, at) => <FileView key={`${at} ${file.path}`} file={file} show={show} whole={whole} />)}</>;
}

// The number of added and removed lines, as "+4 −1".
export function DiffCount({added, removed}: {added: number; removed: number}) {
  return (
    <span class="diff-count">
      <span class="diff-plus">+{added.toLocaleString('en')}<span class="sr"> lines added</span></span>{' '}
      <span class="diff-minus">−{removed.toLocaleString('en')}<span class="sr"> lines removed</span></span>
    </span>);
}

function FileView({file, show, whole}: {file: FileDiff; show: Show; whole: boolean}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [shown, setShown] = useState(whole ? Infinity : lineStep);
  let left = shown;
  let hidden = 0;
  const take = (lines: DiffLine[]) => {
    const some = lines.length <= left ? lines : lines.slice(0, left);
    left -= some.length;
    hidden += lines.length - some.length;
    return some;
  };
  const blockOf = (block: DiffBlock, at: number) => {
    if (block.kind === 'lines' || opened.has(at)) return <Lines key={at} lines={take(block.lines)} show={show} />;
    if (left === 0) return null;
    const words = `${block.count.toLocaleString('en')} unchanged ${block.count === 1 ? 'line' : 'lines'}`;
    if (block.lines.length === 0) return <div key={at} class="diff-fold">⋯ {words}</div>;
    return (
      <button key={at} type="button" class="diff-fold" onClick={() => setOpened(new Set([...opened, at]))}>
        ⋯ {words}
      </button>);
  };
  const blocks = file.blocks.map(blockOf);
  const name = file.path || 'a file';
  return (
    <figure class="diff">
      <figcaption>
        <code class="diff-path">{show(name)}</code> <DiffCount added={file.added} removed={file.removed} />
      </figcaption>
      {file.added + file.removed === 0
        ? <p class="diff-note">No changes</p>
        : <div class="diff-body" role="region" aria-label={`Changes in ${visible(name)}`} tabIndex={0}>{blocks}</div>}
      {hidden > 0 && (
        <button type="button" class="diff-fold" onClick={() => setShown(shown + lineStep)}>
          {hidden.toLocaleString('en')} more lines
        </button>)}
    </figure>);
}

const marks = {same: ' ', removed: '−', added: '+'};

function Lines({lines, show}: {lines: DiffLine[]; show: Show}) {
  const words = useMemo(() => changedWords(lines), [lines]);
  return (
    <>
      {lines.map(line => (
        <div key={`${line.before} ${line.after}`} class={`diff-line is-${line.kind}`}>
          <span class="diff-number" aria-hidden="true">{line.before || ''}</span>
          <span class="diff-number" aria-hidden="true">{line.after || ''}</span>
          <span class="diff-mark">{marks[line.kind]}</span>
          <span class="diff-text">
            {words.get(line)?.map(({text, isChanged}, at) => (isChanged ? <b key={at}>{show(text)}</b> : show(text))) ?? show(line.text || ' ')}
          </span>
        </div>))}
    </>);
}
