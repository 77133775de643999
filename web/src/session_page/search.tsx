import type {RefObject} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {inSlices} from '../diff/slices.ts';
import type {Part} from '../conversation/log.ts';
import {find, type Found, indexIn, pattern, step} from '../conversation/search.ts';
import {useSingleKeys} from '../ui/keys.ts';
import type {ListHandle} from '../ui/virtual_list.tsx';
import {canFold} from './folds.ts';
import {highlight, hitIn} from './highlight.ts';
import type {SessionStore} from './store.ts';

// Milliseconds without a key press before the search starts.
const typingMs = 120;

// f or Ctrl+F starts a search; Ctrl+F during a search opens that of the browser.
export function useSearchKeys(store: SessionStore): void {
  useSingleKeys(event => {
    if (event.key !== 'f') return;
    event.preventDefault();
    store.isSearching.value = true;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'f' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (document.querySelector('dialog[open]') || store.isSearching.value) return;
      event.preventDefault();
      store.isSearching.value = true;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [store]);
}

// Searches the whole conversation, and loads its older events page by page for that: the browser's own search finds
// only visible rows.
export function Search({store, parts, list}: {store: SessionStore; parts: Part[]; list: RefObject<ListHandle | null>}) {
  const [words, setWords] = useState('');
  const [one, setOne] = useState<Found | null>(null);
  const found = useFound(parts, words);
  const latest = useRef(parts);
  latest.current = parts;
  const box = useRef<HTMLInputElement>(null);
  const typing = useRef(0);
  // The direction to move in as soon as something is found.
  const awaited = useRef<1 | -1 | 0>(0);
  const from = useRef<{focus: Element | null; key: string; top: number; isAtEnd: boolean} | null>(null);
  // Focuses the box before the next key press, which is the first letter of a word, not a shortcut.
  useLayoutEffect(() => {
    const handle = list.current;
    if (handle) from.current = {focus: document.activeElement, ...handle.place(), isAtEnd: handle.isAtEnd()};
    box.current?.focus();
    return () => clearTimeout(typing.current);
  }, []);
  const hasOlder = store.hasOlder.value;
  useEffect(() => {
    if (words && hasOlder && store.state.value === 'live') store.loadOlder();
  }, [words, hasOlder, parts, store.state.value]);
  useEffect(() => (words ? highlight(pattern(words), () => keyOf(latest.current, one)) : undefined), [words, one]);

  const change = (text: string) => {
    clearTimeout(typing.current);
    setWords(text);
    setOne(null);
  };
  const go = (by: 1 | -1) => {
    const text = box.current?.value.trim() ?? '';
    awaited.current = 0;
    // If Enter is faster than the search, moves once something is found.
    if (text !== words) change(text);
    if (text !== words || found.length === 0) {
      awaited.current = by;
      return;
    }
    const handle = list.current;
    const next = step(found, one, by, parts[handle?.current().index ?? 0]?.seq ?? 0);
    const at = parts.findIndex(({key}) => key === next?.key);
    if (!handle || at < 0) return;
    setOne(next);
    const part = parts[at]!;
    if (canFold(part)) store.folds.open(part);
    handle.bring(at, 'center', {pick: row => hitIn(row, pattern(words))});
  };
  useEffect(() => { if (awaited.current && found.length > 0) go(awaited.current); }, [found]);
  const close = (isBack: boolean) => {
    store.isSearching.value = false;
    const {focus, key, top, isAtEnd} = from.current ?? {focus: null, key: '', top: 0, isAtEnd: true};
    if (isBack && isAtEnd) list.current?.toEnd();
    else if (isBack) list.current?.bring(parts.findIndex(each => each.key === key), top);
    const back = focus instanceof HTMLElement && focus.isConnected && focus !== document.body ? focus
      : box.current?.closest('.feed')?.querySelector<HTMLElement>('[role="feed"]');
    back?.focus({preventScroll: true});
  };
  return (
    <form class="search" role="search" aria-label="Conversation" onSubmit={event => { event.preventDefault(); go(1); }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          close(true);
        } else if (event.key === 'Enter' && event.shiftKey) {
          event.preventDefault();
          go(-1);
        }
      }}>
      <input ref={box} type="search" aria-label="Search the conversation" placeholder="Search…" maxLength={500}
        onInput={({currentTarget}) => {
          awaited.current = 0;
          clearTimeout(typing.current);
          typing.current = window.setTimeout(() => change(currentTarget.value.trim()), typingMs);
        }} />
      <span class="hint" role="status">{words && told(store, found, one)}</span>
      <button type="button" class="quiet" aria-label="Previous" title="Previous (Shift+Enter)" disabled={found.length === 0} onClick={() => go(-1)}>↑</button>
      <button type="button" class="quiet" aria-label="Next" title="Next (Enter)" disabled={found.length === 0} onClick={() => go(1)}>↓</button>
      <button type="button" class="quiet" aria-label="Close search and stay here" title="Close and stay here (Escape: close and go back)" onClick={() => close(false)}>✕</button>
    </form>);
}

const keyOf = (parts: Part[], one: Found | null): string =>
  parts.find(({key, lastSeq}) => one && (key === one.key || lastSeq === one.lastSeq))?.key ?? '';

function told(store: SessionStore, found: Found[], one: Found | null): string {
  const at = indexIn(found, one);
  const count = found.length.toLocaleString('en');
  const hits = at < 0 ? `${count} found` : `${(at + 1).toLocaleString('en')} of ${count}`;
  if (!store.hasOlder.value && !store.log.hole) {
    return store.log.parts.some(({omitted}) => omitted) ? `${hits} (long outputs: beginning only)` : hits;
  }
  const {length} = store.log.events;
  const all = Math.max(length, store.session.value?.event_count ?? 0);
  return `${hits} in ${length.toLocaleString('en')} of ${all.toLocaleString('en')} events…`;
}

// The matches in the current parts. Runs one search at a time, so that parts that arrive during a search cause only one
// more.
function useFound(parts: Part[], words: string): Found[] {
  const [found, setFound] = useState<Found[]>([]);
  const latest = useRef(parts);
  latest.current = parts;
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    setFound([]);
    if (!words) return undefined;
    const abort = new AbortController();
    let searched: Part[] | null = null;
    let isBusy = false;
    again.current = () => {
      if (isBusy || searched === latest.current || abort.signal.aborted) return;
      isBusy = true;
      searched = latest.current;
      inSlices(find(searched, words), result => {
        isBusy = false;
        setFound(result);
        setTimeout(again.current, 0);
      }, abort.signal);
    };
    again.current();
    return () => abort.abort();
  }, [words]);
  useEffect(() => again.current(), [parts]);
  return found;
}
