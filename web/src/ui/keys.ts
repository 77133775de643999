import {useEffect, useRef} from 'preact/hooks';
import {isTyping, singleKeys} from './shortcuts.ts';

type Press = (event: KeyboardEvent) => void;

// Those that listen, of whom any may act; one listener hears for all of them.
const listening = new Set<{current: Press}>();
let before = '';

// A letter after `g` names a page to go to, whatever else it does by itself.
function hear(event: KeyboardEvent): void {
  const isForPage = before === 'g';
  const isOff = event.defaultPrevented || isTyping(event) || !singleKeys.value;
  before = isOff ? '' : event.key;
  if (isOff || isForPage) return;
  for (const each of [...listening]) each.current(event);
}

// Hears keys while they are the page's, see isTyping, and are not switched off. `press` is the latest
// that was given.
export function useSingleKeys(press: Press): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    if (listening.size === 0) addEventListener('keydown', hear);
    listening.add(latest);
    return () => {
      listening.delete(latest);
      if (listening.size === 0) removeEventListener('keydown', hear);
    };
  }, []);
}
