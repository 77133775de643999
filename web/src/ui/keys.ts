import {useLayoutEffect, useRef} from 'preact/hooks';
import {isTyping, singleKeys} from './shortcuts.ts';

type Press = (event: KeyboardEvent) => void;

// Those that listen, of whom any may act. One listener hears for all of them from the first one on,
// so that it has heard every key, whoever comes and goes meanwhile.
const listening = new Set<{current: Press}>();
let isHearing = false;
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
// that was given; it hears from the moment at which what it acts on is there.
export function useSingleKeys(press: Press): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    if (!isHearing) addEventListener('keydown', hear);
    isHearing = true;
    listening.add(latest);
    return () => { listening.delete(latest); };
  }, []);
}
