import {
  elementScroll, observeElementOffset, observeElementRect, Virtualizer,
} from '@tanstack/virtual-core';
import {type ComponentChildren, type RefObject} from 'preact';
import {useCallback, useLayoutEffect, useReducer, useRef} from 'preact/hooks';

export interface ListHandle {
  toEnd: () => void;
  // Scrolls to a row, no further than necessary unless `where` is given.
  bring: (index: number, where?: Where, more?: Bring) => void;
  isAtEnd: () => boolean;
  // The focused row, or else the first one that begins in view; and the last visible one.
  current: () => {index: number; last: number; isFocused: boolean};
  // The first visible row, and the position of its top: for returning to it.
  place: () => {key: string; top: number};
}
// The target position of a row: a number is pixels from the top of the list to the top of the row.
export type Where = 'nearest' | 'start' | 'center' | number;
export interface Bring {
  // Whether to focus the content of the row.
  isFocused?: boolean;
  // Some text in the row to scroll to the middle, also within scrolling elements in the row.
  pick?: (row: HTMLElement) => Range | null;
}

// Maximum frames until a row is in place: the rows around it are measured as they appear.
const maxFrames = 30;
// Frames without movement: content that opens in the row is measured a frame or two later.
const stillFrames = 4;

interface Props<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  row: (item: T, index: number) => ComponentChildren;
  handle: RefObject<ListHandle | null>;
  label: string;
  // Called when the first row becomes visible.
  onStart?: () => void;
  onAtEnd?: (isAtEnd: boolean) => void;
  // Called when the user goes to the very first row: resolves once it is loaded.
  onHome?: () => Promise<void>;
  busy?: boolean;
}

function toMiddle(text: Range, feed: Element): void {
  for (let box = text.startContainer.parentElement; box && feed.contains(box); box = box.parentElement) {
    const [wanted, seen] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
    if (box.scrollHeight > box.clientHeight) box.scrollTop += (wanted.top + wanted.bottom - seen.top - seen.bottom) / 2;
  }
}

const topIn = (feed: Element, row: Element) => row.getBoundingClientRect().top - feed.getBoundingClientRect().top;

// A list of rows of any height; only the visible ones are rendered. At its end, the list follows new rows; elsewhere
// the visible rows stay in place when rows are added before or after them.
export function VirtualList<T>(props: Props<T>) {
  const {items, keyOf, row, handle, label, busy} = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, show] = useReducer((count: number) => count + 1, 0);
  const virtual = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | null>(null);
  const latest = useRef(props);
  latest.current = props;

  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    getItemKey: (at: number) => {
      const item = items[at];
      return item === undefined ? at : keyOf(item);
    },
    overscan: 10,
    anchorTo: 'end' as const,
    followOnAppend: true,
    scrollEndThreshold: 40,
    observeElementRect, observeElementOffset, scrollToFn: elementScroll,
    onChange: (instance: Virtualizer<HTMLDivElement, HTMLDivElement>) => {
      show(0);
      const {onStart, onAtEnd} = latest.current;
      if (onStart && instance.getVirtualItems()[0]?.index === 0) onStart();
      onAtEnd?.(instance.isAtEnd(40));
    },
  };
  virtual.current ??= new Virtualizer<HTMLDivElement, HTMLDivElement>(options);
  const list = virtual.current;
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => { list._willUpdate(); });
  const wasEmpty = useRef(true);
  useLayoutEffect(() => {
    if (items.length > 0 && wasEmpty.current) list.scrollToEnd();
    wasEmpty.current = items.length === 0;
  }, [items.length === 0]);
  const bringing = useRef(0);
  const inSight = () => {
    const top = list.scrollOffset ?? 0;
    const bottom = top + (list.scrollRect?.height ?? 0);
    return list.getVirtualItems().filter(({start, end}) => end > top + 1 && start < bottom - 1);
  };
  const bring = (index: number, where: Where = 'nearest', {isFocused, pick}: Bring = {}) => {
    const item = latest.current.items[index];
    if (item === undefined) return;
    const key = keyOf(item);
    const mine = ++bringing.current;
    let before = NaN;
    let still = 0;
    const step = (left: number) => {
      const feed = scroller.current;
      if (mine !== bringing.current || left === 0 || !feed) return;
      // Rows may have been added before it.
      const at = latest.current.items.findIndex(each => keyOf(each) === key);
      const row = feed.querySelector<HTMLElement>(`[data-index="${at}"]`);
      if (row) {
        if (isFocused && !row.contains(document.activeElement)) {
          row.querySelector<HTMLElement>('[tabindex]')?.focus({preventScroll: true});
        }
        const text = pick?.(row);
        if (typeof where === 'number') feed.scrollTop += topIn(feed, row) - where;
        else if (text) toMiddle(text, feed);
        else row.scrollIntoView({block: where});
        const now = topIn(feed, row);
        still = Math.abs(now - before) < 1 ? still + 1 : 0;
        if (still === stillFrames) return;
        before = now;
      } else if (at >= 0) {
        list.scrollToIndex(at, {align: 'center'});
      }
      requestAnimationFrame(() => step(left - 1));
    };
    step(maxFrames);
  };
  // Rows below have an estimated height until they are visible: the end is known only once all are measured.
  const toEnd = () => {
    const mine = ++bringing.current;
    let before = -1;
    let still = 0;
    const step = (left: number) => {
      if (mine !== bringing.current || left === 0 || !scroller.current) return;
      list.scrollToEnd();
      const size = list.getTotalSize();
      still = size === before && list.isAtEnd(1) ? still + 1 : 0;
      before = size;
      if (still < stillFrames) requestAnimationFrame(() => step(left - 1));
    };
    step(maxFrames);
  };
  handle.current = {
    toEnd,
    bring,
    isAtEnd: () => list.isAtEnd(40),
    current: () => {
      const focused = document.activeElement?.closest<HTMLElement>('[data-index]');
      const seen = inSight();
      const last = seen.at(-1)?.index ?? items.length - 1;
      if (focused && scroller.current?.contains(focused)) return {index: Number(focused.dataset.index), last, isFocused: true};
      const first = seen.find(({start}) => start >= (list.scrollOffset ?? 0) - 1) ?? seen[0];
      return {index: first?.index ?? last, last, isFocused: false};
    },
    place: () => {
      const first = inSight()[0];
      return first ? {key: String(first.key), top: first.start - (list.scrollOffset ?? 0)} : {key: '', top: 0};
    },
  };
  const measure = useCallback((node: HTMLDivElement | null) => list.measureElement(node), [list]);
  const place = useCallback((start: number) => (node: HTMLDivElement | null) => {
    if (node) node.style.transform = `translateY(${start}px)`;
    measure(node);
  }, [measure]);

  const press = (event: KeyboardEvent) => {
    const {key, target, currentTarget} = event;
    const isPart = target instanceof Element && target.matches('article');
    if ((key !== 'Home' && key !== 'End') || event.ctrlKey || event.altKey || event.metaKey || (target !== currentTarget && !isPart)) return;
    event.preventDefault();
    // The part may be unmounted.
    scroller.current?.focus({preventScroll: true});
    if (key === 'End') return toEnd();
    const mine = ++bringing.current;
    // After the new rows are rendered, unless the user has moved elsewhere meanwhile.
    void Promise.resolve(props.onHome?.()).then(() => requestAnimationFrame(() => requestAnimationFrame(() => {
      if (mine === bringing.current) bring(0, 'start');
    })));
  };
  const stop = () => { bringing.current++; };

  return (
    <div class="virtual" ref={scroller} tabIndex={0} role="feed" aria-label={label} aria-busy={busy} onKeyDown={press}
      onWheel={stop} onTouchMove={stop}>
      <div class="virtual-space" ref={node => { if (node) node.style.height = `${list.getTotalSize()}px`; }}>
        {list.getVirtualItems().map(({index, key, start}) => {
          const item = items[index];
          return item === undefined ? null : (
            <div class="virtual-row" key={key} data-index={index} data-key={key} ref={place(start)}>
              {row(item, index)}
            </div>);
        })}
      </div>
    </div>);
}
