// Marks words in the rows that are there, without a change to them.

// Ranges at most.
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

// Where the words are first.
export const hitIn = (row: Element, words: RegExp): Range | null => hits(row, words).next().value ?? null;

// Until what it returns is called. `current` names the part that one stands at.
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
