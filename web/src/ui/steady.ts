import {type RefObject} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';

// Milliseconds that something is in sight where it is before it can be pressed. What is pressed sooner was
// meant for what was there before.
export const steadyMs = 700;
const lookEveryMs = 100;

// Since when something is as it is.
export class Steady {
  private as: string | null = null;
  private since = 0;

  // `as` is what is seen and where; null while it is not. Whether it has been so for long enough.
  look(as: string | null, now: number): boolean {
    if (as !== this.as) {
      this.as = as;
      this.since = now;
    }
    return as !== null && now - this.since >= steadyMs;
  }
}

// Where an element is, if it can be seen there: in a tab that is looked at, scrolled into sight, and with
// nothing over it.
function placeOf(element: Element | null | undefined): string | null {
  if (!element || document.visibilityState !== 'visible') return null;
  const {left, top, width, height} = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there && element.contains(there) ? [left, top, width, height].map(Math.round).join(' ') : null;
}

// Whether what the element shows, told by `what`, is steady; and a look at it just now. Empty: it is not
// to be pressed at all.
export function useSteady(element: RefObject<Element | null>, what: string): [boolean, () => boolean] {
  const [steady] = useState(() => new Steady());
  const [isSteady, setSteady] = useState(false);
  const latest = useRef(what);
  latest.current = what;
  const look = () => {
    const place = latest.current ? placeOf(element.current) : null;
    const is = steady.look(place && `${place} ${latest.current}`, performance.now());
    setSteady(is);
    return is;
  };
  useLayoutEffect(() => { look(); });
  useEffect(() => {
    const timer = setInterval(look, lookEveryMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return [isSteady, look];
}
