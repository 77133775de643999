// Marks words in the rendered rows without changing the rows.

// Maximum number of ranges.
const most = 500;
const canMark = typeof CSS !== 'undefined' && 'highlights' in CSS;

function* hits(within: Element, words: RegExp): Generator<Range> {
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const {index, 0: {length}} of (node.nodeValue ?? '').matchAll(words)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + length);
      yield range;
    }
  }
}

// The first occurrence of the words.
export const hitIn = (row: Element, words: RegExp): Range | null => hits(row, words).next().value ?? null;

// Marks until the returned function is called. `current` returns the key of the current part.
export function highlight(words: RegExp, current: () => string): (() => void) | undefined {
  const feed = document.querySelector('.feed [role="feed"]');
  if (!canMark || !feed) return undefined;
  let frame = 0;
  const mark = () => {
    frame = 0;
    const found = new Highlight();
    const now = new Highlight();
    const key = current();
    let left = most;
    for (const row of feed.querySelectorAll<HTMLElement>('[data-key]')) {
      for (const range of hits(row, words)) {
        if (left-- === 0) break;
        (row.dataset.key === key ? now : found).add(range);
      }
    }
    CSS.highlights.set('found', found);
    CSS.highlights.set('found-now', now);
  };
  const soon = () => { frame ||= requestAnimationFrame(mark); };
  const changes = new MutationObserver(soon);
  changes.observe(feed, {childList: true, subtree: true, characterData: true});
  soon();
  return () => {
    changes.disconnect();
    cancelAnimationFrame(frame);
    CSS.highlights.delete('found');
    CSS.highlights.delete('found-now');
  };
}
