import type {RefObject} from 'preact';
import type {Part} from '../conversation/log.ts';
import {useSingleKeys} from '../ui/keys.ts';
import type {ListHandle} from '../ui/virtual_list.tsx';
import {canFold, type Folds} from './folds.ts';

// The keys for reading a conversation: move between parts and prompts, expand and collapse.
export function useFeedKeys(parts: readonly Part[], folds: Folds, list: RefObject<ListHandle | null>): void {
  useSingleKeys(event => {
    const handle = list.current;
    if (!handle || parts.length === 0) return;
    const at = handle.current();
    const isPart = event.target instanceof Element && event.target.matches('article');
    const key = isPart ? asLetter(event) : event.key;
    switch (key) {
      case 'j': handle.bring(at.isFocused ? Math.min(at.index + 1, parts.length - 1) : at.index, 'nearest', {isFocused: true}); break;
      case 'k': handle.bring(at.isFocused ? Math.max(at.index - 1, 0) : at.last, 'nearest', {isFocused: true}); break;
      case '[': case ']': {
        const from = at.isFocused ? at.index : key === '[' ? at.last + 1 : at.index - 1;
        const isPrompt = ({kind}: Part, index: number) => kind === 'prompt' && (key === '[' ? index < from : index > from);
        const to = key === '[' ? parts.findLastIndex(isPrompt) : parts.findIndex(isPrompt);
        if (to < 0 && key === ']') return;
        // Scrolling to the top triggers loading of older events.
        handle.bring(Math.max(to, 0), 'start', {isFocused: true});
        break;
      }
      case 'G': handle.toEnd(); break;
      case 'e': {
        const part = parts[at.isFocused ? at.index : at.last];
        if (!canFold(part)) return;
        folds.toggle(part);
        break;
      }
      case 'E': folds.toggleAll(); break;
      default: return;
    }
    event.preventDefault();
  });
}

// On a focused part, the arrow keys move to the next part if the part's edge is visible; otherwise they scroll.
function asLetter(event: KeyboardEvent): string {
  const part = event.target as Element;
  const feed = part.closest('[role="feed"]')?.getBoundingClientRect();
  const {top, bottom} = part.getBoundingClientRect();
  if (event.shiftKey || !feed) return event.key;
  switch (event.key) {
    case 'ArrowDown': return bottom <= feed.bottom ? 'j' : '';
    case 'ArrowUp': return top >= feed.top ? 'k' : '';
    case 'Enter': return 'e';
    default: return event.key;
  }
}
