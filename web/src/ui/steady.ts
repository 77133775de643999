import {type RefObject} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';

// Milliseconds that something must be visible at its place before it can be pressed. An earlier press was meant for
// what was there before.
export const steadyMs = 700;
const lookEveryMs = 100;

// Tracks since when something is unchanged.
export class Steady {
  private as: string | null = null;
  private since = 0;

  // `as` describes the content and its place; null if it is not visible. Returns whether it has been unchanged for long
  // enough.
  look(as: string | null, now: number): boolean {
    if (as !== this.as) {
      this.as = as;
      this.since = now;
    }
    return as !== null && now - this.since >= steadyMs;
  }
}

// The place of an element if it is visible there: in a visible tab, scrolled into view, and not covered.
function placeOf(element: Element | null | undefined): string | null {
  if (!element || document.visibilityState !== 'visible') return null;
  const {left, top, width, height} = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there && element.contains(there) ? [left, top, width, height].map(Math.round).join(' ') : null;
}

// Whether the element's content, described by `what`, is steady; and a function that checks it now. If `what` is empty,
// it must not be pressed at all.
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
