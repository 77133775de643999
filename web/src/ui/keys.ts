import {useLayoutEffect, useRef} from 'preact/hooks';
import {isTyping, singleKeys} from './shortcuts.ts';

type Press = (event: KeyboardEvent) => void;

// The active listeners. One event listener stays registered for all of them from the first one on, so that it sees
// every key, whichever listeners come and go.
const listening = new Set<{press: {current: Press}; after: '' | 'g'}>();
let isHearing = false;
let before = '';

// A letter after `g` selects a page, whatever else it does otherwise.
function hear(event: KeyboardEvent): void {
  const follows = before === 'g' ? 'g' : '';
  const isOff = event.defaultPrevented || isTyping(event) || !singleKeys.value;
  before = isOff ? '' : event.key;
  if (isOff) return;
  for (const {press, after} of [...listening]) if (after === follows) press.current(event);
}

// Calls `press` for single keys, unless the user is typing (see isTyping) or they are turned off. Uses the latest
// `press`, from the moment its component is mounted. With `after`, for the key that follows that one.
export function useSingleKeys(press: Press, after: '' | 'g' = ''): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    if (!isHearing) addEventListener('keydown', hear);
    isHearing = true;
    const mine = {press: latest, after};
    listening.add(mine);
    return () => { listening.delete(mine); };
  }, []);
}
